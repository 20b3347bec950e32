package external

import (
	"testing"
	"time"

	"filewise"
	"filewise/lab/drive"
)

// Two processes work on one build, which one of them has made; the check covers both. What the
// other leaves open ends when it is dropped, and its sessions are not others'.
func testDrivers(t *testing.T, b bench) {
	b.Account(t, "driven", b.engine.Rights())
	ctx, target := deadline(t), b.Target("driven", filewise.Volume{Name: "a"})
	s, other := open(t, b, target), open(t, b, target)
	other.numbers = &numbers{} // as if it were another process
	fatal(t, other.db.Close())
	other.db = other.pool("", controlConnections)
	l, w := layout(filewise.KindPartitions, 2), inserts(t, nil)
	p := w.Program()
	db := buildOn(t, s, l, w)
	joined, leave, err := other.Join(ctx, l, p, db.Shared())
	fatal(t, err)
	defer leave()
	at, err := other.Now(ctx)
	fatal(t, err)
	if d := time.Since(at).Abs(); d > time.Minute {
		t.Errorf("the server's clock is %v from this host's, which is its own", d)
	}
	var parts []drive.Result
	for i, c := range []filewise.Connector{joined, db} {
		session, err := c.Connect(ctx, 0, i)
		fatal(t, err)
		res, err := drive.Run(ctx, drive.Load{Sessions: []filewise.Session{session}, First: i, Ops: []int64{1000 - 960*int64(i)}, Chunk: 20,
			Multiple: int64(p.First().CommitEvery)})
		fatal(t, err)
		parts = append(parts, res)
		fatal(t, session.Close())
		_, err = db.Observe(ctx) // the other has worked alone at first: files have grown
		fatal(t, err)
	}
	all, err := drive.Merge(parts, true)
	fatal(t, err)
	all.Ledger = append(all.Ledger, make(filewise.Ledger, p.Connections()-2)...)
	fatal(t, w.Check(ctx, db, 0, []filewise.Ledger{all.Ledger}))

	left, err := joined.Connect(ctx, 0, 1)
	fatal(t, err)
	done, err := left.Do(ctx, 40, 20)
	fatal(t, err)
	if !s.made(db.Shared()) || s.made("mysql") {
		t.Error("a driver's session is a stranger's")
	}
	fatal(t, db.Drop(ctx))
	if more, err := left.Do(ctx, 40+done, 20); err == nil || more != 0 {
		t.Errorf("after the drop a driver has committed %d: %v", more, err)
	}
	_ = left.Close()
	if _, _, err := other.Join(ctx, l, p, "mysql"); err == nil {
		t.Error("joined what Filewise has not made")
	}
}
