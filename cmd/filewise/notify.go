package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/experiment"
	"filewise/machine"
	"filewise/notify"
)

// notices tell people of a run. The nil one tells nobody.
type notices struct {
	app   *app
	to    *notify.Notifier
	plan  experiment.Plan
	needs []spaceNeed     // of the volumes here
	end   *notify.Message // when the run has one

	mu     sync.Mutex
	warned map[string]bool // of volumes that are nearly full
}

// need is the room that layouts need.
func (n *notices) need(needs []spaceNeed) {
	if n != nil && n.plan.Target.Mode != filewise.External {
		n.needs = needs
	}
}

// guard asks the run's own, and looks at the space.
func (n *notices) guard(ask func() error) func() error {
	if n == nil {
		return ask
	}
	return func() error {
		n.watchSpace(false)
		return ask()
	}
}

// await says what is to be said before the run's own await: nothing is sent while a
// trial is measured.
func (n *notices) await(wait func(context.Context, time.Duration) error) func(context.Context, time.Duration) error {
	if n == nil {
		return wait
	}
	return func(ctx context.Context, expected time.Duration) error {
		n.watchSpace(true)
		n.to.Deliver(ctx)
		return wait(ctx, expected)
	}
}

// announce tries every address by the message that the run starts, before anything
// is made ready for it. What goes wrong later stops nothing.
func (a *app) announce(ctx context.Context, f *notifyFlags, p experiment.Plan) (*notices, error) {
	if len(f.addresses) == 0 {
		return nil, nil
	}
	a.hideNotify(f)
	// What is refused anyhow is told here, to whoever has typed it, and nobody else.
	if r, err := prepare(p); err != nil {
		return nil, err
	} else if p.Target.Mode != filewise.External {
		if err := preflight(p, r.scripts); err != nil {
			return nil, err
		}
	}
	n := newNotices(a, f, p)
	return n, n.to.Try(ctx, n.message(notify.Started, "starts", ""))
}

func newNotices(a *app, f *notifyFlags, p experiment.Plan) *notices {
	return &notices{app: a, to: notify.New(f.addresses, f.events), plan: p, warned: map[string]bool{}}
}

// hideNotify keeps secrets out of what is printed, and tells whoever has typed one
// into the command line.
func (a *app) hideNotify(f *notifyFlags) {
	for _, address := range f.addresses {
		a.hide(address.Secrets()...)
	}
	typed := slices.ContainsFunc(f.addresses, func(n notify.Address) bool {
		return slices.ContainsFunc(n.Secrets(), func(s filewise.Secret) bool {
			return slices.ContainsFunc(a.args, func(arg string) bool { return strings.Contains(arg, s.Reveal()) })
		})
	})
	if typed && !a.json {
		fmt.Fprintln(a.stderr, "filewise: hint: others on this machine can see the secret of --notify in the command line (ps); --notify env:NAME, --notify file:PATH and FILEWISE_NOTIFY do not show it")
	}
}

// message begins one; what is the end of its title.
func (n *notices) message(e notify.Event, what, text string) notify.Message {
	p := n.plan
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	run := &notify.Run{Scenario: p.Scenario, Engine: p.Target.Engine, Mode: string(p.Target.Mode)}
	for _, l := range p.Layouts {
		run.Layouts = append(run.Layouts, l.Name)
	}
	if text == "" {
		text = fmt.Sprintf("Layouts: %s. You are told here of what was chosen by --notify-on.", strings.Join(run.Layouts, ", "))
	}
	return notify.Message{
		Event: e, Time: time.Now().UTC().Truncate(time.Second), Host: host, Version: versionString(), Run: run,
		Title: fmt.Sprintf("Filewise: %s on %s %s (%s)", p.Scenario, p.Target.Engine, what, host),
		Text:  n.app.masked(text),
	}
}

// recorded hears of every trial that is stored.
func (n *notices) recorded(t filewise.Trial) {
	if n == nil || t.State != filewise.Failed || t.Cell.Attempt < n.plan.Attempts {
		return
	}
	where := fmt.Sprintf("in block %d", t.Cell.Block)
	if t.Cell.Pilot {
		where = "as a pilot"
	}
	n.to.Queue(n.message(notify.Attention, "needs attention", fmt.Sprintf(
		"%s could not be measured %s: attempt %d failed, and it is not tried again. %s", t.Cell.Layout, where, t.Cell.Attempt, t.Reason)))
}

// nearlyFull is the space in bytes, beside what a layout needs, of which less is told.
const nearlyFull = 4 * reserve

// watchSpace tells once of each volume that is nearly full: between trials there has
// to be room for a layout, and within one the run ends before the last is taken.
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
		n.to.Queue(n.message(notify.Attention, "needs attention", fmt.Sprintf(
			"Volume %s (%s) is nearly full: %s are free. The run ends when less than %s are left; whatever is finished is stored.",
			v.Name, v.Dir, humanize.IBytes(uint64(free)), humanize.IBytes(reserve))))
	}
}

// tryNotify sends a test message to every address.
func (a *app) tryNotify(ctx context.Context, f *notifyFlags) []filewise.Finding {
	a.hideNotify(f)
	var out []filewise.Finding
	host, _ := os.Hostname()
	for _, address := range f.addresses {
		found := filewise.Finding{Check: "notification", Status: filewise.StatusOK, Detail: address.String() + " has taken a test message"}
		err := address.Send(ctx, notify.Message{
			Event: notify.Test, Time: time.Now().UTC().Truncate(time.Second), Host: host, Version: versionString(),
			Title: "Filewise: a test message from " + host, Text: "This address works: filewise doctor --notify has tried it.",
		})
		if err != nil {
			found.Status, found.Detail = filewise.StatusFailed, address.String()+": "+a.masked(err.Error())
			found.Remedy = "mend the URL, or ask whoever runs that server"
		}
		out = append(out, found)
	}
	return out
}
