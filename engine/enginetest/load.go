package enginetest

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"filewise"
	"filewise/drive"
	"filewise/experiment"
)

// testLoad has so many connections at the same time work a little, as an
// experiment does. FILEWISE_LOAD names another number than the subject's.
func testLoad(t *testing.T, s Subject) {
	if s.Load == 0 {
		t.Skip("many connections are NOT tested: the subject asks for none")
	}
	connections := s.Load
	if text := os.Getenv("FILEWISE_LOAD"); text != "" {
		var err error
		connections, err = strconv.Atoi(text)
		fatal(t, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	fatal(t, experiment.FitsOpenFiles(connections))
	b := newBench(t, s)
	p := params()
	p.Connections = connections
	w := b.workload(p)
	db := b.build(b.layout(4), w)
	start := time.Now()
	sessions, err := experiment.Connect(ctx, db.Connector, 0, connections)
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	connected := time.Since(start)
	ops := make([]int64, connections)
	for i := range ops {
		ops[i] = 12
	}
	result, err := drive.Run(ctx, drive.Load{Sessions: sessions, Ops: ops, Chunk: db.Chunk, Multiple: int64(p.CommitEvery),
		Retry: w.Program().Retry, Seed: seed(t)})
	if err != nil {
		t.Errorf("%v, after failures %v", err, result.Measure.Errors)
	}
	start = time.Now()
	fatal(t, experiment.CloseAll(sessions))
	t.Logf("%d connections: opened in %v, %d operations in %v, closed in %v, failures %v", connections, connected.Round(time.Millisecond),
		result.Ledger.Total(), result.Measure.Window[1].Round(time.Millisecond), time.Since(start).Round(time.Millisecond), result.Measure.Errors)
	if want := int64(12 * connections); result.Ledger.Total() != want {
		t.Errorf("%d operations were committed, want %d", result.Ledger.Total(), want)
	}
	fatal(t, db.Settler.Settle(ctx))
	b.check(db, w, result.Ledger)
}
