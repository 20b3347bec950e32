package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/verdict/tablecsv"
	"filewise/results/archive"
	"filewise/results/gate"
	"filewise/run/plan"
)

func (a *app) judgeCommand() *cobra.Command {
	var f plan.JudgeOptions
	var csvFile, operation, decimal string
	var maxBlocks int
	var g resultFlags
	cmd := &cobra.Command{
		Use:               "judge [RUN]",
		Short:             "Judge stored trials by other rules, or your own CSV",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			typed := func(flag string) bool { return cmd.Flags().Changed(flag) && !slices.Contains(a.variables, flag) }
			switch {
			case cmd.Flags().Changed("csv") && len(args) > 0:
				return filewise.Errorf(filewise.CodeUsage, "give one of them", "run %s and --csv %s at once", args[0], csvFile)
			case cmd.Flags().Changed("csv"):
				o, err := csvOptions(operation, decimal)
				if err != nil {
					return err
				}
				return a.judgeCSV(&f, &g, csvFile, o, maxBlocks)
			case typed("decimal"):
				return plan.BadValue("decimal", decimal, "a stored run has no numbers to be read; use it with --csv")
			case typed("operation"):
				return plan.BadValue("operation", operation, "a stored run is judged with all its operations; use it with --csv")
			case typed("max-blocks"):
				return plan.BadValue("max-blocks", maxBlocks, "a stored run has the number that it was planned with; use it with --csv")
			}
			return a.judgeStored(cmd.Context(), &f, &g, args)
		},
	}
	registerOptions(cmd.Flags(), f.Table()...)
	a.registerResult(cmd.Flags(), &g)
	cmd.Flags().StringVar(&csvFile, "csv", "", "judge the trials in this CSV `file`; -: standard input")
	cmd.Flags().IntVar(&maxBlocks, "max-blocks", 0, "set boundaries for this number of `blocks` at most (default the file's, or 20)")
	cmd.Flags().StringVar(&operation, "operation", "", "judge only this `operation` of a --csv file (its column family)")
	cmd.Flags().StringVar(&decimal, "decimal", "", "decimal `character` of a --csv file, \",\" or \".\"; the other separates "+
		"thousands (default ., ambiguous numbers are refused)")
	cmd.Flags().SetNormalizeFunc(alsoNMax)
	completeChoices(cmd)
	return cmd
}

// csvOptions returns the options for reading a file.
func csvOptions(operation, decimal string) (tablecsv.Options, error) {
	o := tablecsv.Options{Operation: operation}
	switch decimal {
	case "":
	case ",", ".":
		o.Decimal = rune(decimal[0])
	default:
		return o, plan.BadValue("decimal", decimal, "give , or .")
	}
	return o, nil
}

// alsoNMax accepts --n-max as --max-blocks.
func alsoNMax(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "n-max" {
		name = "max-blocks"
	}
	return pflag.NormalizedName(name)
}

// judgeStored judges a stored run by other rules.
func (a *app) judgeStored(ctx context.Context, f *plan.JudgeOptions, g *resultFlags, args []string) error {
	s, err := a.load(ctx, args)
	if err != nil {
		return err
	}
	if err := g.parse(layoutNames(s.Plan.Layouts, s.Plan.AA)); err != nil {
		return err
	}
	rules := s.Plan
	if err := f.Override(&rules); err != nil {
		return err
	}
	other, judge := !reflect.DeepEqual(rules, s.Plan), s.Plan.Judge
	if other {
		judge = func(done []filewise.Trial) (experiment.Judgement, error) { return s.Plan.Rejudge(rules, done) }
	}
	j, err := judge(s.Trials)
	if err != nil {
		return err
	}
	s.Plan = rules
	d, err := archive.Data(s.Run, s.Trials, j)
	if err != nil {
		return err
	}
	d.Rejudged = other
	g.judgeRun(&d)
	if err := a.printData(d); err != nil {
		return err
	}
	return g.end(a)
}

// judgeCSV judges the trials in a file, and prints the verdict.
func (a *app) judgeCSV(f *plan.JudgeOptions, g *resultFlags, path string, o tablecsv.Options, maxBlocks int) error {
	inputs, err := a.readCSV(path, o)
	if err != nil {
		return err
	}
	all := make([]archive.Foreign, len(inputs))
	for i, in := range inputs {
		if n := archive.MeasuredLayouts(in.Table); n < 2 {
			return filewise.Errorf(filewise.CodeTrials, "give a result of at least two layouts: NA and nothing are trials that are missing",
				"%s has results of %d layouts%s: there is nothing to compare", sourceName(path), n, say.InBrackets(in.Operation))
		}
		if all[i], err = csvDesign(f, in, maxBlocks); err != nil {
			return err
		}
	}
	if !f.Confidence.Given() {
		shareConfidence(all)
	}
	if err := g.parse(inputs[0].Layouts); err != nil {
		return err
	}
	if err := g.haveP99(path, inputs); err != nil {
		return err
	}
	out, err := archive.JudgeElsewhere(path, all)
	if err != nil {
		return filewise.Errorf(filewise.CodeUsage, "see filewise judge --help", "judge %s: %w", sourceName(path), err)
	}
	out.Gate = g.judge(gate.Suite{Name: sourceName(path), Headline: say.Joined(" ", out.Headline, out.LatencyLoss),
		Said: out.Sentences[1:], Properties: out.Properties()}, out.Subjects())
	if err := a.print(out, func(w *lineWriter) {
		w.printf("%s", out.Text())
		gateText(w, out.Gate)
	}); err != nil {
		return err
	}
	return g.end(a)
}

// haveP99 returns an error for conditions on p99 if a file has none, since they would let everything pass.
func (f *resultFlags) haveP99(path string, inputs []tablecsv.Input) error {
	const remedy = "judge the run itself (filewise judge RUN), or give the columns p99_s and operations, as " +
		"filewise export RUN --format csv does"
	known := func(c verdict.Cell) bool { return c.Throughput > 0 }
	for _, in := range inputs {
		if slices.ContainsFunc(in.P99, func(row []verdict.Cell) bool { return slices.ContainsFunc(row, known) }) {
			return nil
		}
	}
	for _, c := range f.conditions {
		if c.Metric == gate.P99 {
			return filewise.Errorf(filewise.CodeUsage, remedy, "--fail-if %q: %s has no p99_s", c.Text, sourceName(path))
		}
	}
	for _, in := range inputs {
		if in.P99 == nil && in.Design.P99Limit > 0 {
			return filewise.Errorf(filewise.CodeUsage, remedy, "%s names a p99_limit_s and has no column p99_s to hold layouts to it",
				sourceName(path))
		}
	}
	return nil
}

// shareConfidence replaces the operations' confidences, equal shares that the file names, by the confidence of all
// operations together.
func shareConfidence(all []archive.Foreign) {
	highest := 0.0
	for _, in := range all {
		highest = max(highest, in.Design.Confidence)
	}
	if len(all) == 1 || highest == 0 {
		return
	}
	const digits = 1e12 // as it was given, without rounding errors
	for i := range all {
		all[i].Config.Confidence = math.Round((1-float64(len(all))*(1-highest))*digits) / digits
	}
}

func sourceName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// readCSV reads the operation that the options name from a file, or all operations if they name none. "-" is standard input.
func (a *app) readCSV(path string, o tablecsv.Options) (all []tablecsv.Input, err error) {
	from := filesystem.Reader(a.stdin)
	if path != "-" {
		file, err := filesystem.Open(path)
		if err != nil {
			return nil, filewise.Errorf(filewise.CodeUsage, "give a file that can be read, or - for standard input", "%w", err)
		}
		defer file.Close()
		from = file
	}
	if o.Operation == "" {
		all, err = o.ReadAll(from)
	} else {
		all = make([]tablecsv.Input, 1)
		all[0], err = o.Read(from)
	}
	if err == nil {
		return all, nil
	}
	var wrong *tablecsv.Error
	remedy := "one line is one trial, and the first line names the columns block, layout and throughput (or time)"
	if !errors.As(err, &wrong) && !errors.Is(err, io.EOF) {
		remedy = "give a CSV file that can be read"
	}
	return nil, filewise.Errorf(filewise.CodeUsage, remedy, "%s: %w", sourceName(path), err)
}

// csvDesign returns the design for judging the numbers by the flags' rules.
func csvDesign(f *plan.JudgeOptions, in tablecsv.Input, maxBlocks int) (out archive.Foreign, err error) {
	cfg := verdict.DefaultConfig()
	named := in.Design // from a file that Filewise exported; flags override it
	p := experiment.Plan{Rules: cmp.Or(named.Rules, cfg.Rules), Margin: cmp.Or(named.Margin, 2), Baseline: named.Baseline,
		Confidence: cfg.Confidence, Goal: cmp.Or(named.Goal, cfg.Goal)}
	for _, arm := range in.Arms() {
		if arm.Twin != "" {
			p.AA = arm.Name
		}
		p.Layouts = append(p.Layouts, filewise.Layout{Name: arm.Name, Rank: arm.Rank, Data: filewise.Spread{Files: arm.Rank}})
		if p.Baseline == "" && arm.Rank == 1 && arm.Twin == "" {
			p.Baseline = arm.Name // 1 file, unless set otherwise
		}
	}
	if err := f.Override(&p); err != nil {
		return out, err
	}
	out = archive.Foreign{Input: in, MaybeAll: maxBlocks == 0 && named.MaxBlocks == 0}
	switch {
	case maxBlocks == 0:
		maxBlocks = max(cmp.Or(named.MaxBlocks, cfg.MaxBlocks), len(in.Table))
	case maxBlocks < verdict.FirstAnalysis || maxBlocks > tablecsv.MaxBlocks:
		return out, plan.OutOfRange("max-blocks", maxBlocks, fmt.Sprintf("give the number of blocks that was planned, from %d to %d",
			verdict.FirstAnalysis, tablecsv.MaxBlocks))
	}
	cfg.Rules, cfg.Margin, cfg.Confidence, cfg.Goal, cfg.MaxBlocks = p.JudgedBy(), p.MarginLog(), p.Confidence, p.Goal, maxBlocks
	if named.Confidence > 0 && !f.Confidence.Given() { // already the share of one of several operations
		cfg.Confidence = named.Confidence
	}
	for i, name := range in.Layouts {
		if name == p.Baseline {
			cfg.Baseline = i
		}
	}
	out.Config = cfg
	return out, nil
}
