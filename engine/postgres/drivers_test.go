package postgres

import (
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/lab/drive"
)

// driven: two processes work on one build, which one of them has made; the check covers both.
// What the other leaves open ends when it is dropped.
func driven(t *testing.T, f *usersServer) {
	ctx := deadline(t)
	s, other := f.open(t), f.open(t)
	other.link.Config.RuntimeParams["application_name"] = "filewise 11111111" // as another process is called
	other.link.Forget()
	layout, w := partitions(2, 1<<20), inserts(t, nil)
	p := w.Program()
	db, err := s.Build(ctx, layout, p)
	must(t, err)
	joined, leave, err := other.Join(ctx, layout, p, db.Shared())
	must(t, err)
	defer leave()
	at, err := other.Now(ctx)
	must(t, err)
	if d := time.Since(at).Abs(); d > time.Minute {
		t.Errorf("the server's clock is %v from this host's, which is its own", d)
	}
	var parts []drive.Result
	for i, c := range []filewise.Connector{db, joined} {
		session, err := c.Connect(ctx, 0, i)
		must(t, err)
		res, err := drive.Run(ctx, drive.Load{Sessions: []filewise.Session{session}, First: i, Ops: []int64{40}, Chunk: 20,
			Multiple: int64(p.First().CommitEvery)})
		must(t, err)
		parts = append(parts, res)
		must(t, session.Close())
	}
	all, err := drive.Merge(parts, true)
	must(t, err)
	all.Ledger = append(all.Ledger, make(filewise.Ledger, p.Connections()-2)...)
	must(t, w.Check(ctx, db, 0, []filewise.Ledger{all.Ledger}))

	left, err := joined.Connect(ctx, 0, 1)
	must(t, err)
	name, _, _ := strings.Cut(db.Shared(), " ")
	var n int
	const own = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND application_name = $2"
	must(t, s.link.Scan(ctx, own, []any{name, client.AppName()}, &n))
	if n == 0 {
		t.Error("a driver's session is a stranger's")
	}
	must(t, db.Drop(ctx))
	if done, err := left.Do(ctx, 40, 20); err == nil || done != 0 {
		t.Errorf("after the drop a driver has committed %d: %v", done, err)
	}
	_ = left.Close()
	if _, _, err := other.Join(ctx, layout, p, "postgres x"); err == nil {
		t.Error("joined what Filewise has not made")
	}
}
