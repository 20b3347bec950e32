//go:build !unix

package sqlite

// openFilesLimit is not known here.
func openFilesLimit() (limit uint64, known bool, err error) { return 0, false, nil }
