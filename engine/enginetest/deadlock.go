package enginetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"filewise"
	"filewise/drive"
)

// testDeadlocks has two connections change two rows in opposite order. The real
// server chooses a victim; the adapter must tell what that failure is, and the
// driver tries it again until all is done.
func testDeadlocks(t *testing.T, s Subject) {
	if s.Raw == nil {
		if s.NoRaw == "" {
			t.Fatal("the subject neither opens raw connections nor says why not")
		}
		t.Skip("deadlocks are NOT tested: " + s.NoRaw)
	}
	const each = 2
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	b := newBench(t, s)
	db := b.build(b.layout(1), b.workload(params()))
	var raw [3]Raw
	for i := range raw {
		var err error
		raw[i], err = s.Raw(ctx, db)
		fatal(t, err)
		defer func() { fatal(t, raw[i].Close()) }()
	}
	fatal(t, raw[2].Exec(ctx, "CREATE TABLE fw_cross (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL)"))
	// A database that holds what Filewise has not made is not dropped.
	defer func() { fatal(t, raw[2].Exec(ctx, "DROP TABLE fw_cross")) }()
	for id := range 2 {
		fatal(t, raw[2].Exec(ctx, fmt.Sprintf("INSERT INTO fw_cross (id, n) VALUES (%d, 0)", id)))
	}
	met := make(chan struct{})
	result, err := drive.Run(ctx, drive.Load{
		Sessions: []filewise.Session{&crosser{raw[0], 0, met}, &crosser{raw[1], 1, met}},
		Ops:      []int64{each, each}, Chunk: 1, Retry: []filewise.Class{filewise.ClassDeadlock}, Seed: seed(t),
	})
	fatal(t, err)
	if result.Ledger.Total() != 2*each || result.Measure.Errors[filewise.ClassDeadlock] == 0 || len(result.Measure.Errors) != 1 {
		t.Errorf("%v operations were committed, with failures %v", result.Ledger, result.Measure.Errors)
	}
	for id := range 2 {
		n, err := raw[2].Number(ctx, fmt.Sprintf("SELECT n FROM fw_cross WHERE id = %d", id))
		fatal(t, err)
		if n != 2*each {
			t.Errorf("row %d was changed %d times by %d committed operations", id, n, 2*each)
		}
	}
}

// crosser is a session whose operation changes its own row, waits until the other
// one has changed its, and then changes that one too.
type crosser struct {
	raw Raw
	own int
	met chan struct{}
}

// Do executes operations until one fails.
func (c *crosser) Do(ctx context.Context, _, n int64) (done int64, err error) {
	for ; done < n; done++ {
		if err := c.cross(ctx); err != nil {
			return done, errors.Join(err, c.raw.Exec(ctx, "ROLLBACK"))
		}
	}
	return done, nil
}

func (c *crosser) cross(ctx context.Context) error {
	add := func(id int) error {
		return c.raw.Exec(ctx, fmt.Sprintf("UPDATE fw_cross SET n = n + 1 WHERE id = %d", id))
	}
	if err := c.raw.Exec(ctx, "START TRANSACTION"); err != nil {
		return err
	}
	if err := add(c.own); err != nil {
		return err
	}
	select { // the other one may be done already
	case c.met <- struct{}{}:
	case <-c.met:
	case <-time.After(time.Second):
	}
	if err := add(1 - c.own); err != nil {
		return err
	}
	return c.raw.Exec(ctx, "COMMIT")
}

func (c *crosser) Close() error { return nil }
