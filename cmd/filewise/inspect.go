package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/inspect"
	"filewise/machine"
)

// inspectPatience bounds a look with all of its questions.
const inspectPatience = time.Minute

func (a *app) inspectCommand() *cobra.Command {
	var f targetFlags
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Say whether the number of files is worth asking about on an existing server",
		Long: `Inspect looks at an existing server, or at SQLite's files, for some seconds and
without any load: files against cores, their sizes, balance, growth and places,
what each has waited for the storage, what sessions wait for, temporary files, the
log and checkpoints. Each finding has its evidence, says what it is worth, and
names the command that would test it.

It only reads: catalogues and light views, in sessions that cannot write where the
server has such, each question for 4 s at most. What the account may not see is
named with the GRANT that is missing, and the rest goes on.`,
		Example: `  filewise inspect --target postgres://ada@db/sales
  filewise inspect --target mariadb://ada@db --json
  filewise inspect --target sqlite:/srv/app/data.db`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := a.inspectTarget(cmd, &f)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(out)
			}
			return a.printInspection(out)
		},
	}
	f.registerServer(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

// inspected is what the command tells.
type inspected struct {
	Version string `json:"version"` // of Filewise
	Engine  string `json:"engine"`
	Target  string `json:"target"`
	inspect.Report
	Facts    filewise.Inspection `json:"facts"`
	Unproven string              `json:"unproven,omitempty"`
	Seconds  float64             `json:"seconds"`
}

func (a *app) inspectTarget(cmd *cobra.Command, f *targetFlags) (*inspected, error) {
	if f.url == "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "name a server, or SQLite's files: --target URL", "inspect needs a target")
	}
	c, err := f.choose(cmd)
	if err != nil {
		return nil, err
	}
	inspector, ok := c.engine.(filewise.Inspector)
	if !ok {
		return nil, filewise.Errorf(filewise.CodeUsage, "see filewise engines", "%s cannot be inspected: %w", c.engine.Name(), filewise.ErrUnsupported)
	}
	t := c.target
	t.Durability = filewise.DurabilityFull
	to := inspect.Target{Engine: t.Engine, Embedded: t.Address == nil, Flags: []string{"--target", f.url}}
	out := &inspected{Version: versionString(), Engine: t.Engine, Target: f.url, Unproven: c.about.Unproven}
	if t.Address != nil {
		out.Target, to.Flags = t.Address.String(), f.again(t)
		full, err := a.login(cmd.Context(), t, c.secrets, f)
		if err != nil {
			return nil, err
		}
		t.Address = &full
		t.Volumes = []filewise.Volume{{Name: "default"}}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), inspectPatience)
	defer cancel()
	start := time.Now()
	if out.Facts, err = inspector.Inspect(ctx, t); err != nil {
		return nil, err
	}
	if cmd.Context().Err() != nil { // interrupted: gaps alone would be left
		return nil, context.Cause(cmd.Context())
	}
	out.Seconds = time.Since(start).Seconds()
	addMachine(&out.Facts)
	if to.Embedded {
		to.Flags = []string{"--target", t.Engine + ":" + directoryOf(t.Volumes[0].Dir)}
	}
	out.Report = inspect.Judge(out.Facts, to)
	a.hideFindings(out.Findings)
	return out, nil
}

// directoryOf is where an experiment may make its scratch files beside a database.
func directoryOf(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

// addMachine tells what the server itself does not, where it runs on this host: the
// cores, and the devices below the files.
func addMachine(i *filewise.Inspection) {
	if !i.Local {
		return
	}
	if i.Cores == 0 {
		i.Cores = runtime.NumCPU()
	}
	devices := map[string]string{}
	under := func(dir, told string) string {
		if dir == "" || told != "" {
			return told
		}
		name, known := devices[dir]
		if !known {
			if d, err := machine.DeviceOf(dir); err == nil {
				name = d.String()
			}
			devices[dir] = name
		}
		return name
	}
	for n := range i.Places {
		i.Places[n].Device = under(i.Places[n].Path, i.Places[n].Device)
	}
	for g := range i.Groups {
		for n := range i.Groups[g].Files {
			file := &i.Groups[g].Files[n]
			file.Device = under(file.Dir, file.Device)
		}
	}
}

func (a *app) hideFindings(all []inspect.Finding) {
	for n := range all {
		f := &all[n]
		f.Evidence, f.Remedy = filewise.Hide(f.Evidence, a.secrets...), filewise.Hide(f.Remedy, a.secrets...)
	}
}

func (a *app) printInspection(out *inspected) error {
	w := &lineWriter{w: a.stdout}
	w.printf("%s\n%s\n\n%s\n", out.Target, indent(out.Facts.Server, 0), out.Summary)
	if out.Unproven != "" {
		w.printf("\nUnproven: %s\n", out.Unproven)
	}
	last, first := inspect.Worth(""), map[string]string{} // the finding that has shown a command, by it
	for _, f := range out.Findings {
		if f.Worth != last {
			w.printf("\n%s\n", strings.ToUpper(string(f.Worth[:1]))+string(f.Worth[1:]))
			last = f.Worth
		}
		w.printf("  %s: %s\n", f.About, indent(f.Evidence, 4))
		if f.Because != "" {
			w.printf("    %s\n", indent(f.Because, 4))
		}
		if f.Remedy != "" {
			w.printf("    → %s\n", indent(f.Remedy, 6))
		}
		switch command := inspect.Shell(f.Command); {
		case command == "":
		case first[command] != "":
			w.printf("    $ the command of “%s”\n", first[command])
		default:
			first[command] = f.About
			w.printf("    $ %s\n", command)
		}
	}
	w.printf("\nNothing was written. It took %.1f s.\n", out.Seconds)
	return w.err
}
