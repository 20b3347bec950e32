package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"go.temporal.io/api/workflowservice/v1"

	"filewise"
)

// listener rewrites the log messages of Temporal's SDK in Filewise's words. Each appears once, until Temporal has been
// away and answers again. It implements slog.Handler.
type listener struct {
	say  func(string)
	back func(context.Context) error // nil once Temporal answers

	mu   sync.Mutex
	said map[string]bool
	away bool
}

// Enabled implements slog.Handler.
func (l *listener) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// WithAttrs implements slog.Handler. It drops the attributes, which distinguish a worker's tasks.
func (l *listener) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l *listener) WithGroup(string) slog.Handler { return l }

// The SDK's messages if it cannot poll for work, which it retries forever, and if an answer cannot be delivered: the
// workflow gets a new request.
const (
	logPoll = "Failed to poll for task."
	logTask = "Failed to process workflow task."
)

// Handle implements slog.Handler.
func (l *listener) Handle(_ context.Context, r slog.Record) error {
	var err error
	r.Attrs(func(a slog.Attr) bool {
		if is, ok := a.Value.Any().(error); ok {
			err = is
		}
		return err == nil
	})
	switch {
	case r.Message == logPoll && away(err):
		l.lost()
	case (r.Message == logPoll || r.Message == logTask) && err != nil:
		l.once(filewise.Plain(unreachable(err)))
	case r.Level >= slog.LevelError && !errors.Is(err, context.Canceled): // canceled if a campaign requested it
		text := "Temporal: " + strings.TrimSuffix(r.Message, ".")
		if err != nil {
			text += fmt.Sprintf(": %v", err)
		}
		l.once(text)
	}
	return nil
}

func (l *listener) once(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text, _, _ = strings.Cut(text, "\n"); !l.said[text] {
		if l.said == nil {
			l.said = map[string]bool{}
		}
		l.said[text] = true
		l.say(text)
	}
}

// lost reports that Temporal is away and, once it answers, that it is back.
func (l *listener) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return
	}
	l.away = true
	l.say("Temporal does not answer; the question is repeated until it does, and a trial that has begun is finished")
	go func() {
		ctx := context.Background()
		for l.back(ctx) != nil {
			_ = (filewise.RealClock{}).Sleep(ctx, askAgain) // its context does not end
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.away, l.said = false, nil
		l.say("Temporal answers again")
	}()
}

// answers returns nil if Temporal answers.
func (c Campaigns) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeatWithin)
	defer cancel()
	_, err := c.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	return err
}
