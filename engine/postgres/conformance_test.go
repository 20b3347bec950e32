package postgres

import (
	"context"
	"testing"

	"filewise"
	"filewise/engine/enginetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	need(t)
	conformance(t, "")
}

func TestConformance18(t *testing.T) {
	t.Parallel()
	conformance(t, need18(t))
}

// conformance runs the suite on a managed server. PostgreSQL ends itself when its
// WAL finds no space, so a full volume is a test of its own (TestFullVolume).
// What does not depend on the release is tried on one of them only.
func conformance(t *testing.T, bin string) {
	files, load := []int{1, 4, 16}, 600
	var tried []filewise.Capability
	var only []string
	if bin != "" { // backups are tried on both by TestBackups
		files, load, tried = []int{1, 4}, 0, []filewise.Capability{filewise.CanBackup, filewise.CanTemp}
		only = []string{"Trial", "CancelLeavesATrueLedger", "Layouts", "Statements", "Offers", "DML", "Scan", "Orders", "Custom", "AddedLater",
			"ConnectionLost"}
	}
	enginetest.Run(t, enginetest.Subject{
		Engine: Engine{}, Kind: filewise.KindPartitions, Bytes: 24 << 20, Files: files, Rows: 60, Only: only, Parallel: true,
		Sever: sever, Raw: rawConn, Load: load, Tried: tried,
		Package: "./engine/postgres", NoDiskFull: "PostgreSQL ends itself when its WAL finds no space: see TestFullVolume",
		Target: func(v []filewise.Volume) filewise.Target {
			return filewise.Target{Engine: "postgres", Mode: filewise.Managed, Volumes: v, Durability: filewise.DurabilityOff, ServerBin: bin}
		},
	})
}

// sever ends all of the workload's connections to a build on the server.
func sever(ctx context.Context, db *filewise.Database) error {
	return db.Build.(*build).link.Exec(ctx,
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND (query "+
			"LIKE 'CALL %' OR query LIKE 'COPY %')")
}
