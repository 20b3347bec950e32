package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"filewise"
	"filewise/host/target"
	"filewise/run"
	"filewise/run/plan"
)

// access logs in to the server of a target, or of a plan's origin, with the options' credentials.
func (a *app) access(t filewise.Target, origin *filewise.Address, secret filewise.Address, o *plan.TargetOptions) run.Login {
	if origin != nil {
		t.Address = origin
	}
	return func(ctx context.Context) (filewise.Address, error) { return a.login(ctx, t, secret, o) }
}

// login completes an external target's address with its password. If nothing gives the password, it prompts on a
// terminal.
func (a *app) login(ctx context.Context, t filewise.Target, given filewise.Address, o *plan.TargetOptions) (filewise.Address, error) {
	full := *t.Address
	full.Password, full.Secrets = given.Password, given.Secrets
	a.hide(full.Hidden()...)
	if full.Password != "" {
		a.hintProcessList(full.Password)
		return full, nil
	}
	environment := os.Getenv("FILEWISE_PASSWORD")
	socket := full.Host == "" || strings.HasPrefix(full.Host, "/") || strings.HasPrefix(full.Host, "@")
	// The system identifies the user at the other end of a socket, so many servers need no password there.
	if o.NoPassword.Value || o.PasswordFile.Value == "" && (socket && environment == "" || !registry().NeedsPassword(t.Engine, full)) {
		return full, nil
	}
	var err error
	full.Password, err = target.Password(ctx, *t.Address, target.Sources{File: o.PasswordFile.Value, Environment: environment,
		Stdin: a.stdin, Prompt: a.stderr})
	a.hide(full.Password)
	return full, err
}

// hide keeps secrets out of every reported error.
func (a *app) hide(secrets ...filewise.Secret) { a.secrets = append(a.secrets, secrets...) }

// hintProcessList warns a user who typed the password on the command line.
func (a *app) hintProcessList(password filewise.Secret) {
	typed := slices.ContainsFunc(a.args, func(arg string) bool {
		return slices.Contains(target.SecretsIn(arg), password)
	})
	if !typed || a.json || a.hinted {
		return
	}
	a.hinted = true
	fmt.Fprintln(a.stderr, "filewise: hint: others on this machine can see the password in the command line (ps); --password-file, "+
		"FILEWISE_PASSWORD and FILEWISE_TARGET do not show it")
}
