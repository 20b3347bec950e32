//go:build unix

package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"filewise"
	"filewise/internal/sqlitedriver"
	"filewise/own/inspect"
	"filewise/run"
	"filewise/run/plan"
)

// Every command that an inspection of any engine can propose is one that plan reads
// and the engine can render.
func TestInspectProposesCommands(t *testing.T) {
	for engine, url := range map[string]string{
		"sqlite": "sqlite:" + t.TempDir(), "mariadb": "mariadb://u@h", "mysql": "mysql://u@h", "postgres": "postgres://u@h/d",
		"sqlserver": "sqlserver://u@h", "oracle": "oracle://u@h/svc",
	} {
		proposed := map[string][]string{}
		e, err := registry().Lookup(engine)
		if err != nil {
			t.Fatal(err)
		}
		about := e.Describe()
		for _, places := range []int{1, 3} {
			for _, worst := range []bool{false, true} {
				i := worstServer(engine, places, worst)
				kinds := plan.Chosen{About: about, Target: filewise.Target{Mode: about.Mode}}
				if about.Schemes != nil {
					kinds.Target.Mode = filewise.External
				}
				r := inspect.Judge(i, inspect.Target{Engine: engine, Kind: kinds.Kinds()[0],
					Flags: []string{"--target", url}, Embedded: engine == "sqlite",
					Scans: about.Scans, TempModes: about.TempModes, TempAsIs: about.TempAsIs})
				for _, f := range r.Findings {
					if len(f.Command) > 0 {
						proposed[filewise.CommandLine(f.Command...)] = f.Command
					}
				}
			}
		}
		if len(proposed) < 2 {
			t.Errorf("%s: only %d commands", engine, len(proposed))
		}
		for text, args := range proposed {
			if err := readsCommand(args); err != nil {
				t.Errorf("%s: %v; %s", text, err, filewise.RemedyOf(err))
			}
		}
	}
}

// An inspection ends with commands for the user's own database, whose flags exist.
func TestInspectEndsWithOwnDatabase(t *testing.T) {
	i := filewise.Inspection{Groups: []filewise.FileGroup{{Name: "table s.t", Database: "my db", Use: filewise.UseData, Fill: filewise.FillOwn,
		Files: []filewise.FileInspect{{Path: "t", Bytes: 1 << 30}}}}}
	to := inspect.Target{Engine: "postgres", Flags: []string{"--target", "postgres://u@h"}, Captures: true, Applies: true,
		Kind: filewise.KindPartitions}
	var said []string
	for _, args := range inspect.Judge(i, to).Own {
		said = append(said, filewise.CommandLine(args...))
		command, rest, err := (&app{}).command().Find(args[1:])
		if err != nil || command.ParseFlags(rest) != nil {
			t.Errorf("%s: %v %v", filewise.CommandLine(args...), err, command.ParseFlags(rest))
		}
	}
	if want := "filewise capture --target postgres://u@h --database \"my db\" --output own.yaml\n" +
		"filewise run own.yaml --from postgres://u@h/my%20db --kind partitions\n" +
		"filewise apply last --target postgres://u@h --database \"my db\" --table s.t"; strings.Join(said, "\n") != want {
		t.Errorf("%s, want %s", strings.Join(said, "\n"), want)
	}
	i.Groups = append(i.Groups, filewise.FileGroup{Name: "table s.u", Database: "theirs", Use: filewise.UseData, Fill: filewise.FillOwn,
		Files: []filewise.FileInspect{{Path: "u", Bytes: 1 << 20}}})
	to.Flags[1] = "postgres://u@h/theirs?sslmode=disable" // which is not the largest one
	if own := inspect.Judge(i, to).Own; own[1][4] != to.Flags[1] || own[2][6] != "theirs" || own[2][8] != "s.u" {
		t.Errorf("a database that the target names: %q", own)
	}
	if to.Captures, to.Applies = false, false; len(inspect.Judge(i, to).Own) != 0 {
		t.Error("commands of an engine that has none")
	}
}

// plansWhatInspectProposes: every command that an inspection proposes is one that
// plan takes, of the same target.
func (p *place) plansWhatInspectProposes(args ...string) {
	p.t.Helper()
	p.show(p.run(0, args...))
	c := p.run(0, append(args, "--json")...)
	p.show(c)
	var said struct{ Findings []inspect.Finding }
	if err := json.Unmarshal(c.stdout.Bytes(), &said); err != nil {
		p.t.Fatal(err)
	}
	planned := map[string]bool{}
	for _, f := range said.Findings {
		if f.Evidence == "" {
			p.t.Errorf("a finding without evidence: %+v", f)
		}
		if command := filewise.CommandLine(f.Command...); len(f.Command) > 2 && !planned[command] {
			planned[command] = true
			p.run(0, append([]string{"plan"}, f.Command[2:]...)...)
		}
	}
	if len(planned) == 0 {
		p.t.Errorf("nothing is proposed: %s", &c.stdout)
	}
}

// SQLite's files, while another connection holds a lock on one.
func TestInspectSQLite(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := t.TempDir()
	for n, rows := range []int{100, 20000} {
		db, err := sql.Open(sqlitedriver.Name, filepath.Join(dir, fmt.Sprintf("app%d.db", n)))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		for _, s := range []string{"CREATE TABLE t (a, b)", fmt.Sprintf("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE "+
			"i < %d) INSERT INTO t SELECT i, hex(randomblob(50)) FROM c", rows), "BEGIN EXCLUSIVE"} {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.plansWhatInspectProposes("inspect", "--target", "sqlite:"+dir)
	c := p.run(0, "inspect", "--target", "sqlite:"+dir)
	for _, says := range []string{"2 files", "app1.db holds 99 % of all", "each further file is a further write lock",
		"$ filewise run inserts --target sqlite:"} {
		if !strings.Contains(c.stdout.String(), says) {
			t.Errorf("%q is not in\n%s", says, &c.stdout)
		}
	}
}

// readsCommand reads a command as plan does, and renders its layouts.
func readsCommand(args []string) error {
	if args[0] != "filewise" || args[1] != "run" {
		return fmt.Errorf("it is no run: %q", args)
	}
	o, fs := plan.New(), pflag.NewFlagSet("plan", pflag.ContinueOnError)
	registerOptions(fs, o.Table()...)
	if err := fs.Parse(args[3:]); err != nil {
		return err
	}
	if rest := fs.Args(); len(rest) > 0 {
		return fmt.Errorf("arguments are left: %q", rest)
	}
	o.Scenario = args[2]
	made, err := registry().Make(o)
	if err != nil {
		return err
	}
	_, err = run.Prepare(made.Engine, made.Plan)
	return err
}

// worstServer has something for every rule.
func worstServer(engine string, places int, worst bool) filewise.Inspection {
	i := filewise.Inspection{Cores: 12, Since: 100 * time.Hour, Settings: map[string]string{}, Figures: map[string]float64{
		filewise.FigureTempBytes: 1 << 40, filewise.FigureTempFiles: 10, filewise.FigureTempTables: 1e6, filewise.FigureTempDisk: 9e5,
		filewise.FigureTimed: 1, filewise.FigureRequested: 1000,
		filewise.FigureRequests: 1e9, filewise.FigureMisses: 1e8,
	}}
	for n := range places {
		p := filewise.Place{Volume: filewise.Volume{Name: "default"}}
		if n > 0 {
			p.Volume = filewise.Volume{Name: fmt.Sprint("v", n), Dir: fmt.Sprint("/mnt/v", n)}
			if engine == "postgres" {
				p.Dir = fmt.Sprint("tablespace:v", n)
			}
		}
		i.Places = append(i.Places, p)
	}
	for _, fill := range []filewise.Fill{filewise.FillFree, filewise.FillTurns, filewise.FillOrder, filewise.FillPartitions,
		filewise.FillOwn, filewise.FillFiles} {
		for _, use := range []filewise.FileUse{filewise.UseData, filewise.UseTemp, filewise.UseLog} {
			if fill == filewise.FillFree != (engine == "sqlserver") {
				continue // filling by free space is SQL Server's
			}
			g := filewise.FileGroup{Name: string(fill), Use: use, Fill: fill, Fragments: 5000}
			for n := range 3 {
				free := int64(n) << 30
				f := filewise.FileInspect{Path: strings.Repeat("x", n+1), Bytes: 4 << 30 << n, Free: &free, Volume: "/data",
					Growth: &filewise.Growth{Bytes: 1 << 20}}
				if worst {
					f.IO = map[string]float64{filewise.FileReads: 1e6, filewise.FileReadTime: 1e5, filewise.FileWrites: 1e6, filewise.FileWriteTime: 1e3}
				}
				g.Files = append(g.Files, f)
			}
			i.Groups = append(i.Groups, g)
		}
	}
	return i
}
