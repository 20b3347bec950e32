package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/results/archive"
	"filewise/run/plan"
)

// acrossFlags holds compare's flags for several hosts.
type acrossFlags struct {
	across         bool
	filters        []string
	format, output string
}

func (f *acrossFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.across, "across", false, "pool the runs of several hosts: numbers, names, or bundles")
	cmd.Flags().StringArrayVar(&f.filters, "filter", nil, "with --across: also stored runs with this `KEY=VALUE` "+
		"(repeatable: all must hold)")
	cmd.Flags().StringVar(&f.format, "format", "", "`format`: text, markdown, html or json (default by --output's name, else text)")
	completeFlag(cmd, "format", "text", "markdown", "html", "json")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "`file` to write (default standard output)")
}

// check returns an error for flags that belong to the other form of the command.
func (f *acrossFlags) check(cmd *cobra.Command, args []string) error {
	if !f.across {
		if fl := cmd.Flags().Lookup("filter"); fl.Changed {
			return plan.BadValue("filter", fl.Value, "it goes with --across")
		}
		return cobra.ExactArgs(2)(cmd, args)
	}
	for _, name := range []string{"fail-if", "junit"} {
		if fl := cmd.Flags().Lookup(name); fl.Changed {
			return plan.BadValue(name, fl.Value, "it is for two runs, before and after: leave --across out")
		}
	}
	if len(args) == 0 && len(f.filters) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "name runs or bundles, or give --filter", "compare --across of which runs?")
	}
	return nil
}

// compareAcross shows the pooled result of several hosts' runs.
func (a *app) compareAcross(ctx context.Context, args []string, f *acrossFlags, confidence float64, meant []string, rules int) error {
	format, err := f.kind(a)
	if err != nil {
		return err
	}
	runs, err := archive.HostRuns(ctx, a.storePath, args, f.filters, func(ref string) (archive.HostRun, error) {
		return a.hostRun(ctx, ref, rules)
	})
	if err != nil {
		return err
	}
	all, err := archive.PoolHosts(runs, confidence, meant)
	if err != nil {
		return err
	}
	return a.writeAs(f.output, format, all, all.Write)
}

// kind returns the format: the chosen one, else the format of the file's name, else text.
func (f *acrossFlags) kind(a *app) (string, error) {
	known := map[string]string{".md": "markdown", ".html": "html", ".json": "json"}
	switch {
	case a.json:
		return "json", nil
	case f.format == "" && known[filepath.Ext(f.output)] != "":
		return known[filepath.Ext(f.output)], nil
	case f.format == "":
		return "text", nil
	}
	return plan.Choice("format", f.format, "text", "markdown", "html", "json")
}

// hostRun reads a run from the store, or from a bundle.
func (a *app) hostRun(ctx context.Context, ref string, rules int) (archive.HostRun, error) {
	if ext := strings.ToLower(filepath.Ext(ref)); ext != ".gz" && ext != ".tgz" && !strings.ContainsRune(ref, filepath.Separator) {
		r, err := archive.Load(ctx, a.storePath, ref)
		if err != nil {
			return archive.HostRun{}, err
		}
		return archive.NewHostRun(r.ByRules(rules), ref, "")
	}
	m, run, trials, err := a.readBundle(ref)
	if err != nil {
		return archive.HostRun{}, err
	}
	return archive.NewHostRun(archive.Run{Run: run, Trials: trials}.ByRules(rules), ref, m.Host)
}
