package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/machine"
	"filewise/workload"
)

func (a *app) planCommand() *cobra.Command {
	var f planFlags
	var power powerFlags
	var only []string
	cmd := &cobra.Command{
		Use:   "plan [SCENARIO or FILE.yaml]",
		Short: "Show what run would do: trials in order, statements, files, space and time",
		Long: `Plan takes the arguments of run and executes nothing: it shows the trials in
order, every SQL statement, the files with their sizes, the space needed and
free, and the time that it may take. Layouts that are dropped on the way make the
later blocks shorter. Of an existing server (--target) it reads what the run would
check, and writes nothing.`,
		Example: `  filewise plan
  filewise plan --files 1,8 --size 1GiB --json
  filewise plan study.yaml`,
		Args:              oneStudy,
		ValidArgsFunction: completeScenarioOrFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := power.check(cmd); err != nil || power.wanted {
				if err == nil {
					err = a.planPower(cmd, &f, &power, scenarioArg(args))
				}
				return err
			}
			if file, ok := studyArg(args); ok {
				return a.planStudy(cmd, file, only)
			}
			if err := onlyInStudies(only); err != nil {
				return err
			}
			p, err := f.plan(cmd, scenarioArg(args))
			if err != nil {
				return err
			}
			return a.planOne(cmd.Context(), &f, p)
		},
	}
	registerOnly(cmd, &only)
	f.register(cmd.Flags())
	power.register(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

// planOne shows one experiment.
func (a *app) planOne(ctx context.Context, f *planFlags, p experiment.Plan) error {
	v, err := previewOf(ctx, p, f.access(a, p.Target))
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(v)
	} else {
		err = a.printPreview(v)
	}
	if err != nil {
		return err
	}
	if v.unseen != nil {
		return v.unseen
	}
	return failedFindings(p.Target, v.Findings)
}

// preview is what plan shows.
type preview struct {
	Plan     experiment.Plan    `json:"plan"`
	Layouts  []layoutScript     `json:"layouts"`
	Trials   []filewise.Cell    `json:"trials"` // all there can be: no layout dropped, none failed
	Space    []spaceNeed        `json:"space"`
	AtLeast  time.Duration      `json:"at_least_ns"` // measured time of the fewest blocks that allow a verdict
	AtMost   time.Duration      `json:"at_most_ns"`  // the budget, or all blocks where there is none
	Warnings []filewise.Warning `json:"warnings"`
	// Findings are what an existing server was found to be.
	Findings []filewise.Finding `json:"findings,omitempty"`
	// Unseen says why an existing server could not be looked at.
	Unseen string `json:"unseen,omitempty"`
	unseen error
}

type layoutScript struct {
	Layout filewise.Layout `json:"layout"`
	filewise.Script
}

func previewOf(ctx context.Context, p experiment.Plan, login access) (_ preview, err error) {
	r, err := prepare(p)
	if err != nil {
		return preview{}, err
	}
	scripts := r.scripts
	out := preview{Plan: p, Trials: p.Trials()}
	for i, s := range scripts {
		out.Layouts = append(out.Layouts, layoutScript{p.Layouts[i], s})
	}
	if out.Space, err = spaceNeeds(p, scripts); err != nil {
		return preview{}, err
	}
	out.AtLeast, out.AtMost = p.Duration()
	out.Warnings = slices.Concat(machine.Warnings(volumesHere(p.Target)), scriptWarnings(scripts), labelWarnings(p.Target, describe(r.engine)))
	if p.Target.Mode == filewise.External {
		defer func() { err = errors.Join(err, r.close()) }()
		if err := r.connect(ctx, p.Target, login); err != nil {
			if ctx.Err() != nil {
				return preview{}, err
			}
			// What would be executed is told without the server too.
			out.unseen = err
			out.Unseen = filewise.Hide(err.Error(), r.secrets()...)
			return out, nil
		}
		if err := r.knowGauges(ctx, p); err != nil {
			return preview{}, err
		}
		out.Findings = r.examine(ctx, p)
	}
	return out, nil
}

func (a *app) printPreview(v preview) error {
	w := &lineWriter{w: a.stdout}
	p := v.Plan
	w.printf("%s on %s (%s), durability %s, seed %d\nNothing is executed; this is what run would do.\n", p.Scenario, p.Target.Engine, p.Target.Mode, p.Target.Durability, p.Seed)
	for _, l := range v.Layouts {
		printScript(w, l)
	}
	for _, s := range beforeAndAfter(p) {
		w.printf("\n%s\n", s)
	}
	w.printf("\n%s\n", orderWords(p))
	if p.AsPublished != nil {
		printRuns(w, p)
	} else {
		printTrials(w, v.Trials)
	}
	w.printf("\nSpace (%s)\n", spaceWords(p))
	for _, s := range v.Space {
		w.printf("  %s\n", spaceLine(s))
	}
	w.printf("\nTime: %s\n", timeWords(v))
	if len(p.Maintenance) > 0 {
		w.printf("Trials run within the maintenance windows only: %s\n", strings.Join(p.Maintenance, ", "))
	}
	if len(p.AbortIf) > 0 {
		w.printf("The run stops if others keep the server busy: %s\n", strings.Join(p.AbortIf, ", "))
	}
	if len(p.Notify) > 0 {
		w.printf("Told how it goes: %s\n", strings.Join(p.Notify, ", "))
	}
	if v.Unseen != "" {
		w.printf("\nServer %s\n  could not be looked at, so rights, space and settings are not checked: %s\n", p.Target.Address, indent(v.Unseen, 2))
	}
	if len(v.Findings) > 0 {
		w.printf("\nServer %s\n", p.Target.Address)
		printFindings(w, v.Findings)
	}
	for _, x := range v.Warnings {
		w.printf("\nWarning: %s\n", x.Message)
		if x.Remedy != "" {
			w.printf("  → %s\n", x.Remedy)
		}
	}
	return w.err
}

func spaceLine(s spaceNeed) string {
	name := s.Volume.Name
	if s.Volume.Dir != "" {
		name += " (" + s.Volume.Dir + ")"
	}
	free := "what is free is the server's to say"
	if s.Free != nil {
		free = humanize.IBytes(uint64(*s.Free)) + " free"
	}
	return fmt.Sprintf("%s: at least %s needed, %s", name, humanize.IBytes(uint64(s.Need)), free)
}

// beforeAndAfter says what trials do besides the statements of their layouts.
func beforeAndAfter(p experiment.Plan) []string {
	var out []string
	sc, err := workload.Lookup(p.Scenario)
	kept := err == nil && sc.Filling > 0 && !sc.Temp // loaded data that no trial alters
	switch {
	case kept && p.Instances == 0:
		out = append(out, "Builds: one for each trial, loaded by the same statements.")
	case kept:
		out = append(out, fmt.Sprintf("Builds: %d of each layout, loaded once by the same statements; they take turns, each stopped where it is not measured.", p.Instances))
	case p.Preload > 0 && p.Instances == 0:
		out = append(out, fmt.Sprintf("Builds: one for each trial, loaded with %s by the same statements.", humanize.IBytes(uint64(p.Preload))))
	case p.Instances > 0:
		out = append(out, fmt.Sprintf("Builds: %d of each layout, loaded with %s by the same statements, shut down and copied; every trial restores its build (kill, copy, start) and stops it at its end.",
			p.Instances, humanize.IBytes(uint64(p.Preload))))
	}
	if p.Measure == experiment.MeasureLifecycle {
		out = append(out, "Life cycle: a third of the work, then shutdown and open are timed; another third, then a checkpoint; the last third, then the server is killed and its recovery timed.")
	}
	return append(out, sessionWords(p)...)
}

// sessionWords say how layouts take turns.
func sessionWords(p experiment.Plan) []string {
	if p.Cells == 0 {
		return nil
	}
	out := fmt.Sprintf("Sessions: a block is a session of %d rounds, layouts live side by side; each round gives every layout a turn of %v, in fresh random order, and waits after each until it is durable and quiet. One warm-up round goes before; pilots are measured one after the other.",
		p.Cells, p.Turn().Round(time.Millisecond))
	if p.Target.Mode == filewise.External {
		out += " All of them lie on the one server, and share its memory."
	}
	return []string{out}
}

// spaceWords say what the need is of, and what it does not hold.
func spaceWords(p experiment.Plan) string {
	out := "one layout is built at a time"
	if p.Cells > 0 {
		out = "all layouts are there at once"
	}
	if p.Instances > 0 {
		out = fmt.Sprintf("%d loaded builds of every layout, and a copy of each", p.Instances)
	}
	if p.Window > 0 {
		out += "; what a window writes beyond --size comes on top, and the run ends before a volume is full"
	}
	return out
}

func timeWords(v preview) string {
	if v.Plan.Window == 0 {
		if v.Plan.Budget == 0 && v.Plan.AsPublished != nil {
			return "not known before the first runs: the work of a run is fixed, and the design says how many there are"
		}
		if v.Plan.Budget == 0 {
			return "not known before the pilots: the work of a trial is fixed, and no --budget is set"
		}
		return fmt.Sprintf("at most about %v (the budget); how long a trial takes is known after the pilots", v.AtMost)
	}
	return fmt.Sprintf("at least %v of measured windows; at most about %v", v.AtLeast.Round(time.Second), v.AtMost.Round(time.Second))
}

func printScript(w *lineWriter, l layoutScript) {
	w.printf("\nLayout %s\n", l.Layout.Name)
	growing := ""
	if l.Layout.Data.Allocation == filewise.Growing {
		growing = " at the start, then growing"
		if l.Layout.Data.Growth > 0 {
			growing = fmt.Sprintf(" at most at the start, then in steps of %s", humanize.IBytes(uint64(l.Layout.Data.Growth)))
		}
	}
	last := 0 // data file: of a system tablespace, no other one grows
	for i, f := range l.Files {
		if f.Role == filewise.RoleData {
			last = i
		}
	}
	for i, f := range l.Files {
		size := humanize.IBytes(uint64(f.Bytes))
		if f.Role == filewise.RoleData && (l.Layout.Kind != filewise.KindSystem || i == last) {
			size += growing
		}
		w.printf("  %-5s %10s  %s\n", f.Role, size, f.Path)
	}
	for _, s := range l.Steps {
		w.printf("  [%s, on %s] %s\n", s.Stage, s.On, s.SQL)
	}
}

// printTrials lists the trials block by block.
func printTrials(w *lineWriter, cells []filewise.Cell) {
	block := -1
	for _, c := range cells {
		if c.Block != block {
			block = c.Block
			if c.Pilot {
				w.printf("  pilots: ")
			} else {
				w.printf("\n  block %2d: ", block)
			}
		} else {
			w.printf(" · ")
		}
		w.printf("%s", c.Layout)
	}
	w.printf("\n")
}
