package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// orderer executes transactions of orders on the file of their warehouse, or on a borrowed connection to all files.
type orderer struct {
	*worker
	home    *link
	file    int
	sideDDL []string // statements that create and drop a table, with tableNumber in the place of its number
}

// numberStand is the placeholder for the number of a table that is created and dropped.
const numberStand = "NUMBER"

func (w *worker) orders() (func(ctx context.Context, i int64) error, error) {
	warehouses := w.d.program.Table().Rows
	o := &orderer{worker: w, file: w.d.fileOfWarehouse(int64(w.Worker)%max(warehouses, 1) + 1)}
	w.Noun = "transaction"
	var err error
	if w.d.program.Churns() {
		if o.sideDDL, err = w.d.sql.Statements("churn", churnVars(numberStand)); err != nil {
			return nil, err
		}
	}
	o.home, err = w.link(o.file)
	return o.transaction, err
}

// transaction executes one transaction, and before it creates and drops a table if the workload does that.
func (o *orderer) transaction(ctx context.Context, i int64) error {
	if err := o.createAndDropTable(ctx); err != nil {
		return fmt.Errorf("churn: %w", err)
	}
	kind := o.Phase.Sections[o.Type(i)]
	o.args = o.Phase.Args.Args(o.args[:0], o.Worker, i)
	t, err := readTransaction(kind, o.args)
	if err != nil {
		return err
	}
	rolledBack, err := o.run(ctx, t)
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	o.counts.transactions.Add(1)
	if !rolledBack && kind == kindNewOrder {
		o.counts.rows.Add(int64(len(t.lines)) + 2)
	}
	return nil
}

// run executes a transaction on the connection that it needs.
func (o *orderer) run(ctx context.Context, t *orderTransaction) (rolledBack bool, err error) {
	files := t.files(o.d.shape, o.file)
	x := &tx{link: o.home, s: o.d.shape}
	if len(files) > 1 {
		if x.link, err = o.d.attached.take(ctx, o.d.shape); err != nil {
			return false, err
		}
		defer o.d.attached.give(x.link)
		x.attached, x.counts = true, &o.counts
	}
	if err = o.begin(ctx, x, t.reads(), files); err == nil {
		rolledBack, err = t.execute(x)
	}
	if err == nil {
		how := "commit"
		if rolledBack {
			how = "rollback"
		}
		err = x.end(ctx, how)
	}
	if err != nil {
		return false, errors.Join(err, x.abandon())
	}
	return rolledBack, nil
}

// begin begins a transaction and takes the write locks of all files that it needs. It takes them in the order of the
// files, so that no two transactions wait for each other.
func (o *orderer) begin(ctx context.Context, x *tx, reads bool, files []int) error {
	switch {
	case reads:
		return x.control("begin-read")
	case len(files) == 1:
		return x.link.begin(ctx)
	}
	return x.locked(func() error {
		if err := x.control("begin-read"); err != nil {
			return err
		}
		for _, f := range files {
			if err := x.patiently(ctx, func() error { return x.section(orderKey{"lock", f}, nil) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// createAndDropTable creates, fills and drops a table with a new number, if the workload needs that.
func (o *orderer) createAndDropTable(ctx context.Context) error {
	if o.sideDDL == nil {
		return nil
	}
	number := strconv.FormatInt(o.d.created.Add(1), 10)
	for _, st := range o.sideDDL {
		text := strings.ReplaceAll(st, numberStand, number)
		err := o.home.patiently(ctx, func() error {
			_, err := o.home.ExecContext(background, text, nil)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// orderKey identifies a statement of orders on a file.
type orderKey struct {
	section string
	file    int // onlyFile, or the number of an attached file
}

// onlyFile is the number of the file of a connection that has only one.
const onlyFile = -1

// tx is a transaction's connection. After its first error it executes nothing more and returns empty rows.
type tx struct {
	*link
	s        *shape
	attached bool // files are attached; else there is only one
	err      error
}

// section executes a section of orders and calls visit for its rows.
func (x *tx) section(k orderKey, visit func([]driver.Value) error, args ...any) error {
	st, err := x.prepare(k, func() (string, error) {
		schema := ""
		if k.file != onlyFile {
			schema = attachedName(k.file) + "."
		}
		return x.s.sql.Statement(k.section, orderVars(x.s.program, schema))
	})
	if err == nil {
		err = x.each(st, visit, args)
	}
	if err != nil {
		return fmt.Errorf("%s, %s: %w", x.path, k.section, err)
	}
	return nil
}

// key returns the key of a section on a warehouse's file.
func (x *tx) key(section string, warehouse int64) orderKey {
	if !x.attached {
		return orderKey{section, onlyFile}
	}
	return orderKey{section, x.s.fileOfWarehouse(warehouse)}
}

// exec executes a section on a warehouse's file.
func (x *tx) exec(section string, warehouse int64, args ...any) {
	if x.err == nil {
		x.err = x.section(x.key(section, warehouse), nil, args...)
	}
}

// first returns the first row of a section's result, or nil if there is none.
func (x *tx) first(section string, warehouse int64, args ...any) (row []driver.Value) {
	if x.err == nil {
		x.err = x.section(x.key(section, warehouse), func(v []driver.Value) error {
			if row == nil {
				row = append(row, v...)
			}
			return nil
		}, args...)
	}
	return row
}

// noRow is the row that is returned after an error. It has more columns than any real row.
var noRow = make([]driver.Value, 8)

// row returns the first row of a result. It is an error if there is none.
func (x *tx) row(section string, warehouse int64, args ...any) []driver.Value {
	row := x.first(section, warehouse, args...)
	if x.err == nil && row == nil {
		x.err = fmt.Errorf("%s of %v: there is none", section, args)
	}
	if x.err != nil {
		return noRow
	}
	return row
}

// number returns the whole number in the first column of the first row.
func (x *tx) number(section string, warehouse int64, args ...any) int64 {
	row := x.row(section, warehouse, args...)
	n, ok := row[0].(int64)
	if !ok && x.err == nil {
		x.err = fmt.Errorf("%s of %v: %v is not a whole number", section, args, row[0])
	}
	return n
}
