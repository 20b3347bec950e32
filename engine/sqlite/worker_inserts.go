package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"filewise"
)

// appender is a worker whose operations are rows, of which several are a transaction.
type appender struct {
	*worker
	files []appended // the files of the worker, which take its transactions in turns
}

// appended is a file that takes rows.
type appended struct {
	*link
	insert driver.StmtExecContext
	done   *fileCounts
}

// appender opens the files of the worker, and only these.
func (w *worker) appender() (filewise.Session, error) {
	a := &appender{worker: w}
	for _, i := range w.d.filesOf(w.Worker) {
		l, err := w.link(i)
		if err != nil {
			return nil, err
		}
		st, err := l.prepare("insert", func() (string, error) {
			return w.d.sql.Statement("insert", vars(w.d.program, tableName(w.d.perConnection, w.Worker)))
		})
		if err != nil {
			return nil, err
		}
		a.files = append(a.files, appended{l, st.(driver.StmtExecContext), w.d.countsOf(l.path)})
	}
	return a, nil
}

// Do inserts rows first … first+n−1 in transactions of CommitEvery rows. When
// the context ends, no further transaction begins and an open one is rolled back.
func (a *appender) Do(ctx context.Context, first, n int64) (done int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.open {
		return 0, errClosed
	}
	p := &a.Phase
	if first < 0 || n < 0 || p.Limit > 0 && n > p.Limit-first {
		return 0, filewise.Errorf(filewise.CodeUsage, "use fewer rows, or --key sequential",
			"rows %d to %d of connection %d: the workload has %d with unique keys", first, first+n-1, a.Worker, p.Limit)
	}
	for every := int64(p.CommitEvery); done < n; {
		at, rows := first+done, min(every, n-done)
		f := a.files[at/every%int64(len(a.files))]
		if err := a.transaction(ctx, f, at, rows); err != nil {
			if ctx.Err() == nil {
				err = fmt.Errorf("connection %d, rows %d to %d, %s: %w", a.Worker, at, at+rows-1, f.path, explain(err))
			}
			return done, err
		}
		done += rows
	}
	return done, nil
}

func (a *appender) transaction(ctx context.Context, f appended, first, n int64) error {
	if err := f.begin(ctx); err != nil {
		return err
	}
	err := a.insert(ctx, f, first, n)
	if err == nil {
		err = f.end(ctx, "commit")
	}
	if err != nil {
		return errors.Join(err, f.abandon())
	}
	a.counts.transactions.Add(1)
	a.counts.rows.Add(n)
	f.done.rows.Add(n)
	return nil
}

// lookEvery is the number of rows between two looks at the context.
const lookEvery = 256

func (a *appender) insert(ctx context.Context, f appended, first, n int64) error {
	for i := first; i < first+n; i++ {
		if (i-first)%lookEvery == lookEvery-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		a.args = a.Phase.Args.Args(a.args[:0], a.Worker, i)
		if _, err := f.insert.ExecContext(background, f.bind(a.args)); err != nil {
			return fmt.Errorf("inserting row %d: %w", i, err)
		}
	}
	return nil
}
