package run

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"filewise"
)

// A driver that does not give up is left behind, what it returns late is ended, and one that panics is an error.
func TestAsk(t *testing.T) {
	patience, given := askPatience, lateness
	askPatience, lateness = time.Millisecond, 10*time.Millisecond
	t.Cleanup(func() { askPatience, lateness = patience, given })
	there := filewise.Target{Mode: filewise.External, Address: &filewise.Address{Scheme: "mysql", Host: "there"}}
	late, ended := make(chan bool), make(chan bool)
	go func() {
		_, err := Ask(t.Context(), there, "anything", func(context.Context) (int, error) { <-late; return 7, nil },
			func(n int) { ended <- n == 7 })
		if err == nil || !strings.Contains(err.Error(), "no answer within 1ms") {
			t.Error(err)
		}
		close(late)
	}()
	if !<-ended {
		t.Error("what came late is not ended")
	}
	askPatience = time.Minute
	_, err := Ask(t.Context(), there, "anything", func(context.Context) (int, error) { panic("index out of range") }, nil)
	if err == nil || !strings.Contains(err.Error(), "cannot be read (anything)") {
		t.Error(err)
	}
	_, err = Ask(t.Context(), there, "anything", func(context.Context) (int, error) {
		return 0, fmt.Errorf("a driver: %w", context.DeadlineExceeded)
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "no answer within 0s") || filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("a shorter patience: %v", err)
	}
	here := filewise.Target{Mode: filewise.Managed}
	if _, err := Ask(t.Context(), here, "a start", func(ctx context.Context) (int, error) {
		_, limited := ctx.Deadline()
		if limited {
			t.Error("the start of a managed server is limited")
		}
		return 0, nil
	}, nil); err != nil {
		t.Error(err)
	}
}

// silent is a server whose session has gone silent, so that nothing answers the lock.
type silent struct{ filewise.ExternalServer }

func (silent) Lock(ctx context.Context, _ filewise.Holder) (filewise.Lock, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A server that goes silent before it gives the measuring lock holds no run, when the run begins or takes it again.
func TestSilentLock(t *testing.T) {
	before := askPatience
	askPatience = 10 * time.Millisecond
	t.Cleanup(func() { askPatience = before })
	l := &serverLock{server: silent{},
		target: filewise.Target{Mode: filewise.External, Address: &filewise.Address{Scheme: "postgres", Host: "there"}}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for name, take := range map[string]func(context.Context) error{"take": l.take, "renew": l.renew} {
		if err := take(ctx); err == nil || !strings.Contains(err.Error(), "no answer within 10ms to: the measuring lock") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
