package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"filewise"
	"filewise/display"
	"filewise/experiment"
	"filewise/report"
	"filewise/scratch"
	"filewise/store"
	"filewise/web"
)

// pageFlags say where the live page is: those of run and resume.
type pageFlags struct {
	address   string
	tokenFile string
}

func (f *pageFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.address, "serve", "", "show the run on a live page meanwhile, with /metrics, at `address` (alone: "+web.DefaultAddress+"; an address that others can reach wants the token for everything)")
	fs.Lookup("serve").NoOptDefVal = web.DefaultAddress
	f.registerToken(fs)
}

func (f *pageFlags) registerToken(fs *pflag.FlagSet) {
	fs.StringVar(&f.tokenFile, "token-file", "", "`file` with the live page's token; made if it is not there (default: in Filewise's state directory)")
}

// openPage opens the live page where it is asked for: before anything is set up,
// so that an address that is taken is found then.
func (a *app) openPage(f *pageFlags) error {
	if f.address == "" {
		return nil
	}
	state, err := scratch.StateDir()
	if err != nil {
		return err
	}
	if f.tokenFile == "" {
		f.tokenFile = filepath.Join(state, "token")
	}
	token, err := web.Token(f.tokenFile)
	if err != nil {
		return err
	}
	a.secrets = append(a.secrets, token)
	st, err := a.pathOfStore()
	if err != nil {
		return err
	}
	a.page, err = web.Listen(web.Config{Address: f.address, Token: token, Sockets: socketsIn(state), Archive: archive{a, st}, Version: versionString()})
	if err != nil {
		return err
	}
	return a.tellPage(f.tokenFile, token)
}

// closePage ends the live page; the pages that are open hear of it.
func (a *app) closePage() {
	if a.page != nil {
		a.page.Close()
		a.page = nil
	}
}

// tellPage says where the page is. Only on a terminal does it show the token, which
// a log would keep.
func (a *app) tellPage(tokenFile string, token filewise.Secret) error {
	w := &lineWriter{w: a.stderr}
	if _, ok := terminal(a.stderr); ok {
		w.printf("Live page: %s#token=%s\n", a.page.URL(), token.Reveal())
	} else {
		w.printf("Live page: %s (the token is in %s)\n", a.page.URL(), tokenFile)
	}
	if !a.page.Loopback() {
		w.printf("  → The address can be reached from other hosts, and the line is not encrypted: ssh -L, or a proxy with TLS, is safer.\n")
	}
	return w.err
}

// socketsIn is where the runs of this user can be asked.
func socketsIn(state string) string { return filepath.Join(state, "live") }

// liveRun is a run of this process, as it can be looked at.
type liveRun struct {
	*web.Monitor
	app   *app
	show  *display.Display
	run   int64
	close func()
}

// watched lets the live page look at a run: that of this process, and through a
// socket that of "filewise serve". A socket that cannot be made is no reason not to
// measure.
func (a *app) watched(run store.Run, done []filewise.Trial, path string, show *display.Display, stop func()) (*liveRun, error) {
	d, err := data(run, done, experiment.Judgement{})
	if err != nil {
		return nil, err
	}
	l := &liveRun{Monitor: web.NewMonitor(d, path, stop), app: a, show: show, run: run.ID, close: func() {}}
	if a.page != nil {
		a.page.Show(l.Monitor)
	}
	if state, err := scratch.StateDir(); err == nil {
		if hide, err := l.Expose(socketsIn(state)); err == nil {
			l.close = hide
		}
	}
	return l, nil
}

// hear tells the terminal and the live page of an event, without secrets.
func (l *liveRun) hear(e experiment.Event) {
	if e.Trial != nil {
		t := *e.Trial
		t.Reason = filewise.Hide(t.Reason, l.app.secrets...)
		e.Trial = &t
	}
	l.show.Notify(e)
	l.Notify(e)
}

// await waits while the run is paused, and then for what else a trial waits for.
func (l *liveRun) await(then func(context.Context, time.Duration) error) func(context.Context, time.Duration) error {
	return func(ctx context.Context, expected time.Duration) error {
		if err := l.Await(ctx, l.hear); err != nil {
			return err
		}
		return then(ctx, expected)
	}
}

// ended shows the run as it is stored in the end.
func (l *liveRun) ended(ctx context.Context, st *store.Store) {
	s, err := loadFrom(context.WithoutCancel(ctx), st, fmt.Sprint(l.run))
	if err != nil {
		return // the page shows what it had
	}
	if d, err := s.data(); err == nil {
		l.End(d)
	}
}

// archive is the store as the live page reads it.
type archive struct {
	app  *app
	path string
}

func (r archive) Path() string { return r.path }

func (r archive) Runs(ctx context.Context) ([]store.RunInfo, error) { return r.app.runs(ctx) }

func (r archive) Run(ctx context.Context, id int64) (report.Data, error) {
	s, err := r.app.load(ctx, fmt.Sprint(id))
	if err != nil {
		return report.Data{}, err
	}
	return s.data()
}

func (r archive) Compare(ctx context.Context, before, after string) (any, error) {
	b, err := r.app.load(ctx, before)
	if err != nil {
		return nil, err
	}
	c, err := r.app.load(ctx, after)
	if err != nil {
		return nil, err
	}
	return compareRuns(b, c, compareConfidence/100.0, nil)
}

// pathOfStore is the store's file, whether there is one or not.
func (a *app) pathOfStore() (string, error) {
	if a.storePath != "" {
		return filepath.Abs(a.storePath)
	}
	return store.DefaultPath()
}
