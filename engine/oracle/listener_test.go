package oracle

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sijms/go-ora/v2/network"
)

// fakeListener hands out so many connections until the instance reports to it how many have ended.
type fakeListener struct{ handlers, asked, refused int }

func (l *fakeListener) connect(context.Context) error {
	l.asked++
	if l.handlers == 0 {
		if l.refused++; l.refused%4 == 0 { // the instance's word has come
			l.handlers = 50
		}
		return network.NewOracleError(full[l.refused%len(full)])
	}
	l.handlers--
	return nil
}

// TestListenerIsWaitedFor: a connection for each statement goes on after the 50th; other refusals are reported at once,
// and waiting ends with the patience or the context.
// First contact: Oracle 2.
func TestListenerIsWaitedFor(t *testing.T) {
	l := &fakeListener{handlers: 50}
	for i := range 400 {
		if err := patiently(t.Context(), time.Minute, time.Microsecond, l.connect); err != nil {
			t.Fatalf("connection %d: %v", i+1, err)
		}
	}
	if l.refused < 7*4 {
		t.Errorf("only %d refusals", l.refused)
	}
	asked := 0
	refusing := func(code int) func(context.Context) error {
		return func(context.Context) error { asked++; return network.NewOracleError(code) }
	}
	if err := patiently(t.Context(), time.Minute, time.Microsecond, refusing(1017)); codeOf(err) != 1017 || asked != 1 {
		t.Errorf("%v after %d", err, asked)
	}
	if err := patiently(t.Context(), 20*time.Millisecond, time.Millisecond, refusing(12519)); codeOf(err) != 12519 || asked < 3 {
		t.Errorf("%v after %d", err, asked)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no more"))
	if err := patiently(ctx, time.Hour, time.Hour, refusing(12520)); codeOf(err) != 12520 {
		t.Errorf("%v", err)
	}
}
