package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/script"
)

// divided reports whether rows of one value belong together: value v lies in file
// (v − 1) mod files, and transactions can be of several files, which the SQL locks
// one after the other.
func (s *shape) divided() bool { return s.program.Sharding != nil }

// everywhere reports whether every file holds the whole table.
func (s *shape) everywhere(table string) bool {
	return slices.ContainsFunc(s.program.Tables, func(t filewise.Table) bool { return t.Name == table && t.Replicated })
}

// orderVars returns the variables of a statement on a file with that prefix.
func orderVars(p filewise.Program, db string) map[string]any {
	v := p.Vars()
	v["Db"] = db
	return v
}

func churnVars(number string) map[string]any {
	return map[string]any{"Number": number, "Content": strings.Repeat("x", 1000)}
}

// supportedOrders refuses layouts that scenario orders does not support.
func supportedOrders(l filewise.Layout, p filewise.Program) error {
	by := p.Sharding
	if by == nil {
		return nil
	}
	if l.Data.Files > mostAttached {
		return unsupported(fmt.Sprintf("choose 1 to %d files", min(mostAttached, by.Values)),
			"%d files of orders: a payment or an order may be of two warehouses, and SQLite works on %d files in one transaction",
			l.Data.Files, mostAttached)
	}
	return by.Fits(l.Data.Files, "file")
}

// ordersWarnings are true of every layout of orders with several files.
func (s *shape) ordersWarnings() []filewise.Warning {
	if !s.divided() || s.count == 1 {
		return nil
	}
	return []filewise.Warning{{
		Code: "sqlite-not-atomic",
		Message: "In a crash a transaction on warehouses of several files may be kept in one and lost in another: SQLite has no commit " +
			"over several WALs.",
		Remedy: "Do not take such a layout for data whose transactions must survive a crash whole.",
	}}
}

// fileOfWarehouse returns the number of its file, from 0.
func (s *shape) fileOfWarehouse(w int64) int { return int((w - 1) % int64(s.count)) }

// filesOfBatch returns the files that a batch is loaded into: its warehouse's,
// or for items all. Batches of a table are in the order of warehouses.
func (d *database) filesOfBatch(t filewise.TableData, batch int64) ([]int, error) {
	if !d.divided() {
		at := slices.IndexFunc(d.shards, func(s shard) bool { return slices.Contains(s.tables, t.Table) })
		if at < 0 {
			return nil, fmt.Errorf("no file has table %s", t.Table)
		}
		return []int{at}, nil
	}
	if d.everywhere(t.Table) {
		all := make([]int, d.count)
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	warehouses := d.program.Sharding.Values
	if warehouses < 1 || t.Batches%warehouses != 0 || batch < 0 || batch >= t.Batches {
		return nil, fmt.Errorf("batch %d of %d of table %s, with %d warehouses", batch, t.Batches, t.Table, warehouses)
	}
	return []int{d.fileOfWarehouse(batch/(t.Batches/warehouses) + 1)}, nil
}

// queryAll runs a section on views that join the tables of all files under the tables' names. Items are the same in every
// file, so their view reads one file.
func (d *database) queryAll(ctx context.Context, section string) (_ [][]any, err error) {
	statements, err := d.sql.Statements(section, vars(d.program, ""))
	if err != nil {
		return nil, err
	}
	c, err := d.openAll()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, t := range d.program.Tables {
		if err := c.exec(ctx, d.viewOf(t)); err != nil {
			return nil, err
		}
	}
	var all [][]any
	for _, st := range statements {
		rows, err := c.query(ctx, st)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// viewOf returns the view of a table over all files.
func (s *shape) viewOf(t filewise.Table) string {
	var parts []string
	for i := range s.count {
		parts = append(parts, "SELECT * FROM "+attachedName(i)+"."+ident(t.Name))
		if t.Replicated {
			break
		}
	}
	return "CREATE TEMP VIEW " + ident(t.Name) + " AS " + strings.Join(parts, " UNION ALL ")
}

// ordersSteps returns the statements of the transactions on file i.
func (s *shape) ordersSteps(i int) (script.Steps, error) {
	l := s.lister(filewise.StageMeasure, i)
	for _, p := range s.program.Phases {
		l.note(fmt.Sprintf("%s: %d connections; each transaction begins with BEGIN IMMEDIATE (BEGIN where it only reads) and ends with COMMIT",
			p.Operation, p.Connections))
	}
	for _, section := range s.sql.Sections() {
		for _, kind := range append([]string{"customer-by-name"}, orderKinds...) {
			if section == kind || strings.HasPrefix(section, kind+"-") {
				l.addAll(s.sql.Statements(section, orderVars(s.program, "")))
			}
		}
	}
	if s.program.Churns() {
		l.note("before each transaction, with a separate number")
		l.addAll(s.sql.Statements("churn", churnVars("1")))
	}
	if s.count > 1 {
		l.note("transactions on warehouses of other files have these attached, and lock them in the order of files")
		l.addAll(s.sql.Statements("lock", orderVars(s.program, attachedName(i)+".")))
	}
	return l.Steps()
}

// ordersChecks returns its checks, on views over all files.
func (s *shape) ordersChecks(i int) (script.Steps, error) {
	if i > 0 {
		return nil, nil
	}
	l := s.lister(filewise.StageCheck, i)
	l.on = "all files"
	for _, t := range s.program.Tables {
		l.add(s.viewOf(t))
	}
	for _, section := range s.sql.Sections() {
		if section == "totals" || strings.HasPrefix(section, "check-") {
			l.addAll(s.sql.Statements(section, vars(s.program, "")))
		}
	}
	return l.Steps()
}
