// Package dumpfile holds what engines share to fill builds from a dump of a user's database (filewise.CustomSQL.From).
package dumpfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/host/machine"
)

// patience limits the time in which a dump's program writes nothing: it may wait for a lock, or for a long sort, and a
// server may never answer. Tests shorten it.
var patience = 5 * time.Minute

var errSilent = errors.New("the server sent nothing")

// timed restarts a timer at each write. The time that a write itself takes does not count.
type timed struct {
	io.Writer
	*time.Timer
}

func (w timed) Write(b []byte) (int, error) {
	w.Stop()
	defer w.Reset(patience)
	return w.Writer.Write(b)
}

// Take runs a program that writes a dump to its standard output, and copies the dump to to. secrets are passed in the
// environment, which only the program's account can read. A program that writes nothing for long is ended.
func Take(ctx context.Context, to io.Writer, secrets []string, program string, args ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := timed{to, time.AfterFunc(patience, func() { cancel(fmt.Errorf("%w for %v", errSilent, patience)) })}
	defer out.Stop()
	cmd := machine.Command(ctx, program, args...)
	cmd.Env = append(append(cmd.Env, "HOME="+os.Getenv("HOME")), secrets...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &said
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
			return filewise.Errorf(filewise.CodePreflight, "check whether the server answers others, and who holds locks there, then run the "+
				"command again", "%s: %w", program, cause)
		}
		remedy := "give the account the rights of docs/own-copy.md, or take the dump yourself, and give its file"
		switch what := said.String(); {
		case strings.Contains(what, "server version mismatch"):
			remedy = "name the directory of the programs of a release that is as new as that server's: --server-bin DIR"
		case strings.Contains(what, "(1356)"), strings.Contains(what, "(1449)"): // ER_VIEW_INVALID, ER_NO_SUCH_USER
			remedy = "mend or drop it: its definer may be gone; or take the dump yourself with --force, and give its file"
		}
		return filewise.Errorf(filewise.CodePreflight, remedy, "%s: %w: %.1000s", program, err, strings.TrimSpace(said.String()))
	}
	return nil
}

// Step returns the line that a plan shows for a restore.
func Step(custom *filewise.CustomSQL) string {
	return "-- restores " + strings.ReplaceAll(custom.From, "\n", " ") + ", the tables where the layout puts them"
}

// Failed adds to an error the path of the dump and a remedy, which names the programs that write such dumps. Usage
// errors and ErrUnsupported are returned unchanged.
func Failed(path, programs string, err error) error {
	if err == nil || errors.Is(err, filewise.ErrUnsupported) || filewise.CodeOf(err) == filewise.CodeUsage {
		return err
	}
	remedy := "give a file that " + programs + " has written, of this release or an older one, or name a newer server by --server-bin"
	if errors.Is(err, io.ErrUnexpectedEOF) {
		remedy = "give the whole file, or take the dump again: its end is missing"
	}
	return filewise.Errorf(filewise.CodePreflight, remedy, "restoring %s: %w", path, err)
}

// Refuse returns the error for a table that a layout cannot hold.
func Refuse(format string, args ...any) error {
	return filewise.Unsupported("take it out of custom.tables, or name a column there that all of its keys have", format, args...)
}

// Refused returns one error for all tables that a layout cannot hold, each with its reason from why. The remedy names
// the tables that can be divided, and whole, the kind of layout that needs no key. Refused returns nil if no table has
// a reason, even if the dump lacks a table.
func Refused(tables []filewise.CustomTable, why map[string]error, has func(table string) bool, whole filewise.Kind) error {
	var all, others, lacks []string
	for _, t := range tables {
		if err := why[t.Name]; err != nil {
			all = append(all, strings.TrimSuffix(err.Error(), ": "+filewise.ErrUnsupported.Error()))
		} else if has(t.Name) {
			others = append(others, t.Name)
		} else {
			lacks = append(lacks, "the dump has no table "+t.Name)
		}
	}
	if len(all) == 0 {
		return nil
	}
	can := "none of the others can be divided"
	if len(others) > 0 {
		can = "can be divided: " + strings.Join(others, ", ")
	}
	return filewise.Unsupported("take it out of custom.tables ("+can+"), name a column there that all of its keys have, or leave the tables "+
		"whole, each on a volume: --layout kind="+string(whole)+",volumes=A+B,files=N", "%s", strings.Join(append(all, lacks...), "\n"))
}

// CheckKey refuses to divide a table by a column that is missing from key, its primary key or a unique one.
func CheckKey(t filewise.CustomTable, key []string) error {
	if slices.Contains(key, t.Key) {
		return nil
	}
	return Refuse("table %s cannot be divided by %s: its key (%s) does not contain it", t.Name, t.Key, strings.Join(key, ", "))
}

// CheckTables refuses custom tables that the dump does not have.
func CheckTables(custom *filewise.CustomSQL, has func(table string) bool, where string) error {
	lacks := filewise.Those(custom.Tables, func(t filewise.CustomTable) bool { return !has(t.Name) })
	if len(lacks) == 0 {
		return nil
	}
	all := make([]string, len(lacks))
	for i, t := range lacks {
		all[i] = t.Name
	}
	return filewise.Errorf(filewise.CodeUsage, "take it out of custom.tables, or name it as the dump does", "the dump has no table %s%s",
		strings.Join(all, " or "), where)
}
