// Package archive reads stored runs for lists, reports and comparisons. Each run is judged again from its trials.
package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/results/report"
	"filewise/results/store"
)

// Run is a stored run with its trials.
type Run struct {
	store.Run
	Trials []filewise.Trial
	limit  *Run // the newest run that threw the same backups away, see discarded
	rules  int  // to judge by, see ByRules. 0 means the run's own
}

// ByRules returns the run, to be judged by the given rules. If rules is 0, the run's own rules judge it.
func (r Run) ByRules(rules int) Run {
	r.rules = rules
	return r
}

// judgedBy returns the stored run with the rules that judge it. The run was measured by its own rules.
func (r Run) judgedBy() store.Run {
	out := r.Run
	if r.rules > 0 {
		out.Plan.Rules = r.rules
	}
	return out
}

func (r Run) judge() (experiment.Judgement, error) {
	if by := r.judgedBy().Plan; by.JudgedBy() != r.Plan.JudgedBy() {
		return r.Plan.Rejudge(by, r.Trials)
	}
	return r.Plan.Judge(r.Trials)
}

// samples returns the run's complete blocks, to be judged by the rules set for it.
func (r Run) samples() ([]experiment.OperationSample, error) {
	all, err := r.Plan.Samples(r.Trials)
	for i := range all {
		all[i].Config.Rules = r.judgedBy().Plan.JudgedBy()
	}
	return all, err
}

// Thrown returns the trials of the run that discarded the same backups, which shows their limit. It is nil if there is
// no such run.
func (r Run) Thrown() []filewise.Trial {
	if r.limit == nil {
		return nil
	}
	return r.limit.Trials
}

// Load reads a run from the store at path, by its number or name, or the newest run by "last".
func Load(ctx context.Context, path, ref string) (r Run, err error) {
	st, err := store.OpenExisting(ctx, path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return From(ctx, st, ref)
}

// From reads a run of an open store.
func From(ctx context.Context, st *store.Store, ref string) (r Run, err error) {
	id, err := st.Resolve(ctx, ref)
	if err != nil {
		return r, err
	}
	if r.Run, err = st.Run(ctx, id); err != nil {
		return r, err
	}
	if r.Trials, err = st.Trials(ctx, id); err != nil {
		return r, err
	}
	r.limit, err = discarded(ctx, st, r.Run)
	return r, err
}

// List lists the stored runs, the oldest first. A store that does not exist has none.
func List(ctx context.Context, path string) (runs []store.RunInfo, err error) {
	runs, _, err = Page(ctx, path, store.Page{})
	return runs, err
}

// Page lists a part of the stored runs, as Store.Page does.
func Page(ctx context.Context, path string, p store.Page) (runs []store.RunInfo, more int, err error) {
	st, err := store.OpenExisting(ctx, path)
	if filewise.CodeOf(err) == filewise.CodeNotFound {
		return []store.RunInfo{}, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return st.Page(ctx, p)
}

// Data judges the run again from its trials.
func (r Run) Data() (report.Data, error) {
	j, err := r.judge()
	if err != nil {
		return report.Data{}, err
	}
	d, err := Data(r.judgedBy(), r.Trials, j)
	d.Rejudged = r.judgedBy().Plan.JudgedBy() != r.Plan.JudgedBy()
	if err != nil || r.limit == nil {
		return d, err
	}
	limit, err := r.limit.Data()
	d.Limit = &limit
	return d, err
}

// Data returns a run with the judgement of its trials, as reports need it.
func Data(run store.Run, trials []filewise.Trial, j experiment.Judgement) (report.Data, error) {
	sc, err := workload.Lookup(run.Plan.Scenario)
	if err != nil {
		return report.Data{}, err
	}
	numbered(j, run.ID)
	d := report.Data{
		RunID: run.ID, Version: run.Version, Started: run.Started, State: string(run.State), Plan: run.Plan,
		Scenario: sc, Trials: experiment.Counted(trials), Judgement: j, Machine: run.Machine, Server: run.Server,
	}
	if j.Decision.Ending == experiment.GoesOn && run.Ending == experiment.Broken {
		d.Judgement.Decision = experiment.Decision{Ending: run.Ending, Why: run.Why} // trials do not show how the run ended
	}
	first, rest := experiment.StillWarnings(j.Warnings)
	d.Judgement.Warnings = slices.Concat(first, run.Warnings, rest)
	if run.Origin != nil {
		d.Machine = append([]filewise.Fact{{Name: "imported", Value: run.Origin.String()}}, d.Machine...)
	}
	if run.Ended != nil {
		d.Ended = *run.Ended
	}
	return d, nil
}

// numbered puts the run's number into commands that its sentences offer.
func numbered(j experiment.Judgement, run int64) {
	const resume = "filewise resume "
	for f := range j.Operations {
		for i, text := range j.Operations[f].Sentences {
			j.Operations[f].Sentences[i] = strings.ReplaceAll(text, resume+experiment.RunPlace, fmt.Sprint(resume, run))
		}
	}
}

// ListOrders lists the orders in which runs can be listed.
var ListOrders = []string{"number", "newest", "name", "scenario", "engine"}

// Chosen returns the runs that match all filters (KEY=VALUE), in one of ListOrders.
func Chosen(runs []store.RunInfo, filters []string, order string) ([]store.RunInfo, error) {
	out := slices.Clone(runs)
	for _, f := range filters {
		key, value, ok := strings.Cut(f, "=")
		of := map[string]func(store.RunInfo) []string{
			"name": func(r store.RunInfo) []string { return []string{r.Name} }, "tag": func(r store.RunInfo) []string { return r.Tags },
			"scenario": func(r store.RunInfo) []string { return []string{r.Scenario} },
			"engine":   func(r store.RunInfo) []string { return []string{r.Engine} },
			"state":    func(r store.RunInfo) []string { return []string{string(r.State)} },
		}[key]
		if !ok || of == nil {
			return nil, filewise.Errorf(filewise.CodeUsage, "give one of name=, tag=, scenario=, engine= and state=, such as tag=env=prod",
				"--filter %q is none", f)
		}
		out = slices.DeleteFunc(out, func(r store.RunInfo) bool { return !slices.Contains(of(r), value) })
	}
	slices.SortStableFunc(out, func(a, b store.RunInfo) int {
		switch order {
		case "newest":
			return b.Started.Compare(a.Started)
		case "name":
			return cmp.Compare(a.Name, b.Name)
		case "scenario":
			return cmp.Compare(a.Scenario, b.Scenario)
		case "engine":
			return cmp.Compare(a.Engine, b.Engine)
		}
		return 0
	})
	return out, nil
}

// decisionOf returns a run's decision in a word: the overall operation's, or else the operations' if they agree, or else
// "mixed". It is empty if the run has not ended, or was stored before decisions were.
func decisionOf(r store.RunInfo) string {
	word := ""
	for _, d := range r.Decisions {
		switch {
		case d.Operation == experiment.OperationOverall:
			return string(d.Decision)
		case word != "" && word != string(d.Decision):
			word = "mixed"
		default:
			word = string(d.Decision)
		}
	}
	return word
}

// ListText returns a list of runs for people. stored is the number of runs in the store.
func ListText(runs []store.RunInfo, stored int) string {
	switch {
	case stored == 0:
		return "No runs yet. \"filewise run\" makes one.\n"
	case len(runs) == 0:
		return "None of " + filewise.Counted(stored, "run") + " is like that.\n"
	}
	var b strings.Builder
	b.WriteString(" RUN  STARTED           STATE        DECISION  WHAT\n")
	for _, r := range runs {
		fmt.Fprintf(&b, "%4d  %s  %-11s  %-8s  %s\n", r.ID, r.Started.Local().Format("2006-01-02 15:04"), r.State, decisionOf(r), what(r))
	}
	return b.String()
}

// what names a run and gives the first sentence of its verdict, and a latency loss. If the run has no verdict, it lists
// layouts and trials.
func what(r store.RunInfo) string {
	labels := append([]string{r.Name}, r.Tags...)
	if r.Origin != nil {
		labels = append(labels, "imported: "+r.Origin.String())
	}
	out := r.Scenario + " on " + r.Engine
	if labels = slices.DeleteFunc(labels, func(s string) bool { return s == "" }); len(labels) > 0 {
		out += " [" + strings.Join(labels, ", ") + "]"
	}
	first, rest, more := strings.Cut(r.Verdict, ". ")
	loss := strings.Index(rest, "Caution")
	if loss < 0 {
		loss = strings.Index(rest, "But ") // the wording of older verdicts
	}
	switch {
	case loss >= 0: // keep the latency loss
		return out + ": " + first + ". " + rest[loss:]
	case more:
		return out + ": " + first + "."
	case first != "":
		return out + ": " + first
	}
	return fmt.Sprintf("%s, %s; %s", out, strings.Join(r.Layouts, " · "), filewise.Counted(r.Trials, "trial"))
}
