package sqlite

import (
	"context"
	"errors"
)

// statement executes an operation that is one statement, and a transaction by itself:
// on the file of its row's key, or, for queries over whole tables, on the first file with
// the others attached.
func (w *worker) statement(ctx context.Context, i int64) error {
	w.args = w.Phase.Args.Args(w.args[:0], w.Worker, i)
	at := w.fileOfKey()
	l, err := w.linked(at)
	if err != nil {
		return err
	}
	st, err := l.prepare("statement-"+w.Phase.Section, func() (string, error) {
		return w.d.sql.Statement("statement-"+w.Phase.Section, vars(w.d.program, w.d.shards[at].tables[0]))
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

// linked is the connection to a file, with the others attached for whole tables.
func (w *worker) linked(at int) (*link, error) {
	known := w.links[at] != nil
	l, err := w.link(at)
	if err == nil && !known && w.d.wholeTables() {
		err = w.d.attachOthers(l.conn)
	}
	return l, err
}

// fileOfKey is the file of the operation's row, which its key says.
func (w *worker) fileOfKey() int {
	if len(w.args) == 0 || w.d.wholeTables() { // all tables are seen from the first file
		return 0
	}
	key, _ := w.args[0].(int64)
	return int((key - 1) % int64(w.d.count))
}
