package servertest

import "golang.org/x/sys/unix"

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
	var st unix.Statfs_t
	if err := unix.Statfs(memory, &st); err != nil || uint64(st.Bavail)*uint64(st.Bsize) < leastMemory || unix.Access(memory, unix.W_OK) != nil {
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
