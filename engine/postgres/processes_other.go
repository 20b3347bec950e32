//go:build !linux

package postgres

// endProcesses: without /proc, the server's processes are left to find out by
// themselves that the main one is gone.
func endProcesses(_, _ string) {}

func dropSegment(string) {}
