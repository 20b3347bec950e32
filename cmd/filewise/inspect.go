package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/own/apply"
	"filewise/own/capture"
	"filewise/own/inspect"
	"filewise/run/plan"
)

func (a *app) inspectCommand() *cobra.Command {
	var f plan.TargetOptions
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Report whether the number of files matters on an existing server",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := a.inspectTarget(cmd, &f)
			if err != nil {
				return err
			}
			return a.print(out, out.text)
		},
	}
	registerOptions(cmd.Flags(), f.ServerTable()...)
	completeChoices(cmd)
	return cmd
}

// inspected holds the command's result.
type inspected struct {
	Version string `json:"version"` // Filewise's version
	Engine  string `json:"engine"`
	Target  string `json:"target"`
	inspect.Report
	Facts    filewise.Inspection `json:"facts"`
	Unproven string              `json:"unproven,omitempty"`
	Seconds  float64             `json:"seconds"`
}

func (a *app) inspectTarget(cmd *cobra.Command, f *plan.TargetOptions) (*inspected, error) {
	if f.Target.Value == "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "name a server, or SQLite's files: --target URL", "inspect needs a target")
	}
	c, err := registry().Choose(f)
	if err != nil {
		return nil, err
	}
	t := c.Target
	t.Durability = filewise.DurabilityFull
	to := inspect.Target{Engine: t.Engine, Scans: c.About.Scans, TempModes: c.About.TempModes,
		TempAsIs: c.About.TempAsIs, Embedded: t.Address == nil,
		Flags: []string{"--target", f.Target.Value}}
	if kinds := c.Kinds(); len(kinds) > 0 {
		to.Kind = kinds[0]
	}
	_, to.Captures = capture.Of(c.Engine)
	to.Applies = apply.Writes(c.Engine.Name())
	out := &inspected{Version: versionString(), Engine: t.Engine, Target: f.Target.Value, Unproven: c.About.Unproven}
	if t.Address != nil {
		out.Target, to.Flags = t.Address.String(), f.Again(t)
		full, err := a.login(cmd.Context(), t, c.Secret, f)
		if err != nil {
			return nil, err
		}
		t.Address = &full
		t.Volumes = []filewise.Volume{{Name: "default"}}
	}
	start := time.Now()
	if out.Facts, err = inspect.Look(cmd.Context(), c.Engine, t); err != nil {
		return nil, err
	}
	if cmd.Context().Err() != nil { // interrupted: the result would hold nothing but gaps
		return nil, context.Cause(cmd.Context())
	}
	out.Seconds = time.Since(start).Seconds()
	if to.Embedded {
		to.Flags = []string{"--target", t.Engine + ":" + directoryOf(t.Volumes[0].Dir)}
	}
	out.Report = inspect.Judge(out.Facts, to)
	a.hideFindings(out.Findings)
	return out, nil
}

// directoryOf returns the directory for an experiment's scratch files, next to a database.
func directoryOf(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

func (a *app) hideFindings(all []inspect.Finding) {
	for n := range all {
		f := &all[n]
		f.Evidence, f.Remedy = filewise.Hide(f.Evidence, a.secrets...), filewise.Hide(f.Remedy, a.secrets...)
	}
}

func (out *inspected) text(w *lineWriter) {
	w.printf("%s\n%s\n\n%s\n", out.Target, indent(out.Facts.Server, 0), out.Summary)
	if out.Unproven != "" {
		w.printf("\nUnproven: %s\n", out.Unproven)
	}
	last, first := inspect.Worth(""), map[string]string{} // by command, the finding that has shown it
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
		switch command := filewise.CommandLine(f.Command...); {
		case command == "":
		case first[command] != "":
			w.printf("    → as for “%s”\n", first[command])
		default:
			first[command] = f.About
			w.printf("    $ %s\n", command)
		}
	}
	if len(out.Own) > 0 {
		w.printf("\nOn your own database\n")
		for _, command := range out.Own {
			w.printf("  $ %s\n", filewise.CommandLine(command...))
		}
	}
	w.printf("\nNothing was written. It took %.1f s.\n", out.Seconds)
}
