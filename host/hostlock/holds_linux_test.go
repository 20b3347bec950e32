package hostlock

import (
	"os"
	"testing"
)

// The number that the kernel has for a peer may be another process's by now.
func TestHolds(t *testing.T) {
	setup(t)
	if Holds(os.Getpid()) == nil {
		t.Error("nobody holds it")
	}
	l := acquire(t, Holder{})
	if err := Holds(os.Getpid()); err != nil {
		t.Errorf("its holder: %v", err)
	}
	if Holds(os.Getppid()) == nil {
		t.Error("an innocent process is taken for the holder")
	}
	must(t, l.Release())
	if Holds(os.Getpid()) == nil {
		t.Error("it is released")
	}
}
