package report

import (
	"fmt"
	"slices"
	"strings"

	"filewise/experiment"
	"filewise/verdict"
)

// Headline is the verdict of a run in one line, over all families.
func Headline(d Data) string { return newView(d).Headline() }

// outcome of a family: the layout to use, or none.
type outcome struct {
	layout   string
	families []string
}

// summary is the verdict over all families in plain words.
func summary(d Data) string {
	said := advice(d)
	var failed []string
	for _, f := range d.Judgement.Families {
		if _, _, bad := f.Result.AAFailed(); bad {
			failed = append(failed, f.Name)
		}
	}
	if len(failed) > 0 {
		return "Do not rely on this: the A/A check failed (" + strings.Join(failed, ", ") + "). " + said
	}
	return said
}

func advice(d Data) string {
	overall, decided, open := outcomes(d)
	switch n := len(open); {
	case !anyLook(d):
		return noLook(d)
	case len(decided) == 0 && overall == "":
		return fmt.Sprintf("Undecided: for none of the %d families (%s) is any of the layouts proven to be the best.", n, familyNames(open))
	}
	var parts []string
	for _, o := range decided {
		parts = append(parts, adviceOn(o.layout, d.Plan.Baseline)+" for "+familyNames(o.families))
	}
	if len(open) > 0 {
		parts = append(parts, "undecided for "+familyNames(open))
	}
	singly := strings.Join(parts, "; ")
	switch {
	case !hasOverall(d):
		return sentence(singly) + "."
	case overall == "":
		return "Undecided over all families together. Singly: " + singly + "."
	}
	return fmt.Sprintf("Over all families together: %s. Singly: %s.", adviceOn(overall, d.Plan.Baseline), singly)
}

// outcomes are the layouts to use, over all families and by family, and the
// families that are not decided.
func outcomes(d Data) (overall string, decided []outcome, open []string) {
	for _, f := range d.Judgement.Families {
		name := recommendedOf(f.Result)
		switch i := slices.IndexFunc(decided, func(o outcome) bool { return o.layout == name }); {
		case f.Name == experiment.FamilyOverall:
			overall = name
		case name == "":
			open = append(open, f.Name)
		case i < 0:
			decided = append(decided, outcome{name, []string{f.Name}})
		default:
			decided[i].families = append(decided[i].families, f.Name)
		}
	}
	return overall, decided, open
}

func recommendedOf(r verdict.Result) string {
	if look, ok := r.Last(); ok && look.Recommended >= 0 && look.Recommended < len(r.Arms) {
		return r.Arms[look.Recommended].Name
	}
	return ""
}

func adviceOn(layout, baseline string) string {
	if layout == baseline {
		return "keep " + layout
	}
	return "use " + layout
}

func hasOverall(d Data) bool {
	return slices.ContainsFunc(d.Judgement.Families, func(f experiment.Family) bool { return f.Name == experiment.FamilyOverall })
}

func anyLook(d Data) bool {
	return slices.ContainsFunc(d.Judgement.Families, func(f experiment.Family) bool { return len(f.Result.Looks) > 0 })
}

// noLook says why no family has a verdict yet.
func noLook(d Data) string {
	if s := leading(d).Sentences; len(s) > 0 {
		return s[0]
	}
	return fmt.Sprintf("No verdict yet: %d of the %d blocks that a verdict needs are complete.", leading(d).Result.Blocks, verdict.FirstLook)
}
