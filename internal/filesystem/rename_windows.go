package filesystem

// OthersMayRename would return who may replace what is on a path: Windows has no such user as root, for whom this
// matters.
func OthersMayRename(string) (dir, who string, err error) { return "", "", nil }
