package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"filewise"
	"filewise/host/machine"
	"filewise/lab/workload"
	"filewise/run"
	"filewise/run/plan"
)

// opposed are two values for each option that changes what is built or executed.
var opposed = [][2]string{
	{"--size=64MiB", "--size=512MiB"}, {"--allocation=growing", "--allocation=preallocated"},
	{"--growth=2MiB", "--growth=4MiB"}, {"--placement=one", "--placement=round-robin"},
	{"--log-volume=c", ""}, {"--index-volume=c", ""}, {"--indexes=together", "--indexes=apart"},
	{"--added-later", ""}, {"--temp-files=1", "--temp-files=2"}, {"--data-files=1", "--data-files=2"},
	{"--backup-option=compression=on", "--backup-option=compression=off"},
	{"--backup-option=compression=none", "--backup-option=compression=gz"},
	{"--backup-option=buffercount=8", "--backup-option=buffercount=16"}, {"--backup-option=nonsense=42", ""}, {"--discard", ""},
	{"--set=nonsense=42", ""},
	{"--row-bytes=200", "--row-bytes=800"}, {"--commit-every=1", "--commit-every=50"}, {"--table=shared", "--table=own"},
	{"--key=sequential", "--key=random"}, {"--key=sequential", "--key=identity"},
	{"--rows=1000", "--rows=3000"}, {"--mode=single", "--mode=concurrent"},
	{"--connect=pooled", "--connect=per-statement"}, {"--index=none", "--index=key"}, {"--cache=warm", "--cache=buffer-cold"},
	{"--data=ordered", "--data=grown"}, {"--cycle=fill", "--cycle=sort"}, {"--churn", ""}, {"--concurrent-load=2", ""},
	{"--warehouses=1", "--warehouses=2"}, {"--batch=1", "--batch=7"}, {"--repeat=2", "--repeat=3"},
}

// An option that changes nothing is refused: else two equal layouts would be compared, or the user would rely on what
// was not done. A server's settings are in the scripts, clients' work is in the program and the parameters of their
// sessions.
func TestWhatAnOptionSaysIsDone(t *testing.T) {
	var engines plan.Engines
	for _, e := range registry() {
		engines = append(engines, described{e, e.Describe()})
	}
	for _, target := range []string{"--engine=sqlite", "--engine=postgres", "--engine=mariadb", "--target=postgres://u@127.0.0.1/",
		"--target=mysql://u@127.0.0.1/", "--target=sqlserver://u@127.0.0.1/", "--target=oracle://u@127.0.0.1/x"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			for _, sc := range workload.Scenarios() {
				if strings.HasPrefix(target, "--engine") && slices.Contains([]string{"orders", "scan", "dump"}, sc.Name) {
					continue // built as for others: programs of the server are called for each
				}
				for _, values := range opposed {
					// dml inserts so many rows: files that grow by themselves become as large as those are.
					if sc.Name != "dml" || !strings.HasPrefix(values[0], "--size") {
						opposes(t, engines, sc.Name, target, values)
					}
				}
			}
		})
	}
}

// opposes fails the test if both values are taken and do the same.
func opposes(t *testing.T, engines plan.Engines, scenario, target string, values [2]string) {
	t.Helper()
	var done [2]string
	for i, value := range values {
		text, err := doneBy(t, engines, scenario, target, value)
		if err != nil && filewise.CodeOf(err) == filewise.CodeInternal {
			t.Errorf("%s %s: %v", scenario, value, err)
		}
		if err != nil {
			return // refused
		}
		done[i] = text
	}
	if done[0] == done[1] {
		t.Errorf("%s: %q and %q do the same", scenario, values[0], values[1])
	}
}

// doneBy returns the work of servers and clients in a run with the arguments.
func doneBy(t *testing.T, engines plan.Engines, scenario string, args ...string) (string, error) {
	t.Helper()
	o, fs := plan.New(), pflag.NewFlagSet("plan", pflag.ContinueOnError)
	registerOptions(fs, o.Table()...)
	o.Scenario = scenario
	args = slices.DeleteFunc(append(args, "--seed=1"), func(a string) bool { return a == "" })
	if !strings.Contains(args[0], "--target") || strings.Contains(args[0], "postgres") {
		for _, name := range []string{"a", "b", "c"} {
			args = append(args, "--volume="+name+"=/v/"+name)
		}
	}
	if err := fs.Parse(args); err != nil {
		return "", filewise.Errorf(filewise.CodeUsage, "", "%w", err)
	}
	made, err := engines.Make(o)
	if err != nil {
		return "", err
	}
	env, err := run.Prepare(made.Engine, made.Plan)
	if err != nil {
		return "", err
	}
	var backups []filewise.Spread // whose files are named when they are made
	for _, l := range made.Layouts {
		backups = append(backups, l.Backup)
	}
	p := made.Program(env.Workload)
	text, err := json.Marshal([]any{env.Scripts, backups, p.Phases, p.Tables})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\n%+v", text, made.Params), nil
}

// described is an engine that does not look for its programs at each call.
type described struct {
	filewise.Engine
	said filewise.Description
}

func (d described) Describe() filewise.Description { return d.said }

// An engine's usual design is expressible by its options.
func TestUsualDesignsAreOptions(t *testing.T) {
	engines, n := registry(), 0
	limits, noLimits := machine.LimitMemory(1 << 30)
	if noLimits == nil {
		defer limits.Close()
	}
	for _, e := range engines {
		d := e.Describe()
		u, ok := d.Usual["inserts"]
		if !ok {
			continue
		}
		n++
		args := []string{"--engine=" + e.Name(), "--key=random", fmt.Sprintf("--size=%dMiB", u.Bytes>>20),
			fmt.Sprintf("--preload=%dMiB", u.Preload>>20),
			fmt.Sprintf("--row-bytes=%d", u.Row)}
		if u.Memory {
			args = append(args, fmt.Sprintf("--memory=%dMiB", d.MemoryFor(u.Connections)>>20), fmt.Sprintf("--connections=%d", u.Connections))
		}
		if u.Files != nil {
			args = append(args, "--files="+strings.Trim(strings.ReplaceAll(fmt.Sprint(u.Files), " ", ","), "[]"))
		}
		text, err := doneBy(t, engines, "inserts", args...)
		if err != nil {
			t.Errorf("%s: %q: %v", e.Name(), args, err)
		}
		usual, err := doneBy(t, engines, "inserts", args[0])
		if same := !u.Memory || noLimits == nil; err != nil || (usual == text) != same {
			t.Errorf("%s: the usual inserts are those that these options say: %v (%v), want %v", e.Name(), usual == text, err, same)
		}
	}
	if n == 0 {
		t.Error("no engine has such a design")
	}
}
