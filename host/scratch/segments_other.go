//go:build !linux

package scratch

func removeSegments(string) {}
