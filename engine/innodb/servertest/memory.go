package servertest

import (
	"os"

	"filewise/internal/filesystem"
)

// inMemory in the environment is a file system in memory that scripts/test mounts, for
// every product: MariaDB takes sharedMemory for persistent memory, and maps its log
// there instead of writing it. leastMemory is what must be free.
const (
	inMemory     = "FILEWISE_TEST_MEMORY"
	sharedMemory = "/dev/shm"
	leastMemory  = 2 << 30
)

// Temp is a directory in memory for the product's servers, where there is one with room,
// else empty: what the storage does is not tested with them, and a server that starts
// syncs hundreds of times.
func (p Product) Temp() string {
	memory := os.Getenv(inMemory)
	if memory == "" && p.Slow {
		memory = sharedMemory
	}
	if free, err := filesystem.Free(memory); err != nil || free < leastMemory {
		return ""
	}
	dir, err := os.MkdirTemp(memory, "filewise-")
	if err != nil || os.Remove(dir) != nil { // this user may not write there
		return ""
	}
	return memory
}
