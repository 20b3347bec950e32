package external

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"filewise"
	"filewise/engine/internal/sqlfile"
)

// Trace reports each statement at its first time, and each failure.
type Trace struct {
	Report  func(filewise.Finding)
	Explain func(error) error

	wanted atomic.Bool // failures are: what follows them is tried
	mu     sync.Mutex
	seen   map[string]bool
}

// Saw takes a statement that was executed, by its section; one without is known by
// its text.
func (t *Trace) Saw(section, text string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text = sqlfile.Short(text)
	key := section
	if key == "" {
		key = text
	}
	if t.wanted.Load() || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	if t.seen[key] && err == nil {
		return
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[key] = true
	if section == "" {
		section = fmt.Sprint(len(t.seen))
	}
	f := filewise.Finding{Check: "statement " + section, Status: filewise.StatusOK, Detail: text}
	if err != nil {
		err = t.Explain(err)
		f.Status, f.Detail, f.Remedy = filewise.StatusFailed, fmt.Sprintf("%s: %v", text, err), remedy(err)
	}
	t.Report(f)
}

// Untried reports those of the sections that no step came to.
func (t *Trace) Untried(sections []string) {
	for _, s := range sections {
		if !t.seen[s] {
			t.Report(filewise.Finding{Check: "statement " + s, Status: filewise.StatusNote, Detail: "no step came to it",
				Remedy: "see the steps that failed"})
		}
	}
}
