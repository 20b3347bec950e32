package managed

// stampOf is never asked: there are no private servers here.
func stampOf(string) (stamp, error) { return stamp{}, supported() }
