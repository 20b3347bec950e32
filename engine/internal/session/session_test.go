package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"filewise"
)

var (
	errBroken    = errors.New("broken")
	errCanceled  = errors.New("canceled by the server")
	errUntouched = errors.New("no such row")
)

// server is a fake of one, and of the connection to it.
type server struct {
	mu         sync.Mutex
	committed  int64 // operations, from 0
	open       bool  // a transaction
	lost       bool  // the connection
	alive      int   // looks at the session that it survives
	stop       chan struct{}
	failAt     int64
	fail       error
	slow       bool   // operations last until they are interrupted
	began      func() // called as a slow operation begins. If nil, no one waits for that
	interrupts int
	looks      int
	released   int
}

func (f *server) one(ctx context.Context, i int64) error {
	if f.slow {
		if f.began != nil {
			f.began()
		}
		<-f.stop
		f.open = true
		return errCanceled
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if f.fail != nil && i == f.failAt {
		return f.fail
	}
	f.committed = i + 1
	return nil
}

func (f *server) call(ctx context.Context, first, n int64) error {
	for i := first; i < first+n; i++ {
		if err := f.one(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

type args struct{ pool string }

func (args) Args(dst []any, worker int, i int64) []any { return append(dst, i, worker) }
func (a args) Pool() string                            { return a.pool }

type typed struct{ args }

func (typed) TypeOf(_ int, i int64) int { return int(i % 2) }

func (f *server) engine() Engine {
	return Engine{
		Interrupt: func(context.Context) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.interrupts++; f.interrupts == 2 { // the first one came between two statements
				close(f.stop)
			}
			return nil
		},
		Interrupted: func(err error) bool { return errors.Is(err, errCanceled) },
		Unchanged:   func(err error) bool { return errors.Is(err, errUntouched) },
		Rollback: func(context.Context) error {
			if f.lost {
				return errBroken
			}
			f.open = false
			return nil
		},
		Kill:    func(context.Context) error { f.open = false; return nil },
		Alive:   func(context.Context) (bool, error) { f.alive--; return f.alive >= 0, nil },
		Look:    func(_ context.Context, a []any) (bool, error) { f.looks++; return a[0].(int64) < f.committed, nil },
		Explain: func(err error) error { return &filewise.Classed{Class: filewise.ClassOther, Err: err} },
		Release: func() error { f.released++; return nil },
	}
}

// begun returns a session on a fake server: of the server's loop, or of the client's statements.
func begun(t *testing.T, f *server, client bool) *Session {
	t.Helper()
	f.stop = make(chan struct{})
	p := filewise.Program{Phases: []filewise.Phase{{Operation: "work", Connections: 2, Client: client, Args: args{}}}}
	s, err := New(p, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Engine = f.engine()
	if client {
		s.One = f.one
	} else {
		s.Call = f.call
	}
	return s
}

func TestDo(t *testing.T) {
	for _, client := range []bool{false, true} {
		f := &server{}
		s := begun(t, f, client)
		for first := range int64(3) {
			if n, err := s.Do(t.Context(), first*10, 10); n != 10 || err != nil {
				t.Errorf("client %v: %d done: %v", client, n, err)
			}
		}
		if f.committed != 30 || f.looks > 0 || s.Close() != nil || f.released != 1 {
			t.Errorf("client %v: %+v", client, f)
		}
	}
}

func TestLimit(t *testing.T) {
	s := begun(t, &server{}, false)
	s.Limit = 25
	n, err := s.Do(t.Context(), 20, 10)
	if n != 5 || filewise.RemedyOf(err) != "make --work smaller, or use --key sequential" ||
		!strings.Contains(err.Error(), "beyond its row 25") {
		t.Errorf("%d done: %v", n, err)
	}
}

// What is committed when an operation fails is found out, by a connection that is lost too.
func TestFailed(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for _, client := range []bool{false, true} {
			f := &server{failAt: 7, fail: errBroken, open: true, lost: lost, alive: 2}
			s := begun(t, f, client)
			n, err := s.Do(t.Context(), 0, 10)
			if n != 7 || !errors.Is(err, errBroken) || filewise.ClassOf(err) != filewise.ClassOther || f.open || f.looks == 0 {
				t.Errorf("client %v, lost %v: %d done: %v; %+v", client, lost, n, err, f)
			}
			if lost != (f.alive < 0) {
				t.Errorf("the session's end was not awaited: %+v", f)
			}
			if client && !strings.Contains(err.Error(), "connection 1, operation 7: broken") {
				t.Error(err)
			}
		}
	}
}

// An operation may be committed although the connection broke before it reported it.
func TestCommittedUnheard(t *testing.T) {
	f := &server{failAt: 3, fail: errBroken, lost: true}
	s := begun(t, f, true)
	one := s.One
	s.One = func(ctx context.Context, i int64) error {
		err := one(ctx, i)
		if err != nil {
			f.committed = i + 1
		}
		return err
	}
	if n, err := s.Do(t.Context(), 0, 10); n != 4 || !errors.Is(err, errBroken) {
		t.Errorf("%d done: %v", n, err)
	}
}

func TestUnchangedAndDied(t *testing.T) {
	f := &server{failAt: 3, fail: errUntouched}
	if n, err := begun(t, f, true).Do(t.Context(), 0, 10); n != 3 || !errors.Is(err, errUntouched) || f.looks > 0 {
		t.Errorf("%d done after %d looks: %v", n, f.looks, err)
	}
	f = &server{failAt: 3, fail: errBroken, committed: 3}
	s := begun(t, f, true)
	s.Died = func() bool { return true }
	if n, err := s.Do(t.Context(), 0, 10); n != 3 || !errors.Is(err, errBroken) || f.looks > 0 {
		t.Errorf("%d done after %d looks: %v", n, f.looks, err)
	}
}

// The end of the context interrupts on the server, more than once if need be, and its
// cause is the error.
func TestInterrupted(t *testing.T) {
	cause := errors.New("the window is over")
	for _, client := range []bool{false, true} {
		f := &server{slow: true, committed: 2}
		s := begun(t, f, client)
		ctx, cancel := context.WithCancelCause(t.Context())
		f.began = func() { cancel(cause) } // not after a time: on a busy machine that is over before the call begins
		n, err := s.Do(ctx, 0, 10)
		if err != cause || f.interrupts < 2 || f.open || client && n != 1 || !client && n != 2 { //nolint:errorlint // nothing but the cause
			t.Errorf("client %v: %d done: %v; %+v", client, n, err, f)
		}
		before := f.interrupts
		if n, err := s.Do(ctx, 0, 10); n != 0 || err != cause { //nolint:errorlint // the same
			t.Errorf("after the end: %d done: %v", n, err)
		}
		f.slow = false
		if n, err := s.Do(t.Context(), 0, 10); n != 10 || err != nil || f.interrupts != before {
			t.Errorf("of another context: %d done: %v", n, err)
		}
	}
}

func TestNew(t *testing.T) {
	p := filewise.Program{Phases: []filewise.Phase{
		{Operation: "work", Section: "insert", Connections: 3},
		{Operation: "backup", Act: filewise.ActBackup},
		{Operation: "mixed", Client: true, Types: []string{"a", "b"}, Sections: []string{"x", "y"}, Args: typed{}},
		{Operation: "wrong", Client: true, Types: []string{"a", "b"}, Sections: []string{"x", "y"}, Args: args{}},
	}}
	for _, at := range [][2]int{{-1, 0}, {4, 0}, {0, -1}, {0, 3}, {1, 0}, {3, 0}} {
		if _, err := New(p, at[0], at[1]); filewise.CodeOf(err) != filewise.CodeInternal {
			t.Errorf("phase %d, worker %d: %v", at[0], at[1], err)
		}
	}
	s, err := New(p, 2, 1)
	if err != nil || s.Type(2) != 0 || s.Type(3) != 1 {
		t.Errorf("%+v: %v", s, err)
	}
	names, err := Render(s.Phase, func(section string) (string, error) { return section, nil })
	if err != nil || strings.Join(names, " ") != "statement-x statement-y" {
		t.Errorf("%q: %v", names, err)
	}
}

// The machine allocates nothing for an operation.
func TestDoAllocatesNothing(t *testing.T) {
	for _, client := range []bool{false, true} {
		s := begun(t, &server{}, client)
		ctx, cancel := context.WithCancel(t.Context())
		if n := testing.AllocsPerRun(100, func() { _, _ = s.Do(ctx, 0, 1) }); n > 0 {
			t.Errorf("client %v: %v allocations", client, n)
		}
		cancel()
	}
}

// redrawn are arguments that show the attempt.
type redrawn struct{}

func (redrawn) Pool() string { return "" }

func (redrawn) Args(dst []any, _ int, i int64) []any { return append(dst, i, 0) }

func (redrawn) ArgsAgain(dst []any, _ int, i int64, attempt int) []any {
	return append(dst, i, attempt)
}

// An operation whose values make a key that is there gets others, and the next one its own.
func TestDuplicatesAreDrawnAnew(t *testing.T) {
	s := &Session{Phase: filewise.Phase{Args: redrawn{}}}
	duplicate := &filewise.Classed{Class: filewise.ClassDuplicate, Err: errBroken}
	var given []string
	act := func(_ context.Context, i int64) error {
		args := s.Args(nil, i)
		if given = append(given, fmt.Sprint(args)); args[1] != 2 && i == 1 {
			return duplicate
		}
		return nil
	}
	s.Engine = Engine{One: act, Try: act, Rollback: func(context.Context) error { return nil }, Explain: func(err error) error { return err }}
	for first := int64(0); first < 3; {
		n, err := s.Do(t.Context(), first, 3-first)
		if first += n; err != nil && filewise.ClassOf(err) != filewise.ClassDuplicate {
			t.Fatal(err)
		}
	}
	if got := strings.Join(given, " "); got != "[0 0] [1 0] [1 1] [1 2] [2 0]" {
		t.Error(got)
	}
	given = nil
	if err := s.Rehearse(t.Context(), 1); err != nil || strings.Join(given, " ") != "[1 0] [1 1] [1 2]" {
		t.Errorf("%v, %q", err, given)
	}
}
