//go:build !unix

package experiment

// raiseOpenFiles: the system has no such limit.
func raiseOpenFiles() (limit uint64, known bool) { return 0, false }
