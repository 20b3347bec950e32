package sqlserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/internal/marker"
	"filewise/lab/workload"
)

// loadAll loads a workload's tables, each batch twice.
func loadAll(t *testing.T, db *filewise.Database, w filewise.Workload) error {
	t.Helper()
	for _, table := range w.(filewise.Loadable).Data() {
		for batch := range table.Batches {
			for range 2 {
				if err := db.Bulk.LoadBatch(t.Context(), table, batch); err != nil {
					return err
				}
			}
		}
	}
	return db.Bulk.Finish(t.Context())
}

// TestBulkLoad: what the driver sends by bulk copy was generated, by the
// checks' own SQL; a batch that is there already is not loaded again.
func TestBulkLoad(t *testing.T) {
	for _, w := range phasedWorkloads(t) {
		loadable, ok := w.(filewise.Loadable)
		if !ok {
			continue
		}
		lab := newLab(t, nil)
		lab.target.Settings = map[string]string{"keep-backups": "on"}
		db := lab.build(lab.open(), layout(2), w)
		if err := loadAll(t, db, w); err != nil {
			t.Fatalf("%s: %v", w.Program().Workload, err)
		}
		if err := w.Check(t.Context(), db, filewise.AsLoaded, nil); err != nil {
			t.Errorf("%s: %v", w.Program().Workload, err)
		}
		tables := lab.model.databases[lab.names()[0]].tables.db
		if _, err := tables.Exec("DELETE FROM " + loadable.Data()[0].Table + " WHERE rowid = 1"); err != nil {
			t.Fatal(err)
		}
		if err := w.Check(t.Context(), db, filewise.AsLoaded, nil); !errors.Is(err, filewise.ErrCheck) {
			t.Errorf("%s: a row that is not there is not missed: %v", w.Program().Workload, err)
		}
		if err := db.Drop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestParallelPlans: a query's plan is read in a separate session, and is one of several processors if a step of it is
// parallel; afterwards statements are executed as before.
func TestParallelPlans(t *testing.T) {
	w, err := workload.NewScan(workload.Params{Rows: 1000, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 1)
	ok(t, err)
	lab := newLab(t, nil)
	db := lab.build(lab.open(), layout(2), w)
	for phase, want := range []int{0, 0, 0, 4, 0} {
		if n, err := db.ParallelWorkers(t.Context(), phase); err != nil || n != want {
			t.Errorf("query %d: %d processors, want %d: %v", phase+1, n, want, err)
		}
	}
	rows, err := db.Query(t.Context(), "check")
	if err != nil || len(rows) != 4 || len(rows[0]) != 4 {
		t.Errorf("after the plans: %v, %v", rows, err)
	}
	if n := planned(`<QueryPlan><RelOp Parallel="true"/></QueryPlan>`); n != 2 {
		t.Errorf("a plan that does not give a number: %d", n)
	}
	ok(t, db.Drop(t.Context()))
}

// TestCool: a build goes offline and back before a query that starts cold, when the last of
// Filewise's own sessions and of others has left it; then it is kept again. In between it
// is no one's, and stays if the run ends there.
func TestCool(t *testing.T) {
	w, err := workload.NewScan(workload.Params{Rows: 1000, Cache: string(filewise.CacheBufferCold), Data: workload.DataOrdered, Repeat: 1}, 1)
	ok(t, err)
	lab := newLab(t, func(m *model) { m.alterAny = true })
	s := lab.open()
	db := lab.build(s, layout(2), w)
	ok(t, loadAll(t, db, w), db.Settle(t.Context()))
	name := lab.names()[0]
	d := lab.model.databases[name]
	lab.model.mu.Lock()
	if slices.ContainsFunc(d.options, func(o string) bool { return strings.Contains(o, "OFFLINE") }) {
		t.Error("it was offline already")
	}
	d.sessions = 2 // of others, who leave
	lab.model.mu.Unlock()
	ok(t, db.Cool(t.Context()))
	lab.model.mu.Lock()
	if n := len(d.options); d.options[n-2] != "["+name+"] SET OFFLINE WITH NO_WAIT;" || d.options[n-1] != "["+name+"] SET ONLINE;" {
		t.Errorf("%q", d.options[n-2:])
	}
	if lab.model.locks[name+"/filewise keeps"] == nil {
		t.Error("nobody keeps it afterwards")
	}
	ctx, interrupt := context.WithCancel(t.Context())
	lab.model.fault = func(during context.Context, q Request, _ *Reply) (bool, error) {
		if strings.Contains(q.SQL, "SET OFFLINE") {
			interrupt()
			select {
			case <-during.Done(): // the call is ended, and the database stays offline
			case <-time.After(100 * time.Millisecond):
			}
		}
		return false, nil
	}
	lab.model.mu.Unlock()
	ok(t, db.Cool(ctx)) // what is begun is ended
	lab.model.mu.Lock()
	if lab.model.locks[name+"/filewise keeps"] == nil {
		t.Error("nobody keeps it after an interrupt")
	}
	lab.model.fault = nil
	lab.model.mu.Unlock()
	ok(t, w.Check(t.Context(), db, filewise.AsLoaded, nil))
	lab.model.mu.Lock()
	d.state = "OFFLINE"
	lab.model.mu.Unlock()
	left, err := s.Leftovers(t.Context())
	if err != nil || len(left) != 1 || left[0].Kept != "" || !left[0].Offline {
		t.Errorf("%+v: %v", left, err)
	}
	if err := s.Remove(t.Context(), left[0]); filewise.CodeOf(err) != filewise.CodeBusy || d.state != "ONLINE" {
		t.Errorf("a build of a run that lives: %v", err) // it is back, and its marker reports who made it
	}
	ok(t, db.Drop(t.Context()))
}

// TestWake: a build that a run has left offline is brought back and removed; nothing that is another owner's,
// or carries no marker, is removed.
func TestWake(t *testing.T) {
	lab := newLab(t, func(m *model) { m.alterAny = true })
	s := lab.open()
	add := func(change func(*modelDatabase)) string {
		name := marker.NewName()
		lab.add(name, func(d *modelDatabase) {
			d.state, d.objects, d.properties["filewise"] = "OFFLINE", 5, enginetest.DeadMarker(t, name, false)
			change(d)
		})
		return name
	}
	dead := add(func(*modelDatabase) {})
	foreign := add(func(d *modelDatabase) { d.foreign = true })
	unmarked := add(func(d *modelDatabase) { d.properties = map[string]string{"owner": "me"} })
	left, err := s.Leftovers(t.Context())
	ok(t, err)
	for _, l := range left {
		if l.Offline == (l.Name == foreign) || (l.Kept != "") != (l.Name == foreign) {
			t.Errorf("%+v", l)
		}
		l.Offline = true // a liar
		if err := s.Remove(t.Context(), l); (err == nil) != (l.Name == dead) || err != nil && filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	if names := lab.names(); len(left) != 3 || slices.Contains(names, dead) || !slices.Contains(names, foreign) ||
		!slices.Contains(names, unmarked) {
		t.Errorf("left are %q of %+v", names, left)
	}
}

// TestCycle: a build goes offline and comes back in one batch, timed by the server, with no one thrown
// out; without the right to bring it back it stays in its place.
func TestCycle(t *testing.T) {
	for _, may := range []bool{true, false} {
		lab := newLab(t, func(m *model) { m.alterAny = may })
		s := lab.open()
		w, err := workload.NewInserts(workload.Params{Connections: 2, RowBytes: 100, CommitEvery: 1, Table: workload.TableShared,
			Key: workload.KeySequential}, 1)
		ok(t, err)
		p := w.Program()
		p.Cycles = true
		failed := false
		for _, f := range s.Examine(t.Context(), filewise.Demand{Program: p}) {
			failed = failed || f.Check == "rights to empty the buffer pool" && f.Status == filewise.StatusFailed
		}
		db, err := s.Build(t.Context(), layout(2), p)
		if err == nil {
			name := lab.names()[0]
			offline, online, cerr := db.Cycle(t.Context())
			err = cerr
			lab.model.mu.Lock()
			if may && (offline != 1500*time.Millisecond || online != 250*time.Millisecond || lab.model.locks[name+"/filewise keeps"] == nil) {
				t.Errorf("%v, %v, %v", offline, online, err)
			}
			if state := lab.model.databases[name].state; state == "OFFLINE" {
				t.Error("it stays offline")
			}
			lab.model.mu.Unlock()
		}
		if failed == may || (err == nil) != may {
			t.Errorf("may bring it back %v: finding failed %v, %v", may, failed, err)
		}
	}
}

// TestCoolWantsTheRight: the account that the documentation asks for can set its build offline and not online. So
// nothing is built that would stay offline, and the grant is reported; what is offline already is named with the
// statement that an administrator has to give.
// First contact: SQL Server 1.
func TestCoolWantsTheRight(t *testing.T) {
	w, err := workload.NewScan(workload.Params{Rows: 1000, Cache: string(filewise.CacheBufferCold), Data: workload.DataOrdered, Repeat: 1}, 1)
	ok(t, err)
	lab := newLab(t, nil)
	s := lab.open()
	const grant = "GRANT ALTER ANY DATABASE TO [filewise];"
	if _, err := s.Build(t.Context(), layout(2), w.Program()); !errors.Is(err, filewise.ErrUnsupported) ||
		!strings.Contains(filewise.RemedyOf(err), grant) || len(lab.names()) > 0 {
		t.Errorf("%v (%s), left %q", err, filewise.RemedyOf(err), lab.names())
	}
	for _, program := range []filewise.Program{w.Program(), inserts(t, nil).Program()} {
		want := map[bool]filewise.Status{true: filewise.StatusFailed, false: filewise.StatusNote}[cools(program)]
		findings := s.Examine(t.Context(), filewise.Demand{Program: program})
		if !slices.ContainsFunc(findings, func(f filewise.Finding) bool { return f.Status == want && strings.Contains(f.Remedy, grant) }) {
			t.Errorf("cools %v: %+v", cools(program), findings)
		}
	}
	lab.model.alterAny = true // and is taken away in between
	able := lab.open()
	db, err := able.Build(t.Context(), layout(2), w.Program())
	ok(t, err)
	lab.model.alterAny = false
	name := lab.names()[0]
	if err := db.Cool(t.Context()); err == nil {
		t.Error("it is back")
	}
	left, err := s.Leftovers(t.Context())
	if err != nil || len(left) != 1 || !left[0].Offline {
		t.Fatalf("%+v: %v", left, err)
	}
	err = s.Remove(t.Context(), left[0])
	if remedy := filewise.RemedyOf(err); err == nil || !strings.Contains(remedy, "administrator") ||
		!strings.Contains(remedy, "ALTER DATABASE ["+name+"] SET ONLINE") {
		t.Errorf("%v (%s)", err, remedy)
	}
	lab.model.alterAny = true
	ok(t, db.Drop(t.Context())) // which brings it back for that
	if len(lab.names()) > 0 {
		t.Errorf("left %q", lab.names())
	}
}

// TestUncounted: a server that is set to count no rows is loaded as any other.
func TestUncounted(t *testing.T) {
	lab := newLab(t, func(m *model) { m.uncounted = true })
	w := phasedWorkloads(t)[4]
	db := lab.build(lab.open(), layout(2), w)
	ok(t, loadAll(t, db, w), w.Check(t.Context(), db, filewise.AsLoaded, nil), db.Drop(t.Context()))
}

// TestObjectsInModel: a database that could not be dropped again is not kept, and it is reported
// what is in model.
func TestObjectsInModel(t *testing.T) {
	lab := newLab(t, func(m *model) { m.inModel, m.modelShut = []string{"HouseRules"}, true })
	s := lab.open()
	for _, f := range s.Examine(t.Context(), filewise.Demand{}) {
		if f.Status == filewise.StatusFailed { // it cannot be known
			t.Errorf("%+v", f)
		}
	}
	_, err := s.Build(t.Context(), layout(2), inserts(t, nil).Program())
	if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(err.Error(), "HouseRules") ||
		!strings.Contains(filewise.RemedyOf(err), "model") {
		t.Errorf("%v", err)
	}
	if left := lab.names(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestConditionsAreSeen: each consistency condition of orders counts what breaks it.
func TestConditionsAreSeen(t *testing.T) {
	w := phasedWorkloads(t)[0]
	lab := newLab(t, nil)
	db := lab.build(lab.open(), layout(1), w)
	ok(t, loadAll(t, db, w))
	tables := lab.model.databases[lab.names()[0]].tables.db
	for section, damage := range map[string]string{
		"check-01": "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1",
		"check-02": "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 2",
		"check-03": "DELETE FROM new_order WHERE no_o_id = (SELECT MAX(no_o_id) - 1 FROM new_order)",
		"check-04": "DELETE FROM order_line WHERE ol_number = 3 AND ol_o_id = 2",
		"check-05": "UPDATE orders SET o_carrier_id = 4 WHERE o_id = (SELECT MAX(o_id) FROM orders)",
		"check-06": "UPDATE order_line SET ol_o_id = 1, ol_number = 99 WHERE ol_o_id = 2 AND ol_number = 1",
		"check-07": "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_o_id = 1",
		"check-08": "UPDATE history SET h_amount = h_amount + 5 WHERE h_c_id = 1",
		"check-09": "UPDATE history SET h_d_id = 3 WHERE h_d_id = 4 AND h_c_id = 1",
		"check-10": "UPDATE customer SET c_balance = c_balance - 1 WHERE c_id = 7",
		"check-11": "UPDATE customer SET c_delivery_cnt = 1 WHERE c_id = 9",
		"check-12": "UPDATE order_line SET ol_amount = 12 WHERE ol_o_id = 1",
	} {
		tx, err := tables.Begin()
		ok(t, err)
		result, err := tx.Exec(damage)
		ok(t, err)
		if n, err := result.RowsAffected(); n == 0 || err != nil {
			t.Errorf("%s damages nothing: %v", damage, err)
		}
		d := db.Build.(*build).design
		text, err := d.batch(section, d.vars())
		ok(t, err)
		var violations int
		ok(t, tx.QueryRow(translated(text)).Scan(&violations), tx.Rollback())
		if violations == 0 {
			t.Errorf("%s does not see %s", section, damage)
		}
	}
}

// TestBulkLoadFails: a lost row, a value that is none, and a lost connection are
// errors, nothing of the batch stays, and it can be loaded again.
func TestBulkLoadFails(t *testing.T) {
	w := phasedWorkloads(t)[4]
	table := w.(filewise.Loadable).Data()[0]
	lab := newLab(t, func(m *model) { m.bulkLoses = true })
	db := lab.build(lab.open(), layout(1), w)
	if err := db.Bulk.LoadBatch(t.Context(), table, 0); err == nil || !strings.Contains(err.Error(), "999 rows of 1000") {
		t.Errorf("a lost row: %v", err)
	}
	lab.model.mu.Lock()
	lab.model.bulkLoses = false
	lab.model.mu.Unlock()
	bad := table
	bad.Write = func(batch int64, to filewise.RowWriter) error {
		to.Text([]byte("no number"))
		for range table.Columns[1:] {
			to.Null()
		}
		return to.EndRow()
	}
	if err := db.Bulk.LoadBatch(t.Context(), bad, 0); err == nil || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("a bad value: %v", err)
	}
	short := table
	short.Write = func(_ int64, to filewise.RowWriter) error { to.Int(1); return to.EndRow() }
	if err := db.Bulk.LoadBatch(t.Context(), short, 0); err == nil {
		t.Error("a row of one column is loaded")
	}
	cut := table
	cut.Write = func(batch int64, to filewise.RowWriter) error {
		err := table.Write(batch, to)
		for _, s := range lab.wire.Sessions() {
			if l, ok := s.Data.(*loading); ok && l.table != "" {
				s.Drop()
			}
		}
		return err
	}
	if err := db.Bulk.LoadBatch(t.Context(), cut, 0); filewise.ClassOf(err) != filewise.ClassConnection {
		t.Errorf("a lost connection: class %s, %v", filewise.ClassOf(err), err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := db.Bulk.LoadBatch(ended, table, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	ok(t, db.Bulk.LoadBatch(t.Context(), table, 0))
	rows, err := db.Query(t.Context(), "check")
	ok(t, err)
	if rows[0][1] != int64(1000) {
		t.Errorf("%v rows, want those of one batch", rows[0])
	}
}

// TestPhases: sessions call each type's procedure by its name, so that no statement
// needs a plan for each length of a text. Before each they make a table that comes and
// goes under a separate name.
func TestPhases(t *testing.T) {
	w, err := workload.NewOrders(workload.Params{Connections: 2, Warehouses: 2, Scale: 0.01, Churn: true}, 1)
	ok(t, err)
	lab := newLab(t, nil)
	db := lab.build(lab.open(), layout(1), w)
	lab.model.fault = executing
	phase := w.Program().Phases[0]
	if _, err := db.Connect(t.Context(), len(w.Program().Phases), 0); filewise.CodeOf(err) != filewise.CodeInternal {
		t.Errorf("a connection for a phase that is not there: %v", err)
	}
	for worker := range 2 {
		s, err := db.Connect(t.Context(), 0, worker)
		ok(t, err)
		done, err := s.Do(t.Context(), 0, 100)
		ok(t, err, s.Close())
		if done != 100 {
			t.Errorf("%d of 100", done)
		}
	}
	var calls, churned int
	names := map[string]bool{}
	for _, text := range lab.wire.Received() {
		if strings.HasPrefix(text, "dbo.fw_") {
			calls++
		}
		if i := strings.Index(text, "CREATE TABLE dbo.[fw_churn_"); i >= 0 {
			churned++
			names[text] = true
		}
	}
	if calls != 200 || churned != 200 || len(names) != 200 || len(phase.Types) != 6 {
		t.Errorf("%d calls, %d tables of %d names", calls, churned, len(names))
	}
}

// TestDeadlockInPhase: what the server rolls back is distinguished, and not counted.
func TestDeadlockInPhase(t *testing.T) {
	w := phasedWorkloads(t)[0]
	lab := newLab(t, nil)
	db := lab.build(lab.open(), layout(1), w)
	lab.model.fault = executing
	s, err := db.Connect(t.Context(), 0, 1)
	ok(t, err)
	defer s.Close()
	victim := failing(lab.model, `^dbo\.fw_payment$`, 1205, "Transaction was deadlocked and has been chosen as the deadlock victim.")
	victim.Store(true)
	done, err := s.Do(t.Context(), 0, 100)
	if filewise.ClassOf(err) != filewise.ClassDeadlock || done < 0 || done > 10 || !slices.Contains(w.Program().Retry, filewise.ClassOf(err)) {
		t.Errorf("%d done, class %s: %v", done, filewise.ClassOf(err), err)
	}
}

// TestRefusedPhases: what cannot be is refused with a reason, before anything is built.
func TestRefusedPhases(t *testing.T) {
	lab := newLab(t, nil)
	all := phasedWorkloads(t)
	for what, c := range map[string]struct {
		p      filewise.Program
		change func(*filewise.Layout)
	}{
		"layouts of tempdb":     {all[6].Program(), func(l *filewise.Layout) { l.Temp.Files = 2 }},
		"files added later":     {all[0].Program(), func(l *filewise.Layout) { l.AddedLater = filewise.LaterNewData }},
		"indexes without index": {all[2].Program(), func(l *filewise.Layout) { l.Indexes = filewise.IndexesApart }},
		"backups in 65 files":   {all[5].Program(), func(l *filewise.Layout) { l.Backup.Files = 65 }},
	} {
		l := layout(2)
		if c.change != nil {
			c.change(&l)
		}
		if _, err := (Engine{}).Statements(lab.target, l, c.p); !errors.Is(err, filewise.ErrUnsupported) || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v (%s)", what, err, filewise.RemedyOf(err))
		}
	}
}
