package dialect

import (
	"testing"

	"filewise"
)

func TestWaitClasses(t *testing.T) {
	for state, want := range map[string]filewise.WaitClass{
		"Commit": filewise.WaitLog, "waiting for handler commit": filewise.WaitLog, "Waiting for prior transaction to commit": filewise.WaitLog,
		"Waiting for table metadata lock": filewise.WaitLock, "Sending to client": filewise.WaitNetwork,
		"Waiting for work from SQL thread": filewise.WaitOther, "Update": "", "": "",
	} {
		if got := classOfState(state); got != want {
			t.Errorf("state %q is %q, want %q", state, got, want)
		}
	}
	for name, want := range map[string]filewise.WaitClass{
		"wait/synch/rwlock/innodb/fil_space_latch": filewise.WaitAllocation, "wait/synch/sxlock/innodb/fil_space_latch": filewise.WaitAllocation,
		"wait/io/file/innodb/innodb_log_file": filewise.WaitLog, "wait/io/file/sql/binlog": filewise.WaitLog,
		"wait/io/file/innodb/innodb_temp_file": filewise.WaitTemp, "wait/lock/table/sql/handler": filewise.WaitLock,
		"wait/synch/mutex/innodb/buf_pool_mutex": filewise.WaitLatch, "wait/synch/cond/sql/COND_x": "", "idle": "",
		"wait/io/table/sql/handler": "",
	} {
		if got := classOfInstrument(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
