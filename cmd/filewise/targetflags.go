package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/machine"
	"filewise/target"
)

// targetFlags say on what is measured: an engine, or a server by URL.
type targetFlags struct {
	engine, url, passwordFile string
	noPassword                bool
}

func (f *targetFlags) register(fs *pflag.FlagSet, usual string) {
	fs.StringVar(&f.engine, "engine", usual, "`engine` to lay databases out on: embedded, or a private server that Filewise starts (see filewise engines)")
	f.registerServer(fs)
}

// registerServer is for commands of an external server.
func (f *targetFlags) registerServer(fs *pflag.FlagSet) {
	fs.StringVar(&f.url, "target", "", "an existing server, by `URL` such as postgres://USER@HOST/DATABASE; or sqlite:DIR")
	fs.StringVar(&f.passwordFile, "password-file", "", "`file` whose first line is the password for --target; - is standard input (default: the URL, FILEWISE_PASSWORD, or asked for)")
	fs.BoolVar(&f.noPassword, "no-password", false, "the account of --target has no password: do not ask for one")
}

// chosen is what the flags name. The address of the target has no secret.
type chosen struct {
	engine  filewise.Engine
	about   filewise.Description
	target  filewise.Target
	secrets filewise.Address // the address with what the URL holds of secrets
}

// choose finds engine and mode; nothing is touched.
func (f *targetFlags) choose(cmd *cobra.Command) (chosen, error) {
	named := cmd.Flags().Changed("engine")
	if f.url == "" {
		if err := f.idle(cmd); err != nil {
			return chosen{}, err
		}
		return f.byName()
	}
	preferred := ""
	if named {
		preferred = f.engine
	}
	e, address, dir, err := parseTarget(f.url, preferred)
	if err != nil {
		return chosen{}, err
	}
	if named && f.engine != e.Name() {
		if _, err := lookupEngine(f.engine); err != nil {
			return chosen{}, err
		}
		return chosen{}, filewise.Errorf(filewise.CodeUsage, "leave one of them out", "--engine %s and --target contradict each other: its URL is one of %s", f.engine, e.Name())
	}
	c := chosen{engine: e, about: describe(e)}
	c.target = filewise.Target{Engine: e.Name(), Mode: c.about.Mode}
	if dir != "" {
		c.target.Volumes = []filewise.Volume{{Name: "here", Dir: dir}}
		return c, f.idle(cmd)
	}
	shown := withoutSecrets(*address)
	c.target.Mode, c.target.Address, c.secrets = filewise.External, &shown, *address
	return c, nil
}

// byName is an engine that Filewise runs itself.
func (f *targetFlags) byName() (chosen, error) {
	e, err := lookupEngine(f.engine)
	if err != nil {
		return chosen{}, err
	}
	c := chosen{engine: e, about: describe(e)}
	if c.about.Mode == filewise.External {
		return chosen{}, filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("give an existing server: --target %s://USER@HOST/…", c.about.Schemes[0]),
			"Filewise cannot start a private server of %s", e.Name())
	}
	if c.about.Mode == filewise.Managed {
		if err := machine.PrivateServers(); err != nil {
			return chosen{}, err
		}
	}
	c.target = filewise.Target{Engine: e.Name(), Mode: c.about.Mode}
	return c, nil
}

// idle refuses flags of an external server where there is none. A variable that
// is set for other commands is no mistake.
func (f *targetFlags) idle(cmd *cobra.Command) error {
	for _, name := range []string{"password-file", "no-password"} {
		if fl := cmd.Flags().Lookup(name); fl != nil && fl.Changed && os.Getenv(variable(name)) == "" {
			return badValue(name, fl.Value, "it is for a server: give its --target URL, or leave it out")
		}
	}
	return nil
}

// login completes the address of an external target by its password, which is
// asked for on a terminal where nothing gives it.
func (a *app) login(ctx context.Context, t filewise.Target, given filewise.Address, f *targetFlags) (filewise.Address, error) {
	full := *t.Address
	full.Password, full.Secrets = given.Password, given.Secrets
	a.hide(full.Hidden()...)
	if full.Password != "" {
		a.hintProcessList(full.Password)
		return full, nil
	}
	environment := os.Getenv("FILEWISE_PASSWORD")
	socket := full.Host == "" || strings.HasPrefix(full.Host, "/") || strings.HasPrefix(full.Host, "@")
	// The system says who is at the other end of a socket, so that many servers ask
	// for no password there.
	if f.noPassword || socket && f.passwordFile == "" && environment == "" {
		return full, nil
	}
	var err error
	full.Password, err = target.Password(ctx, *t.Address, target.Sources{File: f.passwordFile, Environment: environment, Stdin: a.stdin, Prompt: a.stderr})
	a.hide(full.Password)
	return full, err
}

// hide keeps secrets out of every error that is reported.
func (a *app) hide(secrets ...filewise.Secret) { a.secrets = append(a.secrets, secrets...) }

// hintProcessList tells whoever has typed the password into the command line.
func (a *app) hintProcessList(password filewise.Secret) {
	typed := slices.ContainsFunc(a.args, func(arg string) bool {
		return slices.Contains(target.SecretsIn(arg), password)
	})
	if !typed || a.json || a.hinted {
		return
	}
	a.hinted = true
	fmt.Fprintln(a.stderr, "filewise: hint: others on this machine can see the password in the command line (ps); --password-file, FILEWISE_PASSWORD and FILEWISE_TARGET do not show it")
}

// again are the flags that repeat the choice, without a secret.
func (f *targetFlags) again(t filewise.Target) []string {
	out := []string{"--target", t.Address.String()}
	switch {
	case f.noPassword:
		out = append(out, "--no-password")
	case f.passwordFile != "" && f.passwordFile != "-" && !strings.HasPrefix(f.passwordFile, "/dev/"):
		path := f.passwordFile
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		out = append(out, "--password-file", path)
	}
	return out
}
