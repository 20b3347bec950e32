//go:build !linux

package postgres

func dropSegment(dir, dataDir string) {}
