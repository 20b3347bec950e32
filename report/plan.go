package report

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/verdict"
)

// PlanFacts are all parameters of the experiment, by name.
func (v view) PlanFacts() []filewise.Fact {
	p := v.Plan
	facts := []filewise.Fact{
		{Name: "scenario", Value: p.Scenario},
		{Name: "engine", Value: joined(", ", p.Target.Engine, string(p.Target.Mode))},
		{Name: "durability", Value: durabilityWords(p.Target.Durability)},
		{Name: "baseline", Value: p.Baseline},
		{Name: "connections", Value: positive(p.Params.Connections)},
		{Name: "row size", Value: suffixed(positive(p.Params.RowBytes), " bytes")},
		{Name: "rows per commit", Value: positive(p.Params.CommitEvery)},
		{Name: "table", Value: p.Params.Table},
		{Name: "key", Value: p.Params.Key},
		{Name: "work of a trial", Value: v.workText()},
		{Name: "warm-up", Value: v.warmUpText()},
		{Name: "design", Value: v.designText()},
		{Name: "margin", Value: "±" + v.Margin()},
		{Name: "confidence", Value: v.Confidence()},
		{Name: "goal", Value: goalWords(p.Goal)},
		{Name: "blocks at most", Value: v.blocksText()},
		{Name: "budget", Value: durationOr(p.Budget, "none")},
		{Name: "attempts at a trial", Value: positive(p.Attempts)},
		{Name: "seed", Value: v.Seed()},
	}
	for _, vol := range p.Target.Volumes {
		facts = append(facts, filewise.Fact{Name: "volume " + vol.Name, Value: vol.Dir})
	}
	keys := make([]string, 0, len(p.Target.Settings))
	for k := range p.Target.Settings {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		facts = append(facts, filewise.Fact{Name: "setting " + k, Value: p.Target.Settings[k]})
	}
	return slices.DeleteFunc(facts, func(f filewise.Fact) bool { return f.Value == "" })
}

func (v view) designText() string {
	a := v.Plan.AsPublished
	switch {
	case a == nil && v.Plan.Cells > 0:
		return fmt.Sprintf("a block is a session of %d rounds, layouts live side by side", v.Plan.Cells)
	case a == nil:
		return ""
	}
	return fmt.Sprintf("as published, at scale %g: %s of each layout, one layout after the other", a.Scale, count(a.Repeats, "run"))
}

func (v view) workText() string {
	if v.Plan.Window > 0 {
		return human(v.Plan.Window) + " measured"
	}
	if v.Plan.Work > 0 {
		return size(v.Plan.Work) + ", fixed"
	}
	return ""
}

func (v view) warmUpText() string {
	switch {
	case v.Plan.Window == 0: // fixed work is measured whole
		return ""
	case v.Plan.WarmUp >= 0:
		return human(v.Plan.WarmUp)
	case v.Judgement.Schedule.WarmUp > 0:
		return human(v.Judgement.Schedule.WarmUp) + ", fixed by the pilots"
	}
	return "to be fixed by the pilots"
}

func (v view) blocksText() string {
	n := v.Judgement.Schedule.MaxBlocks
	if n > 0 && n != v.Plan.MaxBlocks {
		return fmt.Sprintf("%d (%d asked for; the budget allows %d)", n, v.Plan.MaxBlocks, n)
	}
	return positive(v.Plan.MaxBlocks)
}

// positive writes a count that is absent when it is zero.
func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return grouped(strconv.Itoa(n))
}

func suffixed(s, suffix string) string {
	if s == "" {
		return ""
	}
	return s + suffix
}

func durationOr(d time.Duration, none string) string {
	if d <= 0 {
		return none
	}
	return human(d)
}

func durabilityWords(d filewise.Durability) string {
	switch d {
	case filewise.DurabilityFull:
		return "full: every commit is synced to the storage"
	case filewise.DurabilityNormal:
		return "normal: synced at checkpoints; a power cut may lose the last commits"
	case filewise.DurabilityOff:
		return "off: never synced while measuring"
	}
	return string(d)
}

func goalWords(g verdict.Goal) string {
	switch g {
	case verdict.GoalRecommend:
		return "recommend: until a layout can be recommended"
	case verdict.GoalVerdicts:
		return "verdicts: until every layout is resolved"
	}
	return string(g)
}

func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// spreadRow is one layout as asked for and as observed.
type spreadRow struct {
	Name, Files, Total, Allocation, Placement, Kind string
	Observed                                        []filewise.File // after building, of the last finished trial
	Final                                           []filewise.File // after the work of that trial
}

// Spreads are the layouts of the plan with their files as observed.
func (v view) Spreads() []spreadRow {
	var out []spreadRow
	for _, l := range v.Plan.Layouts {
		r := spreadRow{
			Name: l.Name, Kind: string(l.Kind), Files: strconv.Itoa(l.Data.Files), Total: size(l.Data.Bytes),
			Allocation: string(l.Data.Allocation), Placement: string(l.Data.Placement),
		}
		if l.Data.Allocation == filewise.Growing && l.Data.Growth > 0 {
			r.Allocation += " by " + size(l.Data.Growth)
		}
		for _, t := range v.Trials {
			if t.Cell.Layout == l.Name && t.State == filewise.Done {
				r.Observed, r.Final = t.Files, t.Final
			}
		}
		out = append(out, r)
	}
	return out
}

// fileRow is one file of a layout before and after the work.
type fileRow struct{ Role, Volume, Path, Built, Allocated, Final string }

// FileRows puts a layout's files after building beside those after the work.
func (r spreadRow) FileRows() []fileRow {
	after := make(map[string]filewise.File, len(r.Final))
	for _, f := range r.Final {
		after[f.Path] = f
	}
	var out []fileRow
	for _, f := range r.Observed {
		x := fileRow{string(f.Role), f.Volume, f.Path, size(f.Bytes), bytesOr(f.Allocated), absent}
		if g, ok := after[f.Path]; ok {
			x.Final = final(g)
			delete(after, f.Path)
		}
		out = append(out, x)
	}
	for _, f := range r.Final { // files that came about during the work
		if _, left := after[f.Path]; left {
			out = append(out, fileRow{string(f.Role), f.Volume, f.Path, absent, bytesOr(f.Allocated), final(f)})
		}
	}
	return out
}

// final is a file's size after the work, and what of it is used, where the
// engine tells.
func final(f filewise.File) string {
	if f.Used == nil {
		return size(f.Bytes)
	}
	return size(f.Bytes) + ", " + size(*f.Used) + " used"
}

func bytesOr(n *int64) string {
	if n == nil {
		return absent
	}
	return size(*n)
}

// ObservedText sums up the data files that were found after building.
func (r spreadRow) ObservedText() string {
	n, total := 0, int64(0)
	for _, f := range r.Observed {
		if f.Role == filewise.RoleData {
			n, total = n+1, total+f.Bytes
		}
	}
	if n == 0 {
		return absent
	}
	return count(n, "data file") + ", " + size(total)
}
