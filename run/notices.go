package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/host/machine"
	"filewise/lab/experiment"
	"filewise/results/report"
	"filewise/results/store"
	"filewise/watch/notify"
)

// notices sends a run's notifications. A nil *notices sends none.
type notices struct {
	Options
	plan  experiment.Plan
	needs []SpaceNeed     // of volumes on this machine
	end   *notify.Message // nil until the run has ended

	mu     sync.Mutex
	warned map[string]bool // volumes already reported as nearly full
}

// announce sends every address the message that the run starts, before anything is set up. So an address that does not
// work is found now. Later failures to send stop nothing.
func announce(ctx context.Context, p experiment.Plan, o Options) (*notices, error) {
	if o.Notify == nil {
		return nil, nil
	}
	// If the plan is refused before any set-up, no message is sent.
	env, err := Prepare(o.Engine, p)
	if err == nil {
		err = env.Preflight()
	}
	if err != nil {
		return nil, err
	}
	n := newNotices(p, o)
	return n, o.Notify.Try(ctx, n.message(notify.Started, "starts", ""))
}

func newNotices(p experiment.Plan, o Options) *notices {
	return &notices{Options: o, plan: p, warned: map[string]bool{}}
}

// need sets the space that layouts need.
func (n *notices) need(needs []SpaceNeed) {
	if n != nil && len(n.plan.Target.VolumesHere()) > 0 {
		n.needs = needs
	}
}

// guard returns a function that looks at the space and then calls the run's other guard.
func (n *notices) guard(ask func() error) func() error {
	if n == nil {
		return ask
	}
	return func() error {
		n.watchSpace(false)
		return ask()
	}
}

// await sends queued messages before the run waits for anything else. Nothing is sent while a trial is measured.
func (n *notices) await(wait func(context.Context, time.Duration) error) func(context.Context, time.Duration) error {
	if n == nil {
		return wait
	}
	return func(ctx context.Context, expected time.Duration) error {
		n.watchSpace(true)
		n.Notify.Deliver(ctx)
		return wait(ctx, expected)
	}
}

// message returns a message about the run. what is the end of its title.
func (n *notices) message(e notify.Event, what, text string) notify.Message {
	p := n.plan
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	run := &notify.Run{Scenario: p.Scenario, Engine: p.Target.Engine, Mode: string(p.Target.Mode), Layouts: filewise.LayoutNames(p.Layouts)}
	if text == "" {
		text = fmt.Sprintf("Layouts: %s. Events sent here are chosen by --notify-on.", strings.Join(run.Layouts, ", "))
	}
	return notify.Message{
		Event: e, Time: time.Now().UTC().Truncate(time.Second), Host: host, Version: n.Version, Run: run,
		Title: fmt.Sprintf("Filewise: %s on %s %s (%s)", p.Scenario, p.Target.Engine, what, host),
		Text:  n.hide(text),
	}
}

// recorded gets every stored trial, and queues a message if the trial failed in its last attempt.
func (n *notices) recorded(t filewise.Trial) {
	if n == nil || t.State != filewise.Failed || t.Cell.Attempt < n.plan.Attempts || experiment.Void(t) {
		return
	}
	where := fmt.Sprintf("in block %d", t.Cell.Block)
	if t.Cell.Pilot {
		where = "as a pilot"
	}
	n.attention("%s could not be measured %s: attempt %d failed, and it is not tried again. %s",
		t.Cell.Layout, where, t.Cell.Attempt, t.Reason)
}

// attention queues a message that a person must act on.
func (n *notices) attention(format string, args ...any) {
	n.Notify.Queue(n.message(notify.Attention, "needs attention", fmt.Sprintf(format, args...)))
}

// nearlyFull is the free space in bytes below which a message is sent. Between trials, a layout's need is added.
const nearlyFull = 4 * Reserve

// watchSpace reports each volume that is nearly full, once. Between trials a layout must fit. During a trial, the
// message comes before the run ends for lack of space.
func (n *notices) watchSpace(between bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, need := range n.needs {
		v, least := need.Volume, int64(nearlyFull)
		if between {
			least += need.Need
		}
		free, err := machine.Free(v.Dir)
		if err != nil || free >= least || n.warned[v.Name] {
			continue
		}
		n.warned[v.Name] = true
		n.attention("Volume %s (%s) is nearly full: %s are free. The run ends when less than %s are left; finished trials are stored.",
			v.Name, v.Dir, humanize.IBytes(uint64(free)), humanize.IBytes(Reserve))
	}
}

// decisions returns a judgement's decisions in the form that messages have.
func decisions(j experiment.Judgement) []notify.Decision {
	var out []notify.Decision
	for _, d := range j.Decisions() {
		out = append(out, notify.Decision{Operation: d.Operation, Decision: string(d.Decision), Layout: d.Layout, BoundPercent: d.BoundPercent,
			MarginPercent: d.MarginPercent})
	}
	return out
}

// ended prepares the message about the run's end, which close sends.
func (n *notices) ended(out Outcome, cause error) {
	if n == nil {
		return
	}
	run := out.Run
	event, what := endOf(run)
	text := run.Verdict
	if run.Why != "" {
		text += "\nIt ended because: " + run.Why + "."
	}
	if cause != nil {
		text += "\n" + cause.Error()
		if remedy := filewise.RemedyOf(cause); remedy != "" {
			text += " → " + remedy
		}
	}
	text += fmt.Sprintf("\nfilewise show %d and filewise report %d say more.", run.ID, run.ID)
	m := n.message(event, what, strings.TrimLeft(text, "\n"))
	m.Run.ID, m.Run.State, m.Run.Started, m.Run.Ended = run.ID, string(run.State), &run.Started, run.Ended
	m.Run.Ending, m.Run.Why, m.Run.Verdict = string(run.Ending), n.hide(run.Why), n.hide(run.Verdict)
	m.Run.Decisions = decisions(out.Data.Judgement)
	for _, t := range out.Data.Trials {
		switch {
		case t.Cell.Pilot:
		case t.State == filewise.Done:
			m.Run.Trials++
		default:
			m.Run.Failed++
		}
	}
	if n.Notify.Reports() {
		n.attach(&m, out.Data)
	}
	n.end = &m
}

// endOf returns the event of a run's end for programs, and words for people.
func endOf(run store.Run) (notify.Event, string) {
	switch {
	case run.State == store.Interrupted:
		return notify.Attention, "was interrupted: filewise resume goes on"
	case run.State == store.Failed:
		return notify.Failed, "failed"
	case run.Ending == experiment.Decided:
		return notify.Decided, "is decided"
	}
	return notify.Done, "is done"
}

// attach adds the result as text, and the report, to a message.
func (n *notices) attach(m *notify.Message, d report.Data) {
	var text, html bytes.Buffer
	err := errors.Join(report.Terminal(&text, d, report.TerminalOptions{Width: 78}), report.HTML(&html, d))
	if err != nil {
		m.Text += "\nThe report could not be made: " + n.hide(err.Error())
		return
	}
	m.Details, m.Report, m.ReportName = text.String(), html.Bytes(), fmt.Sprintf("filewise-%d.html", d.RunID)
}

// close sends the message about the end, after all measuring. If the run did not end by itself, err is the reason. A
// message that cannot be sent becomes a warning.
func (n *notices) close(ctx context.Context, err error) {
	if n == nil {
		return
	}
	if n.end == nil {
		text := "It ended before its first trial."
		if err != nil {
			text = err.Error()
		}
		m := n.message(notify.Failed, "failed", text)
		n.end = &m
	}
	n.Notify.Queue(*n.end)
	if ctx.Err() != nil { // a user who interrupted the run waits no longer
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		ctx = short
	}
	if err := n.Notify.Finish(ctx); err != nil && n.Warn != nil {
		for line := range strings.Lines(n.hide(err.Error())) {
			n.Warn(strings.TrimSuffix(line, "\n"))
		}
	}
}
