package probes

import (
	"testing"

	"filewise"
)

// Relation extension is distinguished from other locks, benign waits are left out, and the
// server's own processes are distinguished.
func TestWaitClasses(t *testing.T) {
	for _, c := range []struct {
		backend, kind, name string
		class               filewise.WaitClass
		background          bool
	}{
		{"client backend", "Lock", "extend", filewise.WaitAllocation, false},
		{"client backend", "Lock", "transactionid", filewise.WaitLock, false},
		{"client backend", "LWLock", "WALWrite", filewise.WaitLog, false},
		{"client backend", "LWLock", "BufferMapping", filewise.WaitLatch, false},
		{"client backend", "IO", "WalSync", filewise.WaitLog, false}, // 17 and later
		{"parallel worker", "IO", "DataFileRead", filewise.WaitDataRead, false},
		{"client backend", "IO", "DataFileExtend", filewise.WaitDataWrite, false},
		{"client backend", "IO", "BufFileWrite", filewise.WaitTemp, false},
		{"checkpointer", "IO", "DataFileSync", filewise.WaitDataWrite, true},
		{"client backend", "Timeout", "RegisterSyncRequest", filewise.WaitCheckpoint, false},
		{"client backend", "Extension", "Extension", filewise.WaitOther, false},
		{"client backend", "Client", "ClientRead", "", false},
		{"checkpointer", "Timeout", "CheckpointWriteDelay", "", false},
		{"walwriter", "Activity", "WalWriterMain", "", false},
	} {
		e, ok := eventOf(c.backend, c.kind, c.name)
		if ok != (c.class != "") || e.Class != c.class || e.Background != c.background {
			t.Errorf("%s %s/%s: %+v, counted: %v", c.backend, c.kind, c.name, e, ok)
		}
	}
}
