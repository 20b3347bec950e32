package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"filewise"
	"filewise/cmd/filewise/filewisetest"
	"filewise/internal/sqlitedriver"
	"filewise/results/store"
)

// exits CODE PROGRAM [ARG …] runs a program that ends with this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG …]")
	}
	err := ts.Exec(args[1], split(args[2:])...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want := args[0]; strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// split makes several arguments of $TINY and the like.
func split(args []string) []string {
	var out []string
	for _, a := range args {
		if strings.HasPrefix(a, "--") && strings.Contains(a, " --") {
			out = append(out, strings.Fields(a)...)
		} else {
			out = append(out, a)
		}
	}
	return out
}

// refused CODE PATTERN PROGRAM [ARG …] runs a program that ends with this exit code. It prints nothing but one line
// that matches and one with a remedy. With --json it is the same error in JSON. Every file stays as it is.
func refusedCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: refused CODE PATTERN PROGRAM [ARG …]")
	}
	code, pattern, program := args[0], regexp.MustCompile(args[1]), args[2]
	before := tree(ts, ts.Getenv("WORK"))
	exits(ts, false, append([]string{code, program}, args[3:]...))
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile("stderr"), "\n"), "\n")
	switch {
	case ts.ReadFile("stdout") != "":
		ts.Fatalf("stdout is not empty")
	case len(lines) != 2 || !strings.HasPrefix(lines[0], "filewise: ") || !strings.HasPrefix(lines[1], "  → "):
		ts.Fatalf("stderr is not one line that says what and one that says what to do")
	case !pattern.MatchString(lines[0]):
		ts.Fatalf("the error does not match %s", pattern)
	}
	exits(ts, false, append([]string{code, program, "--json"}, args[3:]...))
	var got struct {
		Error struct {
			Code, Message, Remedy string
			ExitCode              int `json:"exit_code"`
		}
	}
	if err := json.Unmarshal([]byte(ts.ReadFile("stderr")), &got); err != nil {
		ts.Fatalf("with --json: %v", err)
	}
	e := got.Error
	if differs.ReplaceAllString("filewise: "+e.Message, "") != differs.ReplaceAllString(lines[0], "") ||
		"  → "+e.Remedy != lines[1] || strconv.Itoa(e.ExitCode) != code || e.Code == "" {
		ts.Fatalf("with --json it is another error: %+v", e)
	}
	if diff := cmp.Diff(before, tree(ts, ts.Getenv("WORK"))); diff != "" {
		ts.Fatalf("something was left or altered (− before, + after):\n%s", diff)
	}
	nothingLeft(ts, false, nil)
}

// differs matches what is another from one try to the next: names of scratch directories, and free space that others use.
var differs = regexp.MustCompile(`filewise-[a-z2-7]{13}|[0-9.]+ [KMGTP]iB free`)

// tree is a directory's content: what each path is, with a hash of files.
// FILEWISE_STATE is left out; nothingLeft looks at that.
func tree(ts *testscript.TestScript, root string) map[string]string {
	all, err := treeOf(root)
	ts.Check(err)
	maps.DeleteFunc(all, func(path, _ string) bool { return strings.HasPrefix(path, stateDir) })
	return all
}

// clean: no scratch directory is left, nor registered, and no server runs.
func nothingLeft(ts *testscript.TestScript, neg bool, args []string) {
	registered, err := filepath.Glob(filepath.Join(ts.MkAbs(stateDir), "scratch", "*"))
	ts.Check(err)
	scratch, err := filepath.Glob(filepath.Join(ts.Getenv("WORK"), "filewise-*", ".filewise-mark"))
	ts.Check(err)
	if left := append(registered, scratch...); len(left) > 0 != neg {
		ts.Fatalf("left: %v", left)
	}
	if servers := filewisetest.ServersBelow(ts.Getenv("WORK")); len(servers) > 0 && !neg {
		ts.Fatalf("running: %+v", servers)
	}
}

// json FILE [PATH OP VALUE] parses a file, "stdout" or "stderr" among them, which holds one JSON value. It compares
// what is at PATH, such as plan.layouts.0.name or "." for all of it: = VALUE, matches PATTERN, len N, or has (it is
// there).
func jsonCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: json FILE [PATH =|matches|len|has VALUE]")
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[0], err)
	}
	if d.More() {
		ts.Fatalf("%s holds more than one JSON value", args[0])
	}
	if len(args) == 1 {
		return
	}
	for _, step := range strings.FieldsFunc(args[1], func(r rune) bool { return r == '.' }) {
		v = descend(ts, v, step, args[1])
	}
	var n any
	switch x := v.(type) {
	case []any:
		n = len(x)
	case map[string]any:
		n = len(x)
	case string:
		n = len(x)
	}
	switch {
	case len(args) == 3 && args[2] == "has":
	case len(args) != 4:
		ts.Fatalf("usage: json FILE [PATH =|matches|len|has VALUE]")
	case args[2] == "=" && fmt.Sprint(v) == args[3]:
	case args[2] == "len" && fmt.Sprint(n) == args[3]:
	case args[2] == "matches" && regexp.MustCompile(args[3]).MatchString(fmt.Sprint(v)):
	default:
		ts.Fatalf("%s is %s (length %v), want %s %s", args[1], short(v), n, args[2], args[3])
	}
}

func descend(ts *testscript.TestScript, v any, step, path string) any {
	switch x := v.(type) {
	case map[string]any:
		if inner, ok := x[step]; ok {
			return inner
		}
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(x) {
			return x[i]
		}
	}
	ts.Fatalf("%s: there is no %q in %s", path, step, short(v))
	return nil
}

func short(v any) string { return fmt.Sprintf("%.300s", fmt.Sprint(v)) }

// csv FILE N parses a CSV file with a header and N rows.
func csvCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: csv FILE ROWS")
	}
	rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[0]))).ReadAll()
	ts.Check(err)
	if got := strconv.Itoa(len(rows) - 1); got != args[1] {
		ts.Fatalf("%s has %s rows, want %s", args[0], got, args[1])
	}
}

// newstore FILE makes an empty store.
func newStore(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: newstore FILE")
	}
	st, err := store.Open(context.Background(), ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(st.Close())
}

// sqlite FILE SQL executes SQL in an SQLite file, which it makes when needed.
func sqliteCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite FILE SQL")
	}
	db, err := sql.Open(sqlitedriver.Name, ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(args[1])
	ts.Check(errors.Join(err, db.Close()))
}

// overwrite FILE OFFSET N overwrites N bytes in the middle of a file.
func overwrite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: overwrite FILE OFFSET N")
	}
	offset, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, n), offset)
	ts.Check(errors.Join(err, f.Close()))
}

// measured RUN checks that every stored trial of a run was the plan's next, and that nothing is left to
// measure; with ! that something is left.
func measured(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] measured RUN")
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	plan, trials, err := readRun(ts.Getenv("FILEWISE_STORE"), id)
	ts.Check(err)
	complete, err := inOrder(plan, trials)
	ts.Check(err)
	if complete == neg {
		ts.Fatalf("run %d with %d trials: complete is %v", id, len(trials), complete)
	}
}

// builds RUN N checks that each layout's blocks ran on N loaded builds in turn,
// and that every trial was reset.
func buildsCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: builds RUN N")
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	_, trials, err := readRun(ts.Getenv("FILEWISE_STORE"), id)
	ts.Check(err)
	names := make(map[string]map[string]bool)
	for i, t := range trials {
		if t.Build == "" || !slices.ContainsFunc(t.Stages, func(s filewise.Stage) bool {
			return s.Name == filewise.StageReset &&
				s.Took > 0
		}) {
			ts.Fatalf("trial %d on build %q was not reset: %v", i+1, t.Build, t.Stages)
		}
		if names[t.Cell.Layout] == nil {
			names[t.Cell.Layout] = make(map[string]bool)
		}
		names[t.Cell.Layout][t.Build] = true
	}
	for layout, of := range names {
		if strconv.Itoa(len(of)) != args[1] {
			ts.Fatalf("%s ran on %v, want %s builds", layout, of, args[1])
		}
	}
}

// until TRIALS waits until a run that goes on in the background has stored so
// many trials.
func untilCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: until TRIALS")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = until(time.Minute, func() (bool, error) {
		_, trials, err := filewisetest.Newest(ts.Getenv("FILEWISE_STORE"))
		return len(trials) >= want, err
	})
	ts.Check(err)
}

// helps COMMAND … checks the help of commands.
func helps(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: helps COMMAND …")
	}
	for _, command := range args {
		ts.Check(ts.Exec("filewise", command, "--help"))
		help := ts.ReadFile("stdout")
		ts.Check(ts.Exec("filewise", "help", command))
		if ts.ReadFile("stdout") != help {
			ts.Fatalf("help %s is not %s --help", command, command)
		}
		for _, want := range []string{"\nUsage:\n  filewise " + command, "\nExamples:\n  filewise " + command, "\n      --json "} {
			if !strings.Contains(help, want) {
				ts.Fatalf("the help of %s lacks %q", command, want)
			}
		}
	}
}

// nosecret SECRET checks that the last output and every file below $WORK, including stores, are free of a secret; it
// is kept in the files called password*.
func noSecret(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nosecret SECRET")
	}
	for _, out := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(out), args[0]) {
			ts.Fatalf("%s shows it", out)
		}
	}
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "password") {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(args[0])) {
			ts.Fatalf("%s holds it", path)
		}
		return err
	}))
}

// waitrun RUN TRIALS [PATTERN] waits until a run in the background has stored so many
// trials, and then until a file matches the pattern.
func waitRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: waitrun RUN TRIALS [PATTERN]")
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(until(time.Minute, func() (bool, error) {
		_, trials, err := readRun(ts.Getenv("FILEWISE_STORE"), id)
		if filewise.CodeOf(err) == filewise.CodeNotFound {
			err = nil
		}
		return len(trials) >= want, err
	}))
	if len(args) == 3 {
		ts.Check(until(time.Minute, func() (bool, error) {
			found, err := filepath.Glob(ts.MkAbs(args[2]))
			return len(found) > 0, err
		}))
	}
}
