package oracle

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/engine/internal/operations"
	"filewise/lab/workload"
)

// The procedures and checks of orders and dml, executed by MariaDB in sql_mode=ORACLE
// like the loop of inserts: the same approximation.
func TestPhasesInMariaDB(t *testing.T) {
	db := startMariaDB(t)
	t.Run("orders", func(t *testing.T) { tryOrders(t, db) })
	t.Run("dml", func(t *testing.T) { tryDML(t, db) })
}

// phaseLoop is a workload of several phases in a database of MariaDB's.
type phaseLoop struct {
	t      *testing.T
	db     *sql.DB
	schema string
	design *design
}

func newPhaseLoop(t *testing.T, db *sql.DB, schema string, w filewise.Workload) phaseLoop {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+schema); err != nil {
		t.Fatal(err)
	}
	l := phaseLoop{t, db, schema, phasedDesign(t, w.Program(), filewise.IndexesApart, filewise.DurabilityFull)}
	c := l.connect()
	all, err := l.design.createdTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range l.design.programSections() {
		s, err := l.design.statement(section, table{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	for _, s := range all {
		if _, err := c.ExecContext(t.Context(), adapt(s.text)); err != nil {
			t.Fatalf("%v\n%s", err, adapt(s.text))
		}
	}
	return l
}

// connect opens a connection that begins transactions by itself and reads what is
// committed, as Oracle does; quotients keep 20 decimals.
func (l phaseLoop) connect() *sql.Conn {
	l.t.Helper()
	c, err := l.db.Conn(l.t.Context())
	for _, s := range []string{"USE " + l.schema, "SET autocommit = 0, tx_isolation = 'READ-COMMITTED', div_precision_increment = 20"} {
		if err == nil {
			_, err = c.ExecContext(l.t.Context(), s)
		}
	}
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { c.Close() })
	return c
}

// load inserts the workload's rows by the statement that loads them, row by row.
func (l phaseLoop) load(w filewise.Loadable) {
	l.t.Helper()
	c := l.connect()
	for _, data := range w.Data() {
		s, err := l.design.loading(data.Table, data.Columns)
		if err != nil {
			l.t.Fatal(err)
		}
		insert, err := c.PrepareContext(l.t.Context(), binds.ReplaceAllString(s.text, "?"))
		if err != nil {
			l.t.Fatal(err)
		}
		to := &arrayWriter{columns: make([][]driver.Value, len(data.Columns)), write: func(columns [][]driver.Value) (int64, error) {
			row := make([]any, len(columns))
			for i := range columns[0] {
				for k := range columns {
					row[k] = columns[k][i]
				}
				if _, err := insert.ExecContext(l.t.Context(), row...); err != nil {
					return int64(i), err
				}
			}
			return int64(len(columns[0])), nil
		}}
		for batch := range data.Batches {
			if err := errors.Join(data.Write(batch, to), to.flush()); err != nil {
				l.t.Fatalf("%s: %v", data.Table, err)
			}
		}
		insert.Close()
	}
	indexes, err := l.design.statements("indexes", table{})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, s := range indexes {
		if _, err := c.ExecContext(l.t.Context(), adapt(s.text)); err != nil {
			l.t.Fatalf("%v\n%s", err, adapt(s.text))
		}
	}
}

var (
	binds  = regexp.MustCompile(`:(\d+)`)
	called = regexp.MustCompile(`"(\w+)"\((:\d[^)]*)\)`)
)

// call calls the procedure that a block calls; what it returns comes in the last binds.
func call(ctx context.Context, c *sql.Conn, block string, args ...any) ([]sql.NullInt64, error) {
	outs := make([]sql.NullInt64, operations.Parameters(block, ":", mostBinds)-len(args))
	var names []string
	var into []any
	for i := range outs {
		names, into = append(names, fmt.Sprintf("@o%d", i)), append(into, &outs[i])
	}
	places := append(slices.Repeat([]string{"?"}, len(args)), names...)
	text := fmt.Sprintf(`CALL "%s"(%s)`, called.FindStringSubmatch(block)[1], strings.Join(places, ", "))
	if _, err := c.ExecContext(ctx, text, args...); err != nil || len(outs) == 0 {
		return outs, err
	}
	return outs, c.QueryRowContext(ctx, "SELECT "+strings.Join(names, ", ")).Scan(into...)
}

// tryOrders runs the transactions of three connections at the same time, two of them
// on one warehouse, and looks at what is left and at customers that do not exist.
func tryOrders(t *testing.T, db *sql.DB) {
	w, err := workload.NewOrders(workload.Params{Connections: 3, Warehouses: 2, Scale: 0.01}, 7)
	if err != nil {
		t.Fatal(err)
	}
	l := newPhaseLoop(t, db, "orders", w)
	l.load(w.(filewise.Loadable))
	c := l.connect()
	if err := w.Check(t.Context(), loopQuerier{c, l.design}, filewise.AsLoaded, nil); err != nil {
		t.Fatal(err)
	}
	phase := w.Program().Phases[0]
	blocks := map[string]string{}
	for _, section := range phase.Sections {
		s, err := l.design.statement("statement-"+section, table{})
		if err != nil {
			t.Fatal(err)
		}
		blocks[section] = s.text
	}
	const each = 300
	ledger := make(filewise.Ledger, 3)
	eg, ctx := errgroup.WithContext(t.Context())
	for worker := range ledger {
		ledger[worker] = each
		c := l.connect()
		eg.Go(func() error { return transact(ctx, c, phase, blocks, worker, each) })
	}
	if err := eg.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := w.Check(t.Context(), loopQuerier{c, l.design}, 0, []filewise.Ledger{ledger}); err != nil {
		t.Error(err)
	}
	for section, args := range map[string][]any{
		"new-order": {1, 1, 99, 5, "1", "1", "1"}, "payment": {1, 1, 1, 1, 0, "NOBODY", 100, 5}, "order-status": {1, 1, 0,
			"NOBODY"}, "stock-level": {1, 11, 10},
	} {
		if _, err := call(t.Context(), c, blocks[section], args...); err == nil || !strings.Contains(err.Error(), "there is no such") {
			t.Errorf("%s of what does not exist: %v", section, err)
		}
	}
}

// transact executes a worker's transactions; one that the server ends is tried again.
func transact(ctx context.Context, c *sql.Conn, phase filewise.Phase, blocks map[string]string, worker int, n int64) error {
	typed := phase.Args.(filewise.TypedArgs)
	for i := int64(0); i < n; {
		kind := typed.TypeOf(worker, i)
		outs, err := call(ctx, c, blocks[phase.Sections[kind]], typed.Args(nil, worker, i)...)
		var deadlock *mysql.MySQLError
		if errors.As(err, &deadlock) && deadlock.Number == 1213 {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", phase.Types[kind], err)
		}
		if back := outs[0].Int64 == -1; back != strings.HasSuffix(phase.Types[kind], "rolled back") || !outs[len(outs)-1].Valid {
			return fmt.Errorf("%s %d of worker %d returns %v", phase.Types[kind], i, worker, outs)
		}
		i++
	}
	return nil
}

// tryDML runs all phases, of which the last four send blocks and queries.
func tryDML(t *testing.T, db *sql.DB) {
	const connections, rows = 2, 20
	w, err := workload.NewDML(workload.Params{Connections: connections, Rows: rows, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
		Index: workload.IndexKey}, 7)
	if err != nil {
		t.Fatal(err)
	}
	l := newPhaseLoop(t, db, "dml", w)
	c := l.connect()
	var ledgers []filewise.Ledger
	for k, phase := range w.Program().Phases {
		s, err := l.design.statement(operations.Section(phase, phase.Section), table{})
		if err != nil {
			t.Fatal(err)
		}
		each := rows / int64(phase.Connections)
		ledger := make(filewise.Ledger, phase.Connections)
		for worker := range ledger {
			if ledger[worker] = each; !phase.Client {
				_, err = call(t.Context(), c, s.text, worker, int64(0), each)
			}
			for i := int64(0); phase.Client && i < each && err == nil; i++ {
				_, err = c.ExecContext(t.Context(), filled(s.text, phase.Args.Args(nil, worker, i)))
			}
			if err != nil {
				t.Fatalf("%s: %v", phase.Operation, err)
			}
		}
		if _, err := c.ExecContext(t.Context(), "ROLLBACK"); err != nil { // what is not committed is not there
			t.Fatal(err)
		}
		ledgers = append(ledgers, ledger)
		if err := w.Check(t.Context(), loopQuerier{c, l.design}, k, ledgers); err != nil {
			t.Error(err)
		}
	}
	for _, section := range []string{"call-select", "call-update", "call-delete"} {
		s, err := l.design.statement(section, table{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := call(t.Context(), c, s.text, 0, int64(0), int64(1)); err == nil || !strings.Contains(err.Error(), "there is no row") {
			t.Errorf("%s of a deleted row: %v", section, err)
		}
	}
}

// filled returns a block with its arguments in the places of its binds.
func filled(block string, args []any) string {
	return binds.ReplaceAllStringFunc(adapt(block), func(bind string) string {
		var n int
		fmt.Sscanf(bind, ":%d", &n)
		return fmt.Sprint(args[n-1])
	})
}
