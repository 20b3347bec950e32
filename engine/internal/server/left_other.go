//go:build !linux

package server

// EndProcesses does nothing without /proc. The server's processes must notice themselves that the main one is gone.
func EndProcesses(_, _ string) {}
