// Package progress shows how far a long step has come: on a terminal in one line that is redrawn, elsewhere by a line
// every half minute. It does not show steps that end soon.
package progress

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/ansi"

	"filewise/internal/say"
)

const (
	interval = 250 * time.Millisecond // between two drawings
	patience = 2 * time.Second        // without output on a terminal
	// Silence is the time without output elsewhere than on a terminal.
	Silence = 30 * time.Second
)

// Board holds the steps under way. The zero value shows them to no terminal. A nil *Board holds none.
type Board struct {
	mu     sync.Mutex
	steps  []*Step
	owners int  // callers that show the steps themselves
	ticks  bool // a goroutine shows the steps
	drawn  bool // a line of the board is on the terminal
	mid    bool // another writer has not ended its line
	to     io.Writer
	live   bool       // the board writes to a live terminal
	width  func() int // width of the terminal
	said   time.Time  // when another writer, or a line, last wrote
}

// Show makes the board write to w, which is a live terminal with a width, or something else. It is called before the
// first step.
func (b *Board) Show(w io.Writer, live bool, width func() int) {
	b.to, b.live, b.width, b.said = w, live, width, time.Now()
}

type key struct{}

// With returns a context whose steps are put on the board.
func With(ctx context.Context, b *Board) context.Context { return context.WithValue(ctx, key{}, b) }

// Of returns the board of a context, or nil if it has none.
func Of(ctx context.Context) *Board {
	b, _ := ctx.Value(key{}).(*Board)
	return b
}

// Step is a step that may take long. It is safe for concurrent use.
type Step struct {
	board       *Board
	what, unit  string
	begun       time.Time
	done, total atomic.Int64
}

// Begin puts a step on the context's board until its End. total is the expected sum of all Add calls; 0 means not
// known. unit names in the plural what is counted; empty means bytes.
func Begin(ctx context.Context, what string, total int64, unit string) *Step {
	s := &Step{board: Of(ctx), what: what, unit: unit, begun: time.Now()}
	s.total.Store(total)
	if b := s.board; b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.steps = append(b.steps, s)
		if b.to != nil && b.owners == 0 && !b.ticks {
			b.ticks = true
			go b.loop()
		}
	}
	return s
}

// Add adds finished work, in the step's unit.
func (s *Step) Add(n int64) { s.done.Add(n) }

// End removes the step from the board.
func (s *Step) End() {
	if b := s.board; b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.steps = slices.DeleteFunc(b.steps, func(x *Step) bool { return x == s })
		b.erase()
	}
}

// Reader returns a reader that adds the bytes read to the step.
func (s *Step) Reader(r io.Reader) io.Reader { return &counted{r, s} }

type counted struct {
	io.Reader
	step *Step
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.step.Add(int64(n))
	return n, err
}

// text describes the step's progress, with a bar of this many cells. 0 means no bar.
func (s *Step) text(now time.Time, cells int) string {
	done, total, took := s.done.Load(), s.total.Load(), now.Sub(s.begun)
	amount := func(n int64) string { return fmt.Sprintf("%d %s", n, s.unit) }
	rate := fmt.Sprintf("%s a second", say.Sig3(float64(done)/took.Seconds()))
	if s.unit == "" {
		amount = say.Size
		rate = say.Size(int64(float64(done)/took.Seconds())) + "/s"
	}
	parts := []string{say.Human(took.Round(time.Second)) + " so far"}
	switch {
	case done > 0 && total >= done:
		share := float64(done) / float64(total)
		left := time.Duration(float64(took) * (1/share - 1))
		parts = []string{fmt.Sprintf("%.0f %%", 100*share), amount(done) + " of " + amount(total), rate,
			say.Human(left.Round(time.Second)) + " left"}
		if cells > 0 {
			parts[0] = Bar(share, cells) + " " + parts[0]
		}
	case done > 0:
		parts = []string{amount(done), rate, parts[0]}
	}
	return s.what + ": " + strings.Join(parts, ", ")
}

// Bar returns a bar of this many cells, filled to the given share.
func Bar(share float64, cells int) string {
	full := min(max(int(share*float64(cells)), 0), cells)
	return "[" + strings.Repeat("#", full) + strings.Repeat("·", cells-full) + "]"
}

// Text describes the step that began last. It is empty if none is under way.
func (b *Board) Text(now time.Time) string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.steps) == 0 {
		return ""
	}
	return b.steps[len(b.steps)-1].text(now, 0)
}

// Own lets the caller alone show the steps, until it calls release.
func (b *Board) Own() (release func()) {
	if b == nil {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owners++
	b.erase()
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.owners--
	})
}

// Before is called with the text that another writer is about to write to the terminal. It first removes the step's
// line. A result ends all steps.
func (b *Board) Before(text []byte, result bool) {
	if b == nil || len(text) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	b.mid, b.said = text[len(text)-1] != '\n', time.Now()
	if result {
		b.steps = nil
	}
}

func (b *Board) loop() {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for now := range tick.C {
		if !b.show(now) {
			return
		}
	}
}

// show shows the last step. It returns false if there is none.
func (b *Board) show(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.steps) == 0 || b.owners > 0 {
		b.ticks = false
		return false
	}
	s := b.steps[len(b.steps)-1]
	switch quiet := now.Sub(b.said); {
	case b.live && quiet >= patience && !b.mid:
		width := max(b.width(), 20)
		b.write("\r" + ansi.Truncate(s.text(now, min(20, width/5)), width-1, "…") + ansi.EraseLineRight)
		b.drawn = true
	case !b.live && quiet >= Silence:
		b.write("filewise: " + s.text(now, 0) + "\n")
		b.said = now
	}
	return true
}

func (b *Board) erase() {
	if b.drawn {
		b.write("\r" + ansi.EraseLineRight)
		b.drawn = false
	}
}

// write writes to a reader that may be gone, and ignores errors: they must not end what is shown.
func (b *Board) write(text string) { _, _ = io.WriteString(b.to, text) }
