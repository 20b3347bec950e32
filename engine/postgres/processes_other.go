//go:build unix && !linux

package postgres

import "golang.org/x/sys/unix"

// endProcesses: without /proc, the server's processes are left to find out by
// themselves that the main one is gone.
func endProcesses(_, _ string) {}

func dropSegment(string) {}

func syncAround(string) error { unix.Sync(); return nil }
