package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"filewise"
	"filewise/experiment"
	"filewise/notify"
	"filewise/report"
	"filewise/store"
)

// ended is how the run ended.
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

// endOf is the event of a run's end, in a word for programs and some for people.
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

// attach adds the result as text, and the report.
func (n *notices) attach(m *notify.Message, d report.Data) {
	var text, html bytes.Buffer
	err := errors.Join(report.Terminal(&text, d, report.TerminalOptions{Width: 78}), report.HTML(&html, d))
	if err != nil {
		m.Text += "\nThe report could not be made: " + n.hide(err.Error())
		return
	}
	m.Details, m.Report, m.ReportName = text.String(), html.Bytes(), fmt.Sprintf("filewise-%d.html", d.RunID)
}

// close tells of the end, when nothing is measured any more. A run that did not come
// to its end ended with err. What cannot be told is a warning.
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
	if ctx.Err() != nil { // whoever has interrupted the run waits no longer than this
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
