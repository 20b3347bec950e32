package server

import (
	"os"
	"strings"
	"testing"
)

// System V shared memory of a server goes with it, though a kill leaves it no time to
// remove any; so the kernel has to keep it apart.
func TestSharedMemoryGoesWithTheServer(t *testing.T) {
	if !apart() {
		t.Skip("no namespace is permitted here: PostgreSQL's own segment is removed when it has started")
	}
	created := shell(t, "ipcmk --shmem 4242 && sleep 60", nil)
	await(t, "the segment", func() bool {
		log, err := os.ReadFile(created.spec.Log)
		return err == nil && strings.Contains(string(log), "id")
	})
	created.Kill()
	left, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil || strings.Contains(string(left), " 4242 ") {
		t.Errorf("the segment is left: %v\n%s", err, left)
	}
}
