// Package display shows a run while it is measured: as a live picture on a terminal, as plain lines elsewhere. It uses
// the measured cores, so it draws at most four pictures a second. No measurement waits for a slow terminal.
package display

import (
	"fmt"
	"io"
	"time"

	"github.com/charmbracelet/x/ansi"

	"filewise"
	"filewise/internal/progress"
	"filewise/internal/say"
	"filewise/lab/drive"
	"filewise/lab/experiment"
	"filewise/results/report"
	"filewise/results/report/document"
)

// interval is the time between two pictures.
const interval = 250 * time.Millisecond

// Options holds the display's settings.
type Options struct {
	Live  bool // the output is a terminal that understands cursor movement
	Color bool
	// Size returns the terminal's columns and rows. It is called before every picture, since the terminal may be resized.
	// 0 means unknown. If Size is nil, the terminal has 80 × 24.
	Size func() (width, height int)
	// Board holds the steps within a stage, which are shown with the stage. Nil means none.
	Board *progress.Board
}

func (o Options) size() (width, height int) {
	if o.Size != nil {
		width, height = o.Size()
	}
	if width <= 0 {
		width = 80
	}
	if height <= 0 {
		height = 24
	}
	return width, height
}

// Display shows one run.
type Display struct {
	w    io.Writer
	opts Options
	data report.Data

	state      state
	picture    []int    // the widths of the lines on the screen
	tableLines []string // estimates after tableOf trials, tableWidth columns wide
	forecasts  string   // the last one printed
	relevance  bool     // it was printed, since the pilots are over
	tableOf    int
	tableWidth int
	events     chan experiment.Event
	done       chan struct{}
	said       time.Time // time of the last print
	release    func()    // releases the board
}

// state holds what is known of the run now.
type state struct {
	cell      filewise.Cell
	stage     string
	live      *drive.Live
	trials    []filewise.Trial
	judgement experiment.Judgement
	started   time.Time // start of this trial
	since     time.Time // when the last trial was recorded, or a wait ended
	waiting   string    // what the next trial waits for. Empty means nothing
}

// New starts the display of a run. d holds the run's earlier trials.
func New(w io.Writer, d report.Data, opts Options) *Display {
	x := &Display{w: w, opts: opts, data: d, events: make(chan experiment.Event, 64), done: make(chan struct{})}
	x.release = opts.Board.Own()
	x.state.trials, x.state.judgement, x.state.since = d.Trials, d.Judgement, time.Now()
	if j, err := d.Plan.Judge(d.Trials); err == nil {
		x.state.judgement = j
	}
	headline := document.Clean(x.headline())
	if width, _ := opts.size(); opts.Live {
		headline = ansi.Wrap(headline, width, "")
	}
	x.printf("%s\n", headline)
	go x.loop()
	return x
}

// Notify receives an event. It never blocks: events that the display cannot keep up with are left out.
func (x *Display) Notify(e experiment.Event) {
	select {
	case x.events <- e:
	default:
	}
}

// Close draws the last events, removes the picture and ends the display.
func (x *Display) Close() {
	close(x.events)
	<-x.done
	x.release()
}

func (x *Display) loop() {
	defer close(x.done)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case e, open := <-x.events:
			if !open {
				x.erase()
				return
			}
			x.apply(e)
		case now := <-tick.C:
			switch {
			case x.opts.Live:
				x.draw(now)
			case now.Sub(x.said) >= progress.Silence:
				x.line(x.status(now) + ", " + say.Human(now.Sub(x.begun()).Round(time.Second)) + " so far")
			}
		}
	}
}

// begun returns when the step that the status shows began.
func (x *Display) begun() time.Time {
	if x.state.started.IsZero() {
		return x.state.since
	}
	return x.state.started
}

func (x *Display) apply(e experiment.Event) {
	s := &x.state
	switch e.Kind {
	case experiment.EventWaiting:
		s.waiting = e.Waits()
		if !x.opts.Live {
			x.line(s.waiting)
		}
	case experiment.EventDesign:
		x.erase()
		x.say(e.Why)
		x.data.Plan = *e.Plan
	case experiment.EventStage:
		if s.waiting != "" {
			s.waiting, s.since = "", time.Now()
		}
		if s.cell != e.Cell || s.started.IsZero() {
			s.cell, s.started, s.live = e.Cell, time.Now(), nil
			x.relevanceOnce()
		}
		s.stage = e.Stage
		if e.Live != nil {
			s.live = e.Live
		}
	case experiment.EventRecorded:
		s.trials = append(s.trials, *e.Trial)
		s.judgement = e.Judgement
		s.started, s.since = time.Time{}, time.Now()
		if !x.opts.Live {
			x.say(report.Recorded(x.shown(), *e.Trial))
			x.forecastOnce()
		}
	}
}

// line prints a text without characters that control the terminal.
func (x *Display) line(text string) { x.printf("%s\n", document.Clean(text)) }

func (x *Display) printf(format string, args ...any) {
	x.said = time.Now()
	// A terminal that is gone must not end a measurement.
	_, _ = fmt.Fprintf(x.w, format, args...)
}
