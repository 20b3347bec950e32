package sqlserver

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
	"filewise/internal/marker"
	"filewise/lab/workload"
)

// failing answers statements that match with an error, once it is switched on.
func failing(m *model, pattern string, number int32, message string) *atomic.Bool {
	var on atomic.Bool
	re := regexp.MustCompile(pattern)
	m.fault = func(_ context.Context, q Request, r *Reply) (bool, error) {
		if !on.Load() || !re.MatchString(q.SQL) {
			return false, nil
		}
		r.Error(number, 16, message)
		return true, nil
	}
	return &on
}

// TestErrorsOfCallsHaveTheirClass, and leave a true ledger.
func TestErrorsOfCallsHaveTheirClass(t *testing.T) {
	for _, c := range []struct {
		number int32
		class  filewise.Class
	}{
		{1205, filewise.ClassDeadlock}, {1222, filewise.ClassLockTimeout}, {3960, filewise.ClassSerialization}, {2627, filewise.ClassDuplicate},
		{1105, filewise.ClassSpace}, {1101, filewise.ClassSpace}, {9002, filewise.ClassSpace}, {8134, filewise.ClassOther},
	} {
		lab := newLab(t, nil)
		on := failing(lab.model, `^EXEC dbo\.`, c.number, "it failed")
		w := inserts(t, nil)
		db := lab.build(lab.open(), layout(1), w)
		ledger := make(filewise.Ledger, 3)
		ok(t, work(t, t.Context(), db, w.Program(), ledger, 20)...)
		on.Store(true)
		for _, err := range work(t, t.Context(), db, w.Program(), ledger, 20) {
			if filewise.ClassOf(err) != c.class || (errors.Is(err, filewise.ErrSpace)) != (c.class == filewise.ClassSpace) {
				t.Errorf("%d: class %q of %v", c.number, filewise.ClassOf(err), err)
			}
		}
		ok(t, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}))
	}
}

// TestCancelLeavesATrueLedger: confirmed cancels in the middle of short and long
// transactions; the session works on.
func TestCancelLeavesATrueLedger(t *testing.T) {
	for _, every := range []int{1, 7, 3000} {
		lab := newLab(t, func(m *model) { m.slow = 200 * time.Microsecond })
		w := inserts(t, func(p *workload.Params) { p.CommitEvery = every })
		db := lab.build(lab.open(), layout(1), w)
		s, err := db.Connect(t.Context(), 0, 1)
		ok(t, err)
		ledger := make(filewise.Ledger, 3)
		for round := range 4 {
			ctx, cancel := context.WithCancel(t.Context())
			began := len(lab.wire.Received())
			go func() {
				soon(t, "the call", func() bool { return len(lab.wire.Received()) > began })
				time.Sleep(time.Duration(round) * 7 * time.Millisecond)
				cancel()
			}()
			start := time.Now()
			done, err := s.Do(ctx, ledger[1], 1<<30)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled call says %v", err)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("a confirmed cancel took %v", took)
			}
			ledger[1] += done
			ok(t, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}))
		}
		done, err := s.Do(t.Context(), ledger[1], 10) // the same connection
		ledger[1] += done
		ok(t, err, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}), s.Close())
	}
}

// TestUnconfirmedCancel: the driver gives up after 5 s and the connection is lost;
// what is committed is only looked up when the server has ended the session.
func TestUnconfirmedCancel(t *testing.T) {
	lab := newLab(t, func(m *model) { m.slow, m.unconfirmed = 200*time.Microsecond, true })
	w := inserts(t, func(p *workload.Params) { p.CommitEvery = 5 })
	db := lab.build(lab.open(), layout(1), w)
	s, err := db.Connect(t.Context(), 0, 0)
	ok(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	done, err := s.Do(ctx, 0, 1<<30)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	ledger := make(filewise.Ledger, 3)
	ledger[0] = done
	ok(t, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}), s.Close())
}

// TestLostConnection in the middle of a call has class connection, a true ledger,
// and is no harm to the others.
func TestLostConnection(t *testing.T) {
	lab := newLab(t, nil)
	var calls atomic.Int64
	lab.model.fault = func(_ context.Context, q Request, _ *Reply) (bool, error) {
		if strings.HasPrefix(q.SQL, "EXEC dbo.") && calls.Add(1) == 2 {
			return true, ErrHangUp
		}
		return false, nil
	}
	w := inserts(t, nil)
	db := lab.build(lab.open(), layout(1), w)
	s, err := db.Connect(t.Context(), 0, 0)
	ok(t, err)
	ledger := make(filewise.Ledger, 3)
	for range 2 {
		var done int64
		done, err = s.Do(t.Context(), ledger[0], 20)
		ledger[0] += done
	}
	if filewise.ClassOf(err) != filewise.ClassConnection {
		t.Errorf("class %q of %v", filewise.ClassOf(err), err)
	}
	if _, err := s.Do(t.Context(), ledger[0], 20); err == nil {
		t.Error("a lost session works on")
	}
	ok(t, s.Close(), w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}))
	again, err := db.Connect(t.Context(), 0, 0)
	ok(t, err)
	done, err := again.Do(t.Context(), ledger[0], 20)
	ledger[0] += done
	ok(t, err, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}), again.Close())
}

// TestSessionStateIsKept: a connection that a pool hands out again has lost its
// options and locks. The session's is held, so the server never sees a reset on it.
func TestSessionStateIsKept(t *testing.T) {
	lab := newLab(t, nil)
	var resets atomic.Int64
	lab.model.fault = func(_ context.Context, q Request, _ *Reply) (bool, error) {
		if q.Reset && strings.Contains(q.SQL, "fw_inserts") && strings.HasPrefix(q.SQL, "EXEC") {
			resets.Add(1)
		}
		return false, nil
	}
	w := inserts(t, nil)
	db := lab.build(lab.open(), layout(1), w)
	s, err := db.Connect(t.Context(), 0, 2)
	ok(t, err)
	for i := range int64(5) {
		_, err := s.Do(t.Context(), i*10, 10)
		ok(t, err)
	}
	lab.model.mu.Lock()
	_, held := lab.model.locks[lab.names0()+"/filewise worker 2"]
	_, kept := lab.model.locks[lab.names0()+"/filewise keeps"]
	lab.model.mu.Unlock()
	if resets.Load() != 0 || !held || !kept {
		t.Errorf("%d resets, the worker's lock held: %v, the keeper's: %v", resets.Load(), held, kept)
	}
	ok(t, s.Close())
}

// names0 returns the first database, with the model locked.
func (l *lab) names0() string {
	for name := range l.model.databases {
		return name
	}
	return ""
}

// TestConnectionsAreKept from one turn to the next, up to a number, and end before the database is left.
// First contact: SQL Server 14.
func TestConnectionsAreKept(t *testing.T) {
	lab := newLab(t, nil)
	var logins atomic.Int64
	lab.model.signedIn = func(s *Session) {
		if marker.IsName(s.Login.Database) {
			logins.Add(1)
		}
	}
	w := inserts(t, func(p *workload.Params) { p.Connections = mostIdle + 6 })
	s := lab.open()
	db := lab.build(s, layout(1), w)
	ledger := make(filewise.Ledger, mostIdle+6)
	var seen []int64
	for range 3 {
		ok(t, work(t, t.Context(), db, w.Program(), ledger, 3)...)
		seen = append(seen, logins.Load())
	}
	if first, second, third := seen[0], seen[1]-seen[0], seen[2]-seen[1]; first < mostIdle+6 || second != 6 || third != 6 {
		t.Errorf("logins by turn: %d, %d, %d", first, second, third)
	}
	ok(t, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}), db.Drop(t.Context()))
	if s.idle.n != 0 || len(s.idle.pools) != 0 {
		t.Errorf("%d are kept after the drop", s.idle.n)
	}
}

// TestSessionLimits: no keys beyond the limit, no worker beyond the connections.
func TestSessionLimits(t *testing.T) {
	lab := newLab(t, nil)
	w := inserts(t, func(p *workload.Params) { p.Key = workload.KeyRandom })
	db := lab.build(lab.open(), layout(1), w)
	s, err := db.Connect(t.Context(), 0, 0)
	ok(t, err)
	if done, err := s.Do(t.Context(), w.Program().First().Limit-1, 2); err == nil || done != 1 {
		t.Errorf("two rows from the last one: %d done, %v", done, err)
	}
	for _, worker := range []int{-1, 3} {
		if _, err := db.Connect(t.Context(), 0, worker); err == nil {
			t.Errorf("there is a worker %d", worker)
		}
	}
	ok(t, s.Close())
}

// TestFailedBuildLeavesNothing, wherever it fails, and whatever it had come to.
func TestFailedBuildLeavesNothing(t *testing.T) {
	for _, at := range []string{"SET RECOVERY", "filewise keeps", "CREATE TABLE", "INSERT INTO dbo.fw_pool", "CREATE PROCEDURE"} {
		lab := newLab(t, nil)
		failing(lab.model, regexp.QuoteMeta(at), 8134, "it failed").Store(true)
		if _, err := lab.open().Build(t.Context(), layout(2), inserts(t, nil).Program()); err == nil ||
			!strings.Contains(err.Error(), "it failed") {
			t.Errorf("failing at %s: %v", at, err)
		}
		if left := lab.names(); len(left) > 0 {
			t.Errorf("failing at %s leaves %v", at, left)
		}
	}
	// Killed between creating and marking.
	lab := newLab(t, nil)
	lab.model.fault = func(_ context.Context, q Request, r *Reply) (bool, error) {
		if !strings.Contains(q.SQL, "LOG ON") {
			return false, nil
		}
		q.SQL = strings.ReplaceAll(q.SQL, "sp_addextendedproperty", "sp_nothing")
		a := &asked{lab.model, t.Context(), q, regexp.MustCompile(`CREATE DATABASE ` + identPattern).FindStringSubmatch(q.SQL)[1:]}
		if err := modelCreate(a, r); err != nil {
			return true, err
		}
		r.Error(8134, 16, "killed")
		return true, nil
	}
	if _, err := lab.open().Build(t.Context(), layout(2), inserts(t, nil).Program()); err == nil {
		t.Error("built")
	}
	if left := lab.names(); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
	// Cancelled before it began.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newLab(t, nil).open().Build(ctx, layout(2), inserts(t, nil).Program()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// No right.
	lab = newLab(t, func(m *model) { m.create = false })
	if _, err := lab.open().Build(t.Context(), layout(2), inserts(t, nil).Program()); filewise.CodeOf(err) != filewise.CodePreflight ||
		filewise.RemedyOf(err) != grantCreate {
		t.Errorf("without the right: %v (%s)", err, filewise.RemedyOf(err))
	}
}

// TestDropReadsTheMarker: a database that lost its marker is not dropped, by no one.
func TestDropReadsTheMarker(t *testing.T) {
	lab := newLab(t, nil)
	s := lab.open()
	db := lab.build(s, layout(1), inserts(t, nil))
	name := lab.names()[0]
	marker := lab.model.databases[name].properties["filewise"]
	for what, now := range map[string]string{"none": "", "another": marker + " ", "of another case": strings.ToUpper(marker)} {
		lab.model.databases[name].properties["filewise"] = now
		if err := db.Drop(t.Context()); filewise.CodeOf(err) != filewise.CodePreflight {
			t.Errorf("with mark %s: %v", what, err)
		}
		if err := s.Close(); err == nil {
			t.Errorf("with mark %s: closed without a word", what)
		}
		s.control = s.login.pool("", appName, 2)
	}
	if len(lab.names()) != 1 {
		t.Error("it was dropped")
	}
	lab.model.databases[name].properties["filewise"] = marker
	ok(t, db.Drop(t.Context()))
}

// TestDropWaitsForOthers to leave the database.
func TestDropWaitsForOthers(t *testing.T) {
	lab := newLab(t, nil)
	db := lab.build(lab.open(), layout(1), inserts(t, nil))
	var tries atomic.Int64
	lab.model.fault = func(_ context.Context, q Request, r *Reply) (bool, error) {
		if !strings.Contains(q.SQL, "DROP DATABASE") || tries.Add(1) > 2 {
			return false, nil
		}
		r.Error(errInUse, 16, "Cannot drop the database because it is currently in use.")
		return true, nil
	}
	ok(t, db.Drop(t.Context()))
	if tries.Load() != 3 || len(lab.names()) != 0 {
		t.Errorf("%d tries, left %v", tries.Load(), lab.names())
	}
}

// TestLoginFails with what to do, and without the password.
func TestLoginFails(t *testing.T) {
	lab := newLab(t, nil)
	lab.target.Address.Password = "wr0ng-secret"
	_, err := Engine{}.Open(t.Context(), lab.target)
	if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(err.Error(), "Login failed") ||
		strings.Contains(err.Error(), "wr0ng") || filewise.RemedyOf(err) == "" {
		t.Errorf("%v (%s)", err, filewise.RemedyOf(err))
	}
	lab.target.Address.Options = map[string]string{"encrypt": "true"}
	if _, err := (Engine{}).Open(t.Context(), lab.target); !strings.Contains(filewise.RemedyOf(err), "TrustServerCertificate") {
		t.Errorf("no encryption: %v (%s)", err, filewise.RemedyOf(err))
	}
	lab.wire.Close()
	lab.target.Address.Options = nil
	if _, err := (Engine{}).Open(t.Context(), lab.target); filewise.CodeOf(err) != filewise.CodePreflight ||
		!strings.Contains(filewise.RemedyOf(err), "1433") {
		t.Errorf("no server: %v (%s)", err, filewise.RemedyOf(err))
	}
}

// TestLoginIsRefused with what to do about the reason, of which the server's last error reports nothing.
// First contact: fault 3.
func TestLoginIsRefused(t *testing.T) {
	for number, want := range map[int32]string{errCannotOpen: "?database=NAME", 18470: "ENABLE", 18486: "UNLOCK", 18487: "PASSWORD",
		18488: "PASSWORD", 18452: "domain", 17892: "trigger", 18401: "upgrade", 18461: "error log"} {
		lab := newLab(t, func(m *model) { m.refuses = Numbered{number, "refused"} })
		_, err := Engine{}.Open(t.Context(), lab.target)
		if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(filewise.RemedyOf(err), want) {
			t.Errorf("%d: %v (%s)", number, err, filewise.RemedyOf(err))
		}
	}
}

// TestNoDataDirectory keeps nothing back but what builds: a look at the server and clean go on.
// First contact: fault 6.
func TestNoDataDirectory(t *testing.T) {
	lab := newLab(t, func(m *model) { m.data = "" })
	s := lab.open()
	if _, err := s.Build(t.Context(), layout(1), inserts(t, nil).Program()); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("%v", err)
	}
	found := s.Examine(t.Context(), filewise.Demand{Program: inserts(t, nil).Program()})
	if last := found[len(found)-1]; last.Check != "data directory" || last.Status != filewise.StatusFailed || last.Remedy == "" {
		t.Errorf("%+v", found)
	}
	_, err := s.Leftovers(t.Context())
	ok(t, err)
}

// TestShort names what a batch is about, not the guard before it.
// First contact: fault 6.
func TestShort(t *testing.T) {
	text, err := server.Statement("restore", map[string]any{"Name": "x", "Mark": "", "Stripes": []string{"a"}, "Moves": nil, "Theirs": false,
		"BufferCount": 0, "MaxTransferSize": 0})
	ok(t, err)
	for statement, want := range map[string]string{text: "RESTORE DATABASE [x] FROM", "-- why\nSELECT 1": "SELECT 1"} {
		if got := short(statement); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestThreadpool: with fewer workers than connections, requests wait for one, and nothing is
// lost, also when they are cancelled; a server that has none for good is not waited for.
func TestThreadpool(t *testing.T) {
	lab := newLab(t, func(m *model) { m.slow = 100 * time.Microsecond })
	w := inserts(t, func(p *workload.Params) { p.Connections = 8 })
	db := lab.build(lab.open(), layout(1), w)
	lab.model.threads = make(chan struct{}, 2)
	ledger := make(filewise.Ledger, 8)
	ok(t, work(t, t.Context(), db, w.Program(), ledger, 30)...)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		soon(t, "no worker is busy", func() bool { return len(lab.model.threads) == 2 })
		cancel()
	}()
	for _, err := range work(t, ctx, db, w.Program(), ledger, 2000) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call: %v", err)
		}
	}
	ok(t, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}), db.Drop(t.Context()))

	hung := newLab(t, func(m *model) { m.threads = make(chan struct{}, 1) })
	hung.model.threads <- struct{}{}
	defer func() { <-hung.model.threads }()
	hung.target.Address.Options = map[string]string{"dial timeout": "1", "encrypt": "disable"}
	_, err := Engine{}.Open(t.Context(), hung.target)
	if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(filewise.RemedyOf(err), "THREADPOOL") {
		t.Errorf("%v (%s)", err, filewise.RemedyOf(err))
	}
}
