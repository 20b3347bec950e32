package preview

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/results/report"
	"filewise/run"
)

// Text returns the whole preview. A statement that is repeated for other files is shown once.
func (v Preview) Text() string {
	w, p := &lines{}, v.Plan
	w.printf("%s on %s (%s), durability %s, seed %d\nNothing is executed; this is what run would do.\n", p.Scenario, p.Target.Engine,
		p.Target.Mode, p.Target.Durability, p.Seed)
	w.printf("\nTime: %s\n\nSpace (%s)\n", timeWords(v), spaceWords(p))
	for _, s := range v.Space {
		w.printf("  %s\n", spaceLine(s))
	}
	shown := map[string]bool{}
	for _, l := range v.Layouts {
		printScript(w, l, shown)
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
	if v.Forecast != nil {
		w.printf("\n%s\n", v.Forecast.Sentence)
	}
	w.conditions(v.Conditions)
	if p.Ladder != nil && p.Ladder.Words() != "" {
		w.printf("%s\n", p.Ladder.Words())
	}
	w.others(v)
	return w.String()
}

// conditions lists the conditions of meaning.
func (w *lines) conditions(all []filewise.Condition) {
	if len(all) == 0 {
		return
	}
	w.printf("\nConditions under which the run is about files; pilots measure those with a question mark\n")
	for _, c := range all {
		w.printf("  %s %s: %s", c.Sign(), c.Name, c.Threshold)
		if c.Measured != "" {
			w.printf("; here %s", c.Measured)
		}
		if c.Broken() && c.Mend != "" {
			w.printf(" → %s", c.Mend)
		}
		w.printf("\n")
	}
}

// people lists maintenance windows, limits on others, and receivers of notifications.
func (w *lines) people(p experiment.Plan) {
	if len(p.Maintenance) > 0 {
		w.printf("Trials run within the maintenance windows only: %s\n", strings.Join(p.Maintenance, ", "))
	}
	if len(p.AbortIf) > 0 {
		w.printf("The run stops if others keep the server busy: %s\n", strings.Join(p.AbortIf, ", "))
	}
	if len(p.Notify) > 0 {
		w.printf("Notified: %s\n", strings.Join(p.Notify, ", "))
	}
}

// others lists what people lists, and the findings and warnings.
func (w *lines) others(v Preview) {
	p := v.Plan
	w.people(p)
	if v.Unseen != "" {
		w.printf("\nServer %s\n  could not be examined, so rights, space and settings are not checked: %s\n", p.Target.Address,
			Indent(v.Unseen, 2))
	}
	if len(v.Findings) > 0 {
		w.printf("\nServer %s\n", p.Target.Address)
		w.printf("%s", Findings(v.Findings))
	}
	all, scope := report.Ranked(v.Warnings)
	for _, x := range all {
		w.printf("\nWarning: %s\n", x.Message)
		if x.Remedy != "" {
			w.printf("  → %s\n", x.Remedy)
		}
	}
	if s := report.ScopeText(scope, true); s != "" {
		w.printf("\n%s\n", s)
	}
	w.printf("\nStart it: %s\n", filewise.CommandLine(p.Command...))
}

func spaceLine(s run.SpaceNeed) string {
	name := s.Volume.Name
	if s.Volume.Dir != "" {
		name += " (" + s.Volume.Dir + ")"
	}
	free := "free space unknown"
	if s.Free != nil {
		free = humanize.IBytes(uint64(*s.Free)) + " free"
	}
	return fmt.Sprintf("%s: at least %s needed, %s", name, humanize.IBytes(uint64(s.Need)), free)
}

// beforeAndAfter lists what trials do in addition to the statements of their layouts.
func beforeAndAfter(p experiment.Plan) []string {
	var out []string
	sc, err := workload.Lookup(p.Scenario)
	kept := err == nil && sc.Filling > 0 && !sc.Temp // loaded data that no trial alters
	switch {
	case kept && p.Builds == 0:
		out = append(out, "Builds: one for each trial, loaded by the same statements.")
	case kept:
		turns := "."
		if p.Target.Mode == filewise.Managed {
			turns = ", and all but the measured one are stopped."
		}
		out = append(out, fmt.Sprintf("Builds: %d of each layout, loaded once by the same statements; they take turns", p.Builds)+turns)
	case p.Preload > 0 && p.Builds == 0 && p.Target.Mode == filewise.Managed:
		out = append(out, fmt.Sprintf("Builds: one of each layout, loaded with %s by the same statements, shut down and kept; every trial has a "+
			"separate copy.", humanize.IBytes(uint64(p.Preload))))
	case p.Preload > 0 && p.Builds == 0:
		out = append(out, fmt.Sprintf("Builds: one for each trial, loaded with %s by the same statements.", humanize.IBytes(uint64(p.Preload))))
	case p.Builds == 0 && p.Params.Custom.Restored():
		out = append(out, fmt.Sprintf("Builds: one for each trial, restored by the server from %s, and taken to the layout.",
			p.Params.Custom.From))
	case p.CopiedBuilds:
		out = append(out, fmt.Sprintf("Builds: %d of each layout, one filled from %s, shut down and copied, the others copies of its files, "+
			"which count as the same build (give --builds to have each filled); every trial restores its build (kill, copy, start) and "+
			"stops it at its end.", p.Builds, p.Params.Custom.From))
	case p.Builds > 0 && p.Params.Custom.Restored():
		out = append(out, fmt.Sprintf("Builds: %d of each layout, filled once from %s, shut down and copied; every trial restores its build "+
			"(kill, copy, start) and stops it at its end.", p.Builds, p.Params.Custom.From))
	case p.Builds > 0:
		out = append(out, fmt.Sprintf("Builds: %d of each layout, loaded with %s by the same statements, shut down and copied; every trial "+
			"restores its build (kill, copy, start) and stops it at its end.",
			p.Builds, humanize.IBytes(uint64(p.Preload))))
	}
	switch {
	case p.Measure == experiment.MeasureLifecycle && p.Target.Mode == filewise.External:
		out = append(out, "Life cycle: half of the work, then the build goes offline and online again, both timed; the other half, then a "+
			"checkpoint. Nothing is crashed, so no recovery is timed.")
	case p.Measure == experiment.MeasureLifecycle:
		out = append(out, "Life cycle: a third of the work, then shutdown and open are timed; another third, then a checkpoint; the last "+
			"third, then the server is killed and its recovery timed.")
	}
	return append(out, interleavedWords(p)...)
}

// sessionWords explains how layouts take turns, or why they do not.
func interleavedWords(p experiment.Plan) []string {
	if !p.TakesTurns() {
		if p.OneByOne == "" {
			return nil
		}
		return []string{"Turns: none, one trial after the other: " + p.OneByOne + "."}
	}
	rounds, turn := "", "a turn"
	if p.Rounds > 0 {
		rounds = fmt.Sprintf(" in %d rounds", p.Rounds)
	}
	if p.Rounds > 0 && p.Window > 0 {
		turn += " of " + say.Human((p.Window / time.Duration(p.Rounds)).Round(time.Millisecond))
	}
	out := fmt.Sprintf("Turns: blocks are interleaved%s, all layouts are open at once; each round gives every layout %s, in fresh random "+
		"order, and waits after each until it is durable and quiet.", rounds, turn)
	if p.Rounds == 0 {
		out += " Pilots fix how long a turn is, and how many rounds a block has."
	}
	first := make([]string, 3)
	for r := range first {
		first[r] = strings.Join(p.TurnOrder(1, r+1), " · ")
	}
	out += " The turns of block 1 begin: " + strings.Join(first, "; ") + "."
	if p.Target.Mode == filewise.External {
		out += " All of them lie on the one server, and share its memory."
	}
	return []string{out}
}

// spaceWords explains what the needed space includes, and what it does not.
func spaceWords(p experiment.Plan) string {
	out := "one layout is built at a time"
	if p.TakesTurns() {
		out = "all layouts are there at once"
	}
	if p.Builds > 0 {
		if out = fmt.Sprintf("%d loaded builds of every layout", p.Builds); p.Target.Mode == filewise.Managed {
			out += ", and a copy of each"
		}
	}
	if p.Window > 0 {
		out += "; what a window writes beyond --size comes on top, and the run ends before a volume is full"
	}
	return out
}

// timeWords reports how long a run takes, and if the budget is too short to write the data on any storage.
func timeWords(v Preview) string {
	const fast = 1e9 // bytes a second
	need := 0.0
	for _, s := range v.Space {
		need += float64(s.Need)
	}
	words := budgetWords(v)
	if writing := time.Duration(need / fast * float64(time.Second)); v.Plan.Budget > 0 && writing > v.Plan.Budget {
		words += fmt.Sprintf("; but to write %s takes %s at 1 GB/s: compare on a smaller --size first", humanize.IBytes(uint64(need)),
			say.Human(writing.Round(time.Minute)))
	}
	return words
}

func budgetWords(v Preview) string {
	if v.Plan.Window == 0 {
		if v.Plan.Budget == 0 && v.Plan.AsPublished != nil {
			return "not known before the first runs: the work of a run is fixed, and so is the number of runs"
		}
		if v.Plan.Budget == 0 {
			return "not known before the pilots: the work of a trial is fixed, and no --budget is set"
		}
		return fmt.Sprintf("%s at most (the budget); how long a trial takes is known after the pilots", say.Human(v.AtMost))
	}
	if v.Plan.Budget == 0 {
		return fmt.Sprintf("%s of measured windows, and what lies between them: no --budget is set", say.Human(v.AtMost.Round(time.Second)))
	}
	if v.Plan.BudgetMost > 0 {
		return fmt.Sprintf("%s (the budget; up to %s if an interval needs it)", say.Human(v.Plan.Budget), say.Human(v.AtMost))
	}
	return fmt.Sprintf("%s at most (the budget)", say.Human(v.AtMost.Round(time.Second)))
}

// printScript prints a layout's files, and its statements that were not shown yet. The same statement for another file,
// or for another layout of the kind, differs only in numbers.
func printScript(w *lines, l LayoutScript, shown map[string]bool) {
	w.printf("\nLayout %s\n", l.Layout.Name)
	growing := ""
	if l.Layout.Data.Allocation == filewise.Growing {
		growing = " at the start, then growing"
		if l.Layout.Data.Growth > 0 {
			growing = fmt.Sprintf(" at most at the start, then in steps of %s", humanize.IBytes(uint64(l.Layout.Data.Growth)))
		}
	}
	last := 0 // last data file: in a system tablespace, only it grows
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
	again := 0
	for _, s := range l.Steps {
		key := l.key(s)
		if shown[key] {
			again++
			continue
		}
		shown[key] = true
		w.printf("  [%s, on %s] %s\n", s.Stage, s.On, s.SQL)
	}
	if again > 0 {
		w.printf("  and %s like those above, for these files\n", filewise.Counted(again, "step"))
	}
}

var numbers = regexp.MustCompile(`\d+([ ,]+\d+)*`)

// key returns a key that is equal for the same step on different files.
func (l LayoutScript) key(s filewise.Step) string {
	text := s.SQL
	for _, f := range l.Files {
		if f.Path != "" {
			text = strings.ReplaceAll(text, f.Path, "FILE")
		}
	}
	return fmt.Sprintf("%s %s %s", l.Layout.Kind, s.Stage, numbers.ReplaceAllString(text, "0"))
}

// printTrials lists the trials block by block.
func printTrials(w *lines, cells []filewise.Cell) {
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

// orderWords describes the order of trials.
func orderWords(p experiment.Plan) string {
	a := p.AsPublished
	if a == nil {
		pilots := "1 pilot per layout"
		if p.OnePilot {
			pilots = "1 pilot"
		}
		return fmt.Sprintf("Trials: %s, then up to %d blocks of all layouts in random order (%s at most). "+
			"Layouts proven not to be best are dropped early", pilots, p.MaxBlocks, filewise.Counted(len(p.Trials()), "trial"))
	}
	return fmt.Sprintf("Trials, as published at scale %g: each layout is run %s, one layout after the other; nothing is randomised", a.Scale,
		a.Times())
}

// printRuns lists the runs of an article's design, layout by layout.
func printRuns(w *lines, p experiment.Plan) {
	for _, l := range p.Layouts {
		w.printf("  %s: %s\n", l.Name, filewise.Counted(p.AsPublished.Repeats, "run"))
	}
	sc, err := workload.Lookup(p.Scenario)
	if err != nil {
		return
	}
	w.printf("\nNot as published\n")
	for _, s := range sc.On(p.Target.Engine).DiffersHere(p.Layouts, p.AsPublished.Scale, p.Command) {
		w.printf("  %s\n", s)
	}
}
