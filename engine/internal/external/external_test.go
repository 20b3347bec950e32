package external

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/internal/marker"
)

// shelf is a catalogue of objects that are as they are reported to be.
type shelf struct {
	objects []Object
	dropped []string
}

func (s *shelf) Names(context.Context) ([]Name, error) {
	var all []Name
	for _, o := range s.objects {
		all = append(all, o.Name)
	}
	return all, nil
}

func (s *shelf) Look(_ context.Context, n Name) (Object, bool, error) {
	i := slices.IndexFunc(s.objects, func(o Object) bool { return o.Name == n })
	if i < 0 {
		return Object{}, false, nil
	}
	return s.objects[i], true, nil
}

func (s *shelf) Drop(_ context.Context, o Object) error {
	s.dropped = append(s.dropped, o.Name.Name)
	return nil
}

func markerOf(t *testing.T, name string) string {
	t.Helper()
	m, err := marker.New(name, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return m.Text()
}

// What carries the marker is listed, what lives, is used or holds others' is kept, and
// what is not Filewise's is neither listed nor removed.
func TestLeftovers(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*Object)
		kept   string // "-": it is not listed
		code   filewise.Code
	}{
		"its run lives": {func(o *Object) { o.Marker = markerOf(t, o.Name.Name) }, "still runs", filewise.CodeBusy},
		"others' things": {func(o *Object) { o.Marker, o.Others = markerOf(t, o.Name.Name), "my_precious" }, "did not make: my_precious",
			filewise.CodePreflight},
		"empty and unmarked": {func(o *Object) { o.Empty = true }, "", ""},
		"used and unmarked":  {func(o *Object) { o.Empty, o.Used = true, "2 sessions" }, "2 sessions", filewise.CodeBusy},
		"young and unmarked": {func(o *Object) { o.Empty, o.Young = true, "too young" }, "too young", filewise.CodeBusy},
		"cannot be read":     {func(o *Object) { o.Stays = "it is offline" }, "offline", filewise.CodePreflight},
		"full and unmarked":  {func(*Object) {}, "-", filewise.CodePreflight},
		"another's mark":     {func(o *Object) { o.Marker, o.Empty = markerOf(t, marker.NewName()), true }, "-", filewise.CodePreflight},
		"a damaged mark":     {func(o *Object) { o.Marker, o.Empty = markerOf(t, o.Name.Name)[1:], true }, "-", filewise.CodePreflight},
		"a user's name":      {func(o *Object) { o.Name.Name, o.Empty = "filewise_prod", true }, "-", filewise.CodePreflight},
	} {
		o := Object{Name: Name{"database", marker.NewName()}}
		c.change(&o)
		s := &shelf{objects: []Object{o}}
		found, err := Leftovers(t.Context(), s)
		if err != nil || len(found) == 0 != (c.kept == "-") || len(found) > 0 &&
			(found[0].Kept == "" != (c.kept == "") || !strings.Contains(found[0].Kept, c.kept)) {
			t.Errorf("%s: %+v %v", what, found, err)
		}
		err = Remove(t.Context(), s, filewise.Leftover{Kind: o.Kind, Name: o.Name.Name, Unmarked: o.Empty})
		if (err == nil) != (c.code == "") || err != nil && (filewise.CodeOf(err) != c.code || filewise.RemedyOf(err) == "") ||
			len(s.dropped) > 0 != (c.code == "") {
			t.Errorf("%s: %v, dropped %v", what, err, s.dropped)
		}
	}
	gone := filewise.Leftover{Kind: "database", Name: marker.NewName()}
	if err := Remove(t.Context(), &shelf{}, gone); filewise.CodeOf(err) != filewise.CodeNotFound {
		t.Errorf("gone: %v", err)
	}
	s := &shelf{objects: []Object{{Name: Name{"database", gone.Name}, Empty: true}}}
	if err := Remove(t.Context(), s, gone); err == nil || len(s.dropped) > 0 {
		t.Errorf("what was listed as marked and is not, was removed: %v", err)
	}
}

// tokens are the claims of one server.
type tokens struct{ taken *token }

type token struct {
	all    *tokens
	closed bool
	lost   error
}

func (k *token) Take(context.Context) error {
	if k.all.taken != nil {
		return fmt.Errorf("it says no: %w", ErrTaken)
	}
	k.all.taken = k
	return nil
}
func (k *token) Check(context.Context) error   { return k.lost }
func (k *token) Release(context.Context) error { k.all.taken = nil; return k.lost }
func (k *token) Close() error                  { k.closed = true; return nil }

func TestLock(t *testing.T) {
	all := &tokens{}
	measuring := func(k *token, who string) Measuring {
		return Measuring{Claim: k, Holder: func(context.Context) string { return who },
			Explain: func(err error) error { return fmt.Errorf("explained: %w", err) }}
	}
	one, two := &token{all: all}, &token{all: all}
	lock, err := measuring(one, "").Lock(t.Context())
	if err != nil || lock.Held(t.Context()) != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"", "ada"} {
		_, err := measuring(two, who).Lock(t.Context())
		if filewise.CodeOf(err) != filewise.CodeBusy || filewise.RemedyOf(err) == "" || !two.closed ||
			!strings.Contains(err.Error(), map[bool]string{true: "another Filewise", false: "ada"}[who == ""]+" measures") {
			t.Errorf("%v", err)
		}
	}
	one.lost = errors.New("gone")
	for _, err := range []error{lock.Held(t.Context()), lock.Release()} {
		if !errors.Is(err, one.lost) || !strings.Contains(err.Error(), "explained") {
			t.Errorf("lost: %v", err)
		}
	}
	if !one.closed || all.taken != nil {
		t.Errorf("after its release: %+v", one)
	}
}

func TestUndo(t *testing.T) {
	failure := errors.New("no")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Undo(ctx, time.Minute, failure, func(ctx context.Context) error { return ctx.Err() }); err.Error() != "no" {
		t.Error(err)
	}
}

// endless is an answer whose rest a driver reads until its connection is closed.
type endless struct {
	driver.Rows
	closed chan struct{}
}

func (e endless) Close() error { <-e.closed; return io.ErrUnexpectedEOF }

// The connection of an answer without end is closed.
func TestRestOfAnAnswer(t *testing.T) {
	before := restPatience
	restPatience = time.Millisecond
	t.Cleanup(func() { restPatience = before })
	e := endless{closed: make(chan struct{})}
	of := &careful{from: recovering{Traits: Traits{Cut: func(driver.Conn) { close(e.closed) }}}}
	if err := (&carefulRows{Rows: e, conn: of}).Close(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}
