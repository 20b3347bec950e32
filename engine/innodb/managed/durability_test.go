//go:build linux

package managed_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// logRoom checks the space reserved for the binary log of so many commits.
func logRoom(t *testing.T, ctx context.Context, db *filewise.Database, commits int64) {
	t.Helper()
	in := look(t, db)
	room := in.BinlogRoom(commits)
	var bytes int64
	files, err := db.Observe(ctx)
	for _, f := range files {
		if f.Role == filewise.RoleLog && strings.Contains(f.Path, "fw-bin") {
			bytes += f.Bytes
		}
	}
	t.Logf("%d bytes of binary log for %d commits, room for %d", bytes, commits, room)
	if err != nil || bytes > room || (bytes > 0) != in.Binlog {
		t.Errorf("%d bytes of binary log, room for %d: %v", bytes, room, err)
	}
}

// With durability full every commit waits for the storage: at most one of each
// connection can be in one write of the log. Without, they need not.
func testCommitsWait(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	for _, durability := range []filewise.Durability{filewise.DurabilityFull, filewise.DurabilityOff} {
		s := sub.open(t, ctx, sub.onStorage(t, durability))
		for _, connections := range []int{1, 4, 16} {
			if sub.Slow && connections == 4 {
				continue
			}
			t.Run(fmt.Sprintf("%s with %d", durability, connections), func(t *testing.T) {
				w := inserts(t, func(p *workload.Params) { p.Connections = connections })
				db := build(t, ctx, s, systemLayout(2, 48<<20), w)
				if err := db.Settle(ctx); err != nil {
					t.Fatal(err)
				}
				before := readCounters(t, ctx, db)
				commits := float64(work(t, ctx, db, w, 0, int64(3200/connections)).Total())
				after := readCounters(t, ctx, db)
				moved := func(name string) float64 { return after[name] - before[name] }
				perWrite := commits / max(moved("Innodb_log_writes"), 1)
				t.Logf("%.0f commits, %.0f log writes (%.1f each), %.0f binary log groups (%.1f each), %.0f log syncs",
					commits, moved("Innodb_log_writes"), perWrite, moved(sub.Groups), commits/max(moved(sub.Groups), 1), moved("Innodb_os_log_fsyncs"))
				switch durability {
				case filewise.DurabilityFull:
					if perWrite > float64(connections) {
						t.Errorf("%.1f commits a log write: %d connections did not wait", perWrite, connections)
					}
					if groups := moved(sub.Groups); sub.Groups != "" &&
						(groups == 0 || moved(sub.Transactions) != commits || commits/groups > float64(connections)) {
						t.Errorf("%.0f commits in the binary log in %.0f groups, want %.0f by %d connections", moved(sub.Transactions), groups, commits,
							connections)
					}
				case filewise.DurabilityOff:
					if perSync := commits / max(moved("Innodb_os_log_fsyncs"), 1); perSync <= float64(connections) {
						t.Errorf("%.1f commits a sync of the log, though nobody waits", perSync)
					}
				}
				logRoom(t, ctx, db, int64(commits))
				if err := db.Drop(ctx); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
