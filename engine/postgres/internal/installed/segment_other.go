//go:build !linux

package installed

// DropSegment does nothing here.
func DropSegment(dir, dataDir string) {}
