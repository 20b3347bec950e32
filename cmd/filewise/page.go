package main

import (
	"context"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"filewise"
	"filewise/host/scratch"
	"filewise/results/archive"
	"filewise/results/report"
	"filewise/results/store"
	"filewise/run"
	"filewise/watch/web"
)

// pageFlags sets the live page's address. They are flags of run and resume.
type pageFlags struct {
	address   string
	tokenFile string
	open      bool
	fleet     func(context.Context) (web.Fleet, error) // set by serve
}

func (f *pageFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.address, "serve", "", "show a live page with /metrics at `address` (alone: "+web.DefaultAddress+
		"; other addresses need the token)")
	fs.Lookup("serve").NoOptDefVal = web.DefaultAddress
	f.registerToken(fs)
}

func (f *pageFlags) registerToken(fs *pflag.FlagSet) {
	fs.StringVar(&f.tokenFile, "token-file", "", "`file` with the live page's token, made if missing (default in Filewise's state "+
		"directory)")
	fs.BoolVar(&f.open, "open", false, "open the live page in the browser")
}

// openPage opens the live page if the user asked for it. It comes before all set-up, so that an address in use is found
// first.
func (a *app) openPage(f *pageFlags) error {
	if f.open && f.address == "" {
		f.address = web.DefaultAddress
	}
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
	a.page, err = web.Listen(web.Config{Address: f.address, Token: token, Private: state, Sockets: run.Sockets(state),
		Archive: stored{st}, Fleet: f.fleet, Version: versionString()})
	if err != nil {
		return err
	}
	if err := a.tellPage(f.tokenFile, token); err != nil || !f.open {
		return err
	}
	if err := a.page.Open(context.Background()); err != nil {
		w := &lineWriter{w: a.stderr}
		w.printf("  → No browser could be opened (%v): open the address yourself.\n", err)
		return w.err
	}
	return nil
}

// keepPage keeps the page of a run that went well open while a user looks at it next to this terminal. A script's page
// closes, since no one could end it. The returned error is the run's.
func (a *app) keepPage(ctx context.Context, err error) error {
	if _, ok := terminal(a.stderr); !ok || err != nil || a.page == nil || !a.page.Watched() {
		return err
	}
	w := &lineWriter{w: a.stderr}
	w.printf("The live page stays while it is open in a browser; Ctrl-C ends it.\n")
	a.page.Unwatched(ctx)
	return w.err
}

// closePage closes the live page, and informs open browsers of that.
func (a *app) closePage() {
	if a.page != nil {
		a.page.Close()
		a.page = nil
	}
}

// tellPage prints the page's address. It shows the token on a terminal only, since a log would keep the token.
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

// observe shows a run on the live page, and on the terminal.
func (a *app) observe(d report.Data, m *web.Monitor) run.Observer {
	if a.page != nil {
		a.page.Show(m)
	}
	return a.display(d)
}

// stored gives the live page access to the store.
type stored struct{ path string }

func (s stored) Path() string { return s.path }

func (s stored) Runs(ctx context.Context, before int64) ([]store.RunInfo, error) {
	runs, _, err := archive.Page(ctx, s.path, store.Page{Before: before, Most: web.MostListed})
	return runs, err
}

func (s stored) Run(ctx context.Context, id int64) (report.Data, error) {
	r, err := archive.Load(ctx, s.path, strconv.FormatInt(id, 10))
	if err != nil {
		return report.Data{}, err
	}
	return r.Data()
}

func (s stored) Compare(ctx context.Context, before, after string) (any, error) {
	b, err := archive.Load(ctx, s.path, before)
	if err != nil {
		return nil, err
	}
	c, err := archive.Load(ctx, s.path, after)
	if err != nil {
		return nil, err
	}
	return archive.Compare(b, c, archive.UsualConfidence, nil)
}

// pathOfStore returns the path of the store's file, which may not exist.
func (a *app) pathOfStore() (string, error) {
	if a.storePath != "" {
		return filepath.Abs(a.storePath)
	}
	return store.DefaultPath()
}
