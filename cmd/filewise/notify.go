package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/experiment"
	"filewise/machine"
	"filewise/notify"
	"filewise/report"
	"filewise/store"
	"filewise/workload"
)

// notifyFlags say who is told of what: those of run, plan and resume.
type notifyFlags struct {
	urls []string
	on   string

	addresses []notify.Address
	events    []notify.Event
	shown     []string // as stored: without secrets
}

const notifyUsage = "tell this `URL` how the run goes: smtp://, slack://, teams://, ntfy://, or https:// of a webhook; env:NAME or file:PATH hold URLs that nobody should see (repeatable)"

func (f *notifyFlags) register(fs *pflag.FlagSet) {
	all := make([]string, len(notify.Events))
	for i, e := range notify.Events {
		all[i] = string(e)
	}
	f.registerURLs(fs)
	fs.StringVar(&f.on, "notify-on", strings.Join(all, ","), "`events` to tell of, with commas")
}

// registerURLs is for commands that choose no events.
func (f *notifyFlags) registerURLs(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.urls, "notify", nil, notifyUsage)
}

// setNotify puts into the plan who is told, without secrets.
func (f *planFlags) setNotify(cmd *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	if err := f.notify.read(); err != nil {
		return err
	}
	p.Notify = f.notify.shown
	if cmd.Flags().Changed("notify-on") {
		p.NotifyOn = f.notify.on
	}
	return nil
}

// read parses what is given.
func (f *notifyFlags) read() (err error) {
	if f.on != "" {
		if f.events, err = notify.ParseEvents(f.on); err != nil {
			return err
		}
	}
	if slices.Equal(f.urls, []string{"none"}) { // instead of a variable's, or those of the run
		return nil
	}
	for _, given := range f.urls {
		urls, err := notifyURLs(given)
		if err != nil {
			return err
		}
		for _, u := range urls {
			a, err := notify.Parse(u)
			if err != nil {
				return err
			}
			f.addresses = append(f.addresses, a)
			if given == u {
				f.shown = append(f.shown, a.String())
			}
		}
		if !strings.Contains(given, "://") {
			f.shown = append(f.shown, given) // where they are is no secret
		}
	}
	return nil
}

// notifyURLs are those that a value of --notify stands for. In variables and files
// they are apart by spaces or lines; a line that begins with # is a comment.
func notifyURLs(given string) ([]string, error) {
	way, where, _ := strings.Cut(given, ":")
	var text string
	switch way {
	case "env":
		text = os.Getenv(where)
	case "file":
		read, err := secretFile(where)
		if err != nil {
			return nil, err
		}
		text = read
	default:
		return []string{given}, nil
	}
	var out []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			out = append(out, strings.Fields(line)...)
		}
	}
	if len(out) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "put the URL there, or leave --notify out", "--notify %s: there is no URL in it", given)
	}
	return out, nil
}

// secretFile reads a file that not everybody can read.
func secretFile(path string) (string, error) {
	refuse := func(remedy string, err error) (string, error) {
		return "", filewise.Errorf(filewise.CodeUsage, remedy, "--notify file:%s: %w", path, err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return refuse("name a file that you may read", err)
	case !info.Mode().IsRegular():
		return refuse("name a file", errors.New("it is no regular file"))
	case info.Mode().Perm()&0o006 != 0:
		return refuse("chmod 600 "+path, fmt.Errorf("every user of this machine may read or write it (%v)", info.Mode().Perm()))
	case info.Size() > 1<<20:
		return refuse("name the file that holds the URLs alone", errors.New("it is too large"))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return refuse("name a file that you may read", err)
	}
	return string(b), nil
}

// again is for a run that goes on: who is told is as it was, unless given anew. Only
// what holds secrets, which are not stored, has to be.
func (f *notifyFlags) again(cmd *cobra.Command, p experiment.Plan) error {
	if !cmd.Flags().Changed("notify-on") && p.NotifyOn != "" {
		f.on = p.NotifyOn
	}
	if len(f.urls) == 0 {
		for _, shown := range p.Notify {
			if strings.Contains(shown, filewise.Secret("x").String()) {
				return filewise.Errorf(filewise.CodeUsage, "give --notify with the same URL, or --notify none to go on without; env:NAME and file:PATH are found again",
					"the run notifies %s, whose secret is not stored", shown)
			}
		}
		f.urls = p.Notify
	}
	return f.read()
}

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

// ended is how the run ended.
func (n *notices) ended(run store.Run, d report.Data, cause error) {
	if n == nil {
		return
	}
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
	m.Run.Ending, m.Run.Why, m.Run.Verdict = string(run.Ending), n.app.masked(run.Why), n.app.masked(run.Verdict)
	for _, t := range d.Trials {
		switch {
		case t.Cell.Pilot:
		case t.State == filewise.Done:
			m.Run.Trials++
		default:
			m.Run.Failed++
		}
	}
	if n.to.Reports() {
		n.attach(&m, d)
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
		m.Text += "\nThe report could not be made: " + n.app.masked(err.Error())
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
	n.to.Queue(*n.end)
	if ctx.Err() != nil { // Ctrl-C: whoever waits for the prompt waits no longer than this
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		ctx = short
	}
	if err := n.to.Finish(ctx); err != nil {
		for line := range strings.Lines(n.app.masked(err.Error())) {
			fmt.Fprintf(n.app.stderr, "filewise: warning: %s\n", strings.TrimSuffix(line, "\n"))
		}
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
