package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"filewise"
)

// ordersWorkload is the workload whose warehouses are spread over the files:
// warehouse w lies in file (w − 1) mod files. Items are in every file.
const (
	ordersWorkload = "orders"
	ordersItems    = "item"
	// mostAttached is what SQLite is compiled with (SQLITE_MAX_ATTACHED).
	mostAttached = 10
	// mostRemotes is how many connections at most have all files attached: each of
	// them has as many files open as the layout has, three times.
	mostRemotes = 16
)

// ordersTables are those of its checks, which see the tables of all files as one.
var ordersTables = []string{"warehouse", "district", "customer", "history", "new_order", "orders", "order_line", ordersItems, "stock"}

// ordersState is what a build of orders has besides its files.
type ordersState struct {
	churned atomic.Int64
	mu      sync.Mutex
	all     []*orderConn // with all files attached
	free    []*orderConn
	places  chan struct{} // as many as there may be connections in use
}

// supportedOrders refuses layouts that orders cannot have.
func supportedOrders(l filewise.Layout, p filewise.Program) error {
	if p.Workload != ordersWorkload {
		return nil
	}
	warehouses, _ := p.Vars["Warehouses"].(int64)
	refuse := func(most int64, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("choose 1 to %d files", most), "%s: %w", fmt.Sprintf(format, args...), filewise.ErrUnsupported)
	}
	switch files := int64(l.Data.Files); {
	case files > mostAttached:
		return refuse(min(mostAttached, warehouses), "%d files of orders: a payment or an order may be of two warehouses, and SQLite works on %d files in one transaction",
			files, mostAttached)
	case files > warehouses:
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("use --warehouses %d, or at most %s", files, filewise.FilesName(int(warehouses))),
			"%s for --warehouses %d: a warehouse lies whole in one file, so that the others would be empty: %w", filewise.FilesName(l.Data.Files), warehouses, filewise.ErrUnsupported)
	}
	return nil
}

// ordersWarnings are true of every layout of orders with several files.
func (s *shape) ordersWarnings() []filewise.Warning {
	if s.program.Workload != ordersWorkload || s.count == 1 {
		return nil
	}
	return []filewise.Warning{{
		Code: "sqlite-not-atomic",
		Message: "A transaction on warehouses of several files is not atomic in a crash: each file keeps or loses its part, for SQLite has no commit over several WALs. " +
			"Without a crash it is.",
		Remedy: "Do not take such a layout for data whose transactions must survive a crash whole.",
	}}
}

// fileOfWarehouse is the number of its file, from 0.
func (s *shape) fileOfWarehouse(w int64) int { return int((w - 1) % int64(s.count)) }

// filesOfBatch are the files that a batch is loaded into: that of its warehouse,
// or for items all. Batches of a table are in the order of warehouses.
func (d *database) filesOfBatch(t filewise.TableData, batch int64) ([]int, error) {
	if d.program.Workload != ordersWorkload {
		at := slices.IndexFunc(d.shards, func(s shard) bool { return slices.Contains(s.tables, t.Table) })
		if at < 0 {
			return nil, fmt.Errorf("no file has table %s", t.Table)
		}
		return []int{at}, nil
	}
	if t.Table == ordersItems {
		all := make([]int, d.count)
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	warehouses, _ := d.program.Vars["Warehouses"].(int64)
	if warehouses < 1 || t.Batches%warehouses != 0 || batch < 0 || batch >= t.Batches {
		return nil, fmt.Errorf("batch %d of %d of table %s, with %d warehouses", batch, t.Batches, t.Table, warehouses)
	}
	return []int{d.fileOfWarehouse(batch/(t.Batches/warehouses) + 1)}, nil
}

// attachedName is the schema under which file i is attached.
func attachedName(i int) string { return fmt.Sprintf("fw_%04d", i+1) }

// connectAll opens a connection to no file of its own, with all files attached:
// its transactions lock those alone that they touch.
func (s *shape) connectAll() (*conn, error) {
	raw, err := workers.Open("file::memory:?mode=memory")
	if err != nil {
		return nil, fmt.Errorf("opening a connection for all files: %w", err)
	}
	c := &conn{raw, "all files"}
	if err := s.attachAll(c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (s *shape) attachAll(c *conn) error {
	for i, sh := range s.shards {
		name := attachedName(i)
		if err := c.attach(sh.path, name); err != nil {
			return err
		}
		settings := append([]string{"synchronous = " + s.synchronous}, s.settings...)
		for _, set := range settings {
			if _, err := c.query(background, "PRAGMA "+name+"."+set); err != nil {
				return err
			}
		}
		if sh.chunk == 0 {
			continue
		}
		if err := c.setChunk(name, sh); err != nil {
			return err
		}
	}
	for _, set := range []string{fmt.Sprintf("busy_timeout = %d", busyMillis), fmt.Sprintf("wal_autocheckpoint = %d", s.autoCheckpoint)} {
		if _, err := c.query(background, "PRAGMA "+set); err != nil {
			return err
		}
	}
	return nil
}

// takeRemote borrows a connection to all files, waiting until one may be had.
func (d *database) takeRemote(ctx context.Context) (*orderConn, error) {
	o := &d.orders
	o.mu.Lock()
	if o.places == nil {
		o.places = make(chan struct{}, mostRemotes)
	}
	places := o.places
	o.mu.Unlock()
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.free); n > 0 {
		c := o.free[n-1]
		o.free = o.free[:n-1]
		return c, nil
	}
	c, err := d.connectAll()
	if err != nil {
		<-places
		return nil, err
	}
	one := newOrderConn(d.shape, c)
	o.all = append(o.all, one)
	return one, nil
}

func (d *database) giveRemote(c *orderConn) {
	d.orders.mu.Lock()
	d.orders.free = append(d.orders.free, c)
	d.orders.mu.Unlock()
	<-d.orders.places
}

// closeRemotes closes the connections to all files; none may be in use.
func (d *database) closeRemotes() error {
	d.orders.mu.Lock()
	defer d.orders.mu.Unlock()
	var errs []error
	for _, c := range d.orders.all {
		errs = append(errs, c.close())
	}
	d.orders.all, d.orders.free = nil, nil
	return errors.Join(errs...)
}

// queryOrders runs a section on the tables of all files as one: views of the
// same names. Items are the same in every file and stand there once.
func (d *database) queryOrders(ctx context.Context, section string) (_ [][]any, err error) {
	statements, err := d.sql.Statements(section, vars(d.program, ""))
	if err != nil {
		return nil, err
	}
	c, err := d.connectAll()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, table := range ordersTables {
		if err := c.exec(ctx, d.viewOf(table)); err != nil {
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

// viewOf is the view of a table over all files.
func (s *shape) viewOf(table string) string {
	var parts []string
	for i := range s.count {
		parts = append(parts, "SELECT * FROM "+attachedName(i)+"."+ident(table))
		if table == ordersItems {
			break
		}
	}
	return "CREATE TEMP VIEW " + ident(table) + " AS " + strings.Join(parts, " UNION ALL ")
}

// ordersSteps are the statements of the transactions on file i.
func (s *shape) ordersSteps(i int) ([]filewise.Step, error) {
	l := lister{stage: filewise.StageMeasure, on: s.shards[i].path}
	l.note("before: loaded by inserts of many rows, the batch noted in fw_loaded in the same transaction; then")
	l.addAll(s.sql.Statements("indexes", vars(s.program, "")))
	for _, p := range s.program.Phases {
		l.note(fmt.Sprintf("%s: %d connections; each transaction begins with BEGIN IMMEDIATE (BEGIN where it only reads) and ends with COMMIT", p.Family, p.Connections))
	}
	for _, section := range s.sql.Sections() {
		for _, kind := range append([]string{"customer-by-name"}, orderKinds...) {
			if section == kind || strings.HasPrefix(section, kind+"-") {
				l.addAll(s.sql.Statements(section, orderVars(s.program, "")))
			}
		}
	}
	if churn, _ := s.program.Vars["Churn"].(bool); churn {
		l.note("before each transaction, with a number of its own")
		l.addAll(s.sql.Statements("churn", churnVars("1")))
	}
	if s.count > 1 {
		l.note("transactions on warehouses of other files have these attached, and lock them in the order of files")
		l.addAll(s.sql.Statements("lock", orderVars(s.program, attachedName(i)+".")))
	}
	return l.steps, l.err
}

// ordersChecks are its checks, on views over all files.
func (s *shape) ordersChecks(i int) ([]filewise.Step, error) {
	if i > 0 {
		return nil, nil
	}
	l := lister{stage: filewise.StageCheck, on: "all files"}
	for _, table := range ordersTables {
		l.add(s.viewOf(table))
	}
	for _, section := range s.sql.Sections() {
		if section == "totals" || strings.HasPrefix(section, "check-") {
			l.addAll(s.sql.Statements(section, vars(s.program, "")))
		}
	}
	return l.steps, l.err
}
