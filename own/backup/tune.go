// Package backup makes backups of users' databases, with the tools of each engine side by side, and evaluates a run of
// them: the fastest setting, the proof by a restore that is compared with the original, and the script to keep.
package backup

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/results/archive"
	"filewise/run"
)

// Result holds the conclusions from a run of backups.
type Result struct {
	Run      int64          `json:"run"`
	Database string         `json:"database"`
	Server   string         `json:"server"`
	Layout   string         `json:"layout"`
	Verdict  string         `json:"verdict"`
	Settings []Setting      `json:"settings"` // the fastest first
	Limit    *time.Duration `json:"limit_ns,omitempty"`
	Proof    Proof          `json:"proof"`
	Work     string         `json:"own_work,omitempty"` // measured without a backup

	// Restores are the leaders' restores, the fastest first; nil if they were not measured.
	Restores   []Restore     `json:"restores,omitempty"`
	RestoreRun int64         `json:"restore_run,omitempty"`
	Optimize   string        `json:"optimize,omitempty"` // one of Optimizations
	Within     time.Duration `json:"restore_within_ns,omitempty"`
	Missed     bool          `json:"missed,omitempty"` // no setting restores within the limit

	plan   experiment.Plan
	layout filewise.Layout
	at     time.Time
}

// Setting holds the medians over a layout's backups.
type Setting struct {
	Layout  string        `json:"layout"`
	Backups int           `json:"backups"`
	Took    time.Duration `json:"took_ns"`
	Bytes   float64       `json:"bytes"`
	// Latency is the mean time of the database's own statements during the backup, in seconds. It is absent if the server
	// does not count them, or there were none.
	Latency *float64 `json:"latency_s,omitempty"`
}

// Proof describes the evidence for a setting: a backup was restored and compared with the original.
type Proof struct {
	Backup  time.Duration `json:"backup_ns"`
	Restore time.Duration `json:"restore_ns"`
	Bytes   int64         `json:"bytes"`
	By      string        `json:"by,omitempty"` // another proof, if nothing was restored
}

// onward returns the remedy for a run without a result: resume it or, if it has ended, start again with a larger
// budget.
func onward(r archive.Run, ended experiment.Ending) string {
	if ended == experiment.GoesOn {
		return fmt.Sprintf("filewise resume %d, and then filewise backup %d", r.ID, r.ID)
	}
	var took time.Duration
	done := 0
	for _, t := range r.Trials {
		if t.State == filewise.Done {
			took, done = took+t.Elapsed, done+1
		}
	}
	enough := 2 * r.Plan.Budget
	if done > 0 { // one block more than the first interim analysis needs, since failed trials are repeated
		enough = max(enough, took/time.Duration(done)*time.Duration(len(r.Plan.Layouts)*(verdict.FirstAnalysis+1)))
	}
	if enough == 0 {
		return "start again, with fewer --files and --backup-option"
	}
	return fmt.Sprintf("start again, since it has ended: the same command with --budget %v or more, or with fewer --files and --backup-option",
		enough.Round(time.Minute)+time.Minute)
}

// unfound returns the error for a run that has found no setting. Its remedy replaces the decision's own, which is about
// runs.
func unfound(r archive.Run, d experiment.Decision) error {
	why, _, _ := strings.Cut(d.Why, "."+verdict.ToDo)
	return filewise.Errorf(filewise.CodeUsage, onward(r, d.Ending), "run %d has found no setting yet: %s", r.ID, why)
}

// Of returns the conclusions from a run: above all the best setting. thrown holds the trials whose backups were thrown
// away.
func Of(r archive.Run, thrown []filewise.Trial) (*Result, error) {
	p := r.Plan
	if p.Target.Database == "" || p.Target.Part != nil || p.Params.Discard {
		return nil, filewise.Errorf(filewise.CodeUsage, "name one: filewise list", "run %d has no stored backups of a whole database "+
			"of yours", r.ID)
	}
	j, err := p.Judge(r.Trials)
	if err != nil {
		return nil, err
	}
	out := &Result{Run: r.ID, Database: p.Target.Database, Server: p.Target.Address.String(), plan: p, at: r.Started,
		Settings: settings(p, r.Trials)}
	analysis, ok := j.First().Result.Last()
	if !ok || analysis.Leader < 0 {
		return nil, unfound(r, j.Decision)
	}
	best := analysis.Recommended
	if best < 0 {
		best = analysis.Leader
	}
	out.layout = p.Layouts[best]
	out.Layout, out.Verdict = out.layout.Name, lossText(analysis.Estimates[best].WorstLoss, analysis.Recommended >= 0, p.Confidence)
	for _, f := range r.Server {
		if f.Name == filewise.ProbeOwnWork {
			out.Work = f.Value
		}
	}
	for _, t := range thrown {
		if d, ok := took(t); ok && (out.Limit == nil || d < *out.Limit) {
			out.Limit = &d
		}
	}
	return out, nil
}

// unknownLoss is the worst-case loss of a setting that was not judged.
var unknownLoss = math.NaN()

// lossText describes the setting's worst-case loss: by how much another tested setting can be faster.
func lossText(log float64, proven bool, confidence float64) string {
	if math.IsNaN(log) {
		return "It is the fastest so far; how much faster another one may be is not known."
	}
	text := fmt.Sprintf("No tested setting is faster by more than %s (%g %% sure).",
		strings.Replace(say.Bound(log), "factor", "a factor of", 1), 100*confidence)
	if say.Unresolvable(0, log) {
		text = "How much faster another one may be is " + say.NotResolvable + "."
	}
	if !proven {
		text = "It is the fastest so far. " + text
	}
	return text
}

// took returns a trial's first measure, which is the time of its phase.
func took(t filewise.Trial) (time.Duration, bool) {
	if t.State != filewise.Done || len(t.Measures) == 0 {
		return 0, false
	}
	return t.Measures[0].Window[1] - t.Measures[0].Window[0], true
}

// settings returns the measured setting of each layout, the fastest first.
func settings(p experiment.Plan, trials []filewise.Trial) (out []Setting) {
	for _, l := range p.Layouts {
		s := Setting{Layout: l.Name}
		var times, sizes []float64
		statements, seconds := 0.0, 0.0
		for _, t := range trials {
			d, ok := took(t)
			if !ok || t.Cell.Layout != l.Name || t.Cell.Pilot {
				continue
			}
			times = append(times, float64(d))
			sizes = append(sizes, float64(size(t)))
			for _, x := range t.Measures[0].Deltas {
				switch {
				case x.Probe == filewise.ProbeOwnWork && x.Name == filewise.OwnStatements:
					statements += x.Value
				case x.Probe == filewise.ProbeOwnWork && x.Name == filewise.OwnTime:
					seconds += x.Value
				}
			}
		}
		if s.Backups = len(times); s.Backups == 0 {
			continue
		}
		s.Took, s.Bytes = time.Duration(median(times)), median(sizes)
		if statements > 0 {
			latency := seconds / statements
			s.Latency = &latency
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Setting) int { return int(a.Took - b.Took) })
	return out
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// size returns the size of a trial's backup, in bytes.
func size(t filewise.Trial) (n int64) {
	for _, f := range t.Final {
		if f.Role == filewise.RoleBackup {
			n += f.Bytes
		}
	}
	return n
}

// Prove makes one more backup with the setting, restores it to a marked database, and compares that with the original.
// The trial has the run's limits and hours, and is not stored. The marked database is dropped again.
func (r *Result) Prove(ctx context.Context, o run.Options) error {
	p, again := r.plan, r.layout
	again.Name += " again" // a plan needs two layouts; one pilot suffices
	p.Layouts, p.Baseline, p.AA = []filewise.Layout{r.layout, again}, r.layout.Name, ""
	p.Params.Proof, p.Attempts, p.Budget = true, 1, 1
	trials, _, err := run.Unstored(ctx, p, o)
	if err != nil {
		return err
	}
	t := trials[len(trials)-1]
	if t.State != filewise.Done || len(t.Measures) < 2 {
		return filewise.Errorf(filewise.CodeTrials, "nothing is recommended; see the message",
			"a backup by %s could not be restored and compared: %s", r.Layout, t.Reason)
	}
	backup, restore := t.Measures[0].Window, t.Measures[1].Window
	r.Proof = Proof{backup[1] - backup[0], restore[1] - restore[0], size(t), ""}
	return nil
}

// mostShown limits the settings that Lines shows, so that they fit on a screen.
const mostShown = 10

// Lines describes the result.
func (r *Result) Lines() []string {
	out := []string{say.Joined(" ", "Best: "+r.Layout+".", r.Verdict)}
	switch {
	case r.Proof.By != "":
		out = append(out, fmt.Sprintf("Of a backup by it, in %s, %s.", say.Human(r.Proof.Restore), r.Proof.By))
	case r.Proof.Restore > 0:
		out = append(out, fmt.Sprintf("A backup by it was restored in %s to a marked database, compared table by table with the original, "+
			"and dropped: all is the same.", say.Human(r.Proof.Restore)))
	}
	out = append(out, r.restoreLines()...)
	shown := r.Settings[:min(len(r.Settings), mostShown)]
	wide := len("setting")
	for _, s := range shown {
		wide = max(wide, len(s.Layout))
	}
	out = append(out, "", fmt.Sprintf("Backups of %s: %d settings, the fastest first.", r.Database, len(r.Settings)))
	line := func(columns ...string) {
		out = append(out, strings.TrimRight(fmt.Sprintf("  %-*s  %9s  %9s  %12s  %s", wide, columns[0], columns[1], columns[2], columns[3],
			columns[4]), " "))
	}
	line("setting", "time", "size", "of the limit", "")
	for _, s := range shown {
		columns := []string{s.Layout, say.Human(s.Took), say.Size(int64(s.Bytes)), "", ""}
		if r.Limit != nil {
			columns[3] = say.Share(float64(*r.Limit), float64(s.Took))
		}
		if s.Latency != nil {
			columns[4] = fmt.Sprintf("%.3g ms a statement", 1000**s.Latency)
		}
		line(columns...)
	}
	if more := len(r.Settings) - len(shown); more > 0 {
		out = append(out, fmt.Sprintf("  and %d more: filewise report %d", more, r.Run))
	}
	if r.Limit != nil {
		out = append(out, fmt.Sprintf("The limit is to read it all and throw it away: %s.", say.Human(*r.Limit)))
	}
	if r.Work != "" {
		out = append(out, "The database's own work: "+r.Work+".")
	}
	return out
}
