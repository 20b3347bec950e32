package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"

	"filewise"
	"filewise/host/target"
	"filewise/watch/notify"
)

// The exit codes, documented in filewise help exit-codes.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2
	exitPreflight   = 3
	exitBusy        = 4
	exitStore       = 5
	exitTrials      = 6
	exitNotFound    = 7
	exitStopped     = 8
	exitGate        = 9
	exitInterrupted = 130
)

// exitCodes holds the exit codes for errors' codes. An error without a code is an error of Filewise.
var exitCodes = map[filewise.Code]int{
	filewise.CodeUsage: exitUsage, filewise.CodePreflight: exitPreflight, filewise.CodeBusy: exitBusy, filewise.CodeStore: exitStore,
	filewise.CodeTrials: exitTrials, filewise.CodeNotFound: exitNotFound, filewise.CodeStopped: exitStopped,
	filewise.CodeGate: exitGate, codeInterrupted: exitInterrupted,
}

// exitCode returns the exit code for an error. No other place turns errors into exit codes.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	if code, known := exitCodes[filewise.CodeOf(err)]; known {
		return code
	}
	return exitInternal
}

// codeInterrupted is the code of an error that itself reports what a signal has left.
const codeInterrupted filewise.Code = "interrupted"

// interrupted is the error after Ctrl-C.
var interrupted = filewise.Errorf(codeInterrupted, "continue with: filewise resume",
	"interrupted: finished trials are stored")

// measures reports whether a command measures a run, which can be resumed after an interruption.
func measures(command string) bool {
	return slices.Contains([]string{"run", "resume", "backup"}, command)
}

// reportError writes to stderr what went wrong and what to do, in JSON with --json.
func (a *app) reportError(err error, args []string) {
	code := exitCode(err)
	if code == exitInterrupted && filewise.CodeOf(err) != codeInterrupted {
		if err = interrupted; !slices.ContainsFunc(a.args, measures) {
			err = filewise.Errorf(codeInterrupted, "give it again", "interrupted")
		}
	}
	message, remedy := a.named(filewise.Plain(err), filewise.RemedyOf(err))
	if code == exitUsage && filewise.LiteralQuotes(a.args) {
		remedy += `; cmd passes ' on as part of a value: quote by "`
	}
	message, remedy = a.masked(message), a.masked(remedy)
	if a.json || slices.Contains(args, "--json") { // even if an earlier flag is wrong
		if json.NewEncoder(a.stderr).Encode(failed{failure{filewise.CodeOf(err), code, message, remedy}}) == nil {
			return
		}
	}
	w := &lineWriter{w: a.stderr}
	w.printf("filewise: %s\n", message)
	if remedy != "" {
		w.printf("  → %s\n", remedy)
	}
}

// masked hides every secret of this process, and everything that may be one in URLs of the command line and the
// environment. The error about another flag can show a URL that was given for it.
func (a *app) masked(text string) string {
	secrets := append(slices.Clone(a.secrets), filewise.Secret(os.Getenv("FILEWISE_PASSWORD")))
	for _, arg := range a.args {
		if strings.HasPrefix(arg, "-") {
			_, arg, _ = strings.Cut(arg, "=")
		}
		secrets = append(append(secrets, target.SecretsIn(arg)...), notify.SecretsIn(arg)...)
	}
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "FILEWISE_") {
			secrets = append(append(secrets, target.SecretsIn(value)...), notify.SecretsIn(value)...)
		}
	}
	return filewise.Hide(text, secrets...)
}
