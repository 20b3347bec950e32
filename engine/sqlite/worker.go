package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"filewise"
	"filewise/engine/internal/session"
)

// worker is one of the workload's connections. It has an SQLite connection to each file that it works on.
type worker struct {
	*session.Session
	d      *database
	counts counts

	mu    sync.Mutex // Drop closes what is still open
	open  bool
	links []*link // by the file's number; opened when needed
	args  []any
}

// Connect opens the connection of a worker for a phase of the program.
func (d *database) Connect(ctx context.Context, phase, number int) (filewise.Session, error) {
	machine, err := session.New(d.program, phase, number)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dropped {
		return nil, errors.New("the database was dropped")
	}
	d.worked.Store(true)
	w := &worker{Session: machine, d: d, open: true, links: make([]*link, d.count)}
	machine.Engine = session.Engine{
		Explain:   explain,
		Unchanged: func(error) bool { return true }, // a failed operation is rolled back, since SQLite runs in this process
	}
	var works filewise.Session = w
	switch {
	case d.program.Custom != nil:
		err = w.custom(filewise.Rehearses(ctx))
	case d.divided():
		machine.One, err = w.orders()
	case !d.program.Appends():
		machine.One = w.statement
	default:
		works, err = w.appender()
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	d.workers = append(d.workers, w)
	return works, nil
}

// link returns the worker's connection to file at.
func (w *worker) link(at int) (*link, error) {
	if l := w.links[at]; l != nil {
		return l, nil
	}
	c, err := w.d.openShard(w.d.shards[at])
	if err == nil {
		w.links[at] = newLink(c, &w.counts)
	}
	return w.links[at], err
}

// Do executes n operations and returns how many of them are committed.
func (w *worker) Do(ctx context.Context, first, n int64) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.open {
		return 0, errClosed
	}
	return w.Session.Do(ctx, first, n)
}

var errClosed = errors.New("the connection is closed")

// Close closes the connections. Closing again does nothing.
func (w *worker) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = false
	var errs []error
	for i, l := range w.links {
		if l != nil {
			errs = append(errs, l.close())
		}
		w.links[i] = nil
	}
	return errors.Join(errs...)
}

func (w *worker) isOpen() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

// statement executes an operation that consists of one statement, which is a transaction. It uses the file of the row's
// key. For queries over whole tables, it uses the first file with the others attached.
func (w *worker) statement(ctx context.Context, i int64) error {
	w.args = w.Phase.Args.Args(w.args[:0], w.Worker, i)
	at := w.fileOfKey()
	l, err := w.linked(at)
	if err != nil {
		return err
	}
	st, err := l.prepare("statement-"+w.Phase.Section, func() (string, error) {
		table := w.d.shards[at].tables[0]
		if w.d.wholeTables() {
			table = w.d.program.Tables[w.Worker%len(w.d.program.Tables)].Name
		}
		return w.d.sql.Statement("statement-"+w.Phase.Section, vars(w.d.program, table))
	})
	if err == nil {
		err = l.patiently(ctx, func() error { return l.each(st, nil, w.args) })
	}
	if w.Phase.PerStatement {
		w.links[at] = nil
		err = errors.Join(err, l.close())
	}
	return err
}

// linked returns the connection to a file. For whole tables the other files are attached.
func (w *worker) linked(at int) (*link, error) {
	known := w.links[at] != nil
	l, err := w.link(at)
	if err == nil && !known && w.d.wholeTables() {
		err = w.d.attachOthers(l.conn)
	}
	return l, err
}

// fileOfKey returns the file of the operation's row, which depends on the row's key.
func (w *worker) fileOfKey() int {
	if len(w.args) == 0 || w.d.wholeTables() { // all tables are seen from the first file
		return 0
	}
	key, _ := w.args[0].(int64)
	return int((key - 1) % int64(w.d.count))
}

// appender is a worker that inserts a row per operation, and commits several rows in a transaction.
type appender struct {
	*worker
	files []appended // the worker's files, which take transactions in turns
}

// appended is a file that takes rows.
type appended struct {
	*link
	insert driver.StmtExecContext
	done   *fileCounts
}

// appender opens only the worker's files.
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

// lookEvery is the number of rows that are inserted between two checks of the context.
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
