package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/internal/progress"
)

// manually is the setting under which sessions begin transactions by themselves. A study sets it for none, since its
// transactions have their own begin and end.
const manually = "autocommit"

// accustomed observes the transactions, and reads the settings on which their statements depend.
func (t *taking) accustomed(ctx context.Context, e Capturer) (kinds []kind, err error) {
	const what = "settings of the database"
	if t.Settings, err = t.watcher.Settings(ctx, nil); err != nil {
		if err := t.unread(ctx, what, err); err != nil {
			return nil, err
		}
	}
	if kinds, err = t.observe(ctx, e); err != nil {
		return nil, err
	}
	if len(t.inLog) > 0 {
		if t.Settings, err = t.watcher.Settings(ctx, t.inLog); err != nil {
			err = t.unread(ctx, what, err)
		}
	}
	delete(t.Settings, manually)
	return kinds, err
}

func (t *taking) observe(ctx context.Context, e Capturer) ([]kind, error) {
	if t.Log != nil {
		if err := t.sessions(ctx, 0); err != nil {
			return nil, err
		}
		step := progress.Begin(ctx, "reading "+t.LogName, t.LogSize, "")
		defer step.End()
		kinds, err := t.readLog(ctx, e, step.Reader(t.Log))
		if t.Interrupted = ctx.Err() != nil && errors.Is(err, context.Canceled); t.Interrupted {
			return kinds, nil
		}
		if err != nil {
			err = fmt.Errorf("log %s: %w", t.LogName, err)
		}
		return kinds, err
	}
	before := map[string]filewise.CountedStatement{}
	start := time.Now()
	if t.For > 0 {
		counted, err := t.watcher.Counted(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range counted {
			before[s.ID] = s
		}
		start = time.Now()
	}
	if err := t.sessions(ctx, t.For); err != nil {
		t.Interrupted, ctx = true, context.WithoutCancel(ctx)
	}
	after, err := t.watcher.Counted(ctx)
	if err != nil {
		return nil, err
	}
	if t.For > 0 {
		t.Seconds = time.Since(start).Seconds()
	}
	var kinds []kind
	known := map[string]int{}
	for _, s := range after {
		if b := before[s.ID]; b.Calls <= s.Calls { // otherwise the counts were reset in between
			s.Calls, s.Seconds, s.Rows = s.Calls-b.Calls, max(s.Seconds-b.Seconds, 0), max(s.Rows-b.Rows, 0)
		}
		if s.Calls <= 0 {
			continue
		}
		key := s.Hidden + "\x00" + cmp.Or(s.Key, "\x00"+s.ID) // lists of other lengths give one statement several IDs
		n, is := known[key]
		if !is {
			n = len(kinds)
			known[key] = n
			kinds = append(kinds, kind{texts: []string{s.Text}, keys: []string{s.Key}, hidden: s.Hidden})
		}
		k := &kinds[n]
		k.calls, k.seconds, k.rows = k.calls+s.Calls, k.seconds+s.Seconds, k.rows+s.Rows
	}
	return kinds, nil
}

// sessions counts every second, for a time or once, how many sessions work. If the server does not show them, the
// number stays unknown.
func (t *taking) sessions(ctx context.Context, d time.Duration) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	end := time.After(d)
	step := progress.Begin(ctx, "watching "+t.Database, int64(d.Seconds()), "s")
	defer step.End()
	for looks := 1.0; ; looks++ {
		if active, connected, err := t.watcher.Sessions(ctx); err == nil {
			t.Active += (float64(active) - t.Active) / looks
			t.MostActive, t.Connected = max(t.MostActive, active), max(t.Connected, connected)
		}
		if d == 0 {
			return nil
		}
		select {
		case <-tick.C:
			step.Add(1)
		case <-end:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
