package servertest

import (
	"os"

	"filewise/internal/filesystem"
)

// memory is a file system in memory; leastMemory, what it must have free.
const (
	memory      = "/dev/shm"
	leastMemory = 2 << 30
)

// Memory is a directory in memory for servers that take long to create, where there
// is room, else empty: what the storage does is not tested with them, and a new
// server syncs hundreds of times. It is not for MariaDB, which takes it for
// persistent memory, and maps its log there instead of writing it.
func Memory() string {
	if free, err := filesystem.Free(memory); err != nil || free < leastMemory {
		return ""
	}
	dir, err := os.MkdirTemp(memory, "filewise-")
	if err != nil || os.Remove(dir) != nil { // this user may not write there
		return ""
	}
	return memory
}

// Temp is where the product's servers are made: in memory, if they are slow; empty
// is the usual place.
func (p Product) Temp() string {
	if !p.Slow {
		return ""
	}
	return Memory()
}
