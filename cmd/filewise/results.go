package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/report"
	"filewise/store"
)

// stored is a run with its trials, read from the store.
type stored struct {
	run    store.Run
	trials []filewise.Trial
}

// load reads a run by its number, or the newest by "last".
func (a *app) load(ctx context.Context, ref string) (s stored, err error) {
	st, err := store.OpenExisting(ctx, a.storePath)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return loadFrom(ctx, st, ref)
}

func loadFrom(ctx context.Context, st *store.Store, ref string) (s stored, err error) {
	id, err := st.Resolve(ctx, ref)
	if err != nil {
		return s, err
	}
	if s.run, err = st.Run(ctx, id); err != nil {
		return s, err
	}
	s.trials, err = st.Trials(ctx, s.run.ID)
	return s, err
}

// data judges the run anew from its trials.
func (s stored) data() (report.Data, error) {
	j, err := s.run.Plan.Judge(s.trials)
	if err != nil {
		return report.Data{}, err
	}
	return data(s.run, s.trials, j)
}

func runArg(args []string) string {
	if len(args) == 0 {
		return "last"
	}
	return args[0]
}

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the stored runs",
		Example: "  filewise list\n  filewise list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			runs, err := a.runs(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(runs)
			}
			w := &lineWriter{w: a.stdout}
			if len(runs) == 0 {
				w.printf("No runs yet. \"filewise run\" makes one.\n")
			}
			for _, r := range runs {
				w.printf("%4d  %s  %-11s  %s on %s, %s; %d trials\n", r.ID, r.Started.Local().Format("2006-01-02 15:04"),
					r.State, r.Scenario, r.Engine, strings.Join(r.Layouts, " · "), r.Trials)
				if r.Verdict != "" {
					w.printf("      %s\n", r.Verdict)
				}
			}
			return w.err
		},
	}
}

// runs lists the stored runs; a store that does not exist has none.
func (a *app) runs(ctx context.Context) (runs []store.RunInfo, err error) {
	st, err := store.OpenExisting(ctx, a.storePath)
	if filewise.CodeOf(err) == filewise.CodeNotFound {
		return []store.RunInfo{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return st.Runs(ctx)
}

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a stored run: verdict, table, every trial",
		Example: `  filewise show          # the newest run
  filewise show 12 --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.load(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			j, err := s.run.Plan.Judge(s.trials)
			if err != nil {
				return err
			}
			if err := a.printRun(s.run, s.trials, j); err != nil || a.json {
				return err
			}
			w := &lineWriter{w: a.stdout}
			w.printf("\nTrials\n")
			for _, t := range s.trials {
				w.printf("  %s\n", trialLine(t))
			}
			return w.err
		},
	}
}

// trialLine is a trial in one line.
func trialLine(t filewise.Trial) string {
	where := fmt.Sprintf("block %2d", t.Cell.Block)
	if t.Cell.Pilot {
		where = "pilot   "
	}
	if t.Cell.Attempt > 1 {
		where += fmt.Sprintf(", attempt %d", t.Cell.Attempt)
	}
	if t.State == filewise.Failed {
		return fmt.Sprintf("%s  %-10s failed: %s", where, t.Cell.Layout, t.Reason)
	}
	out := fmt.Sprintf("%s  %-10s", where, t.Cell.Layout)
	for _, m := range t.Measures {
		out += " " + report.Measured(m)
		if m.Tail > 0 || m.Sync > 0 {
			out += fmt.Sprintf(", tail %v, durable after %v", m.Tail.Round(100_000), m.Sync.Round(100_000))
		}
	}
	return out
}

func (a *app) reportCommand() *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Write the report of a stored run: HTML, Markdown, JSON or text",
		Long: `Report writes the report of a stored run. HTML is one self-contained file that
opens without network; it goes to filewise-RUN.html unless --output says otherwise.
The other formats go to standard output.`,
		Example: `  filewise report                          # the newest run, as filewise-RUN.html
  filewise report 12 --output - > run.html
  filewise report 12 --format markdown`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, err := choice("format", format, "html", "markdown", "json", "text")
			if err != nil {
				return err
			}
			switch {
			case a.json && cmd.Flags().Changed("format") && kind == "csv":
				return badValue("format", kind, "--json is JSON: leave one of them out")
			case a.json:
				kind = "json"
			}
			s, err := a.load(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			d, err := s.data()
			if err != nil {
				return err
			}
			if output == "" && kind == "html" {
				output = fmt.Sprintf("filewise-%d.html", d.RunID)
			}
			return a.write(output, func(w io.Writer) error { return render(w, kind, d) })
		},
	}
	cmd.Flags().StringVar(&format, "format", "html", "html, markdown, json or text")
	completeFlag(cmd, "format", "html", "markdown", "json", "text")
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` to write; - is standard output")
	return cmd
}

func render(w io.Writer, format string, d report.Data) error {
	switch format {
	case "markdown":
		return report.Markdown(w, d)
	case "json":
		return report.JSON(w, d)
	case "text":
		return report.Terminal(w, d, report.TerminalOptions{Width: 80})
	}
	return report.HTML(w, d)
}

func (a *app) exportCommand() *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "export [RUN]",
		Short: "Write the trials of a stored run as CSV, or everything as JSON",
		Example: `  filewise export 12 --format csv --output trials.csv
  filewise export --format json | jq '.trials | length'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, err := choice("format", format, "csv", "json")
			if err != nil {
				return err
			}
			switch {
			case a.json && cmd.Flags().Changed("format") && kind == "csv":
				return badValue("format", kind, "--json is JSON: leave one of them out")
			case a.json:
				kind = "json"
			}
			s, err := a.load(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			return a.write(output, func(w io.Writer) error {
				if kind == "json" {
					return store.ExportJSON(w, s.run, s.trials)
				}
				return store.ExportCSV(w, s.run, s.trials)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "csv", "csv (one line a trial) or json (everything, slices included)")
	completeFlag(cmd, "format", "csv", "json")
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` to write; - or nothing is standard output")
	return cmd
}

func (a *app) judgeCommand() *cobra.Command {
	var f judgeFlags
	cmd := &cobra.Command{
		Use:   "judge [RUN]",
		Short: "Judge the stored trials of a run anew, by other rules",
		Long: `Judge applies the verdict's rules to stored trials, with another margin,
confidence, goal or baseline. The stored run is not altered. Rules that are
chosen after looking at the trials weaken the confidence that the verdict states.`,
		Example: `  filewise judge 12 --margin 5
  filewise judge last --baseline 4 --confidence 99`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.load(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			rules := s.run.Plan
			if err := f.override(cmd, &rules); err != nil {
				return err
			}
			j, err := s.run.Plan.Rejudge(rules, s.trials)
			if err != nil {
				return err
			}
			s.run.Plan = rules
			d, err := data(s.run, s.trials, j)
			if err != nil {
				return err
			}
			d.Rejudged = true
			return a.printData(d)
		},
	}
	f.register(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

// override sets of a stored plan's rules what the command line gives.
func (f *judgeFlags) override(cmd *cobra.Command, p *experiment.Plan) error {
	set := cmd.Flags().Changed
	if !set("margin") {
		f.margin = p.Margin
	}
	if !set("confidence") {
		f.confidence = 100 * p.Confidence
	}
	if !set("goal") {
		f.goal = string(p.Goal)
	}
	return f.apply(p)
}

// completeRun completes the numbers of stored runs.
func (a *app) completeRun(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	runs, err := a.runs(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	out := []string{"last\tthe newest run"}
	for _, r := range runs {
		out = append(out, fmt.Sprintf("%d\t%s on %s", r.ID, r.Scenario, r.Engine))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
