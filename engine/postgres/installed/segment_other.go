//go:build !linux

package installed

// DropSegment does nothing on this system.
func DropSegment(dir, dataDir string) {}
