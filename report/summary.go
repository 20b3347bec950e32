package report

import (
	"fmt"
	"slices"
	"strings"

	"filewise/experiment"
	"filewise/internal/say"
)

// outcome of a family: the layout to use, or none.
type outcome struct {
	layout   string
	families []string
}

// summary is the verdict over all families in plain words.
func (v view) summary() string {
	said := v.advice()
	var failed []string
	for _, f := range v.parts {
		if _, _, bad := f.of.Result.AAFailed(); bad {
			failed = append(failed, f.Name)
		}
	}
	if len(failed) > 0 {
		return "Do not rely on this: the A/A check failed (" + strings.Join(failed, ", ") + "). " + said
	}
	return said
}

func (v view) advice() string {
	overall, decided, open := v.outcomes()
	switch n := len(open); {
	case !slices.ContainsFunc(v.parts, func(f view) bool { return f.Judged }):
		if s := v.of.Sentences; len(s) > 0 {
			return s[0]
		}
		return v.noVerdictYet()
	case len(decided) == 0 && overall == "":
		return fmt.Sprintf("Undecided: no layout is proven to be the best for any of the %d families.", n)
	}
	var parts []string
	for _, o := range decided {
		parts = append(parts, adviceOn(o.layout, v.Plan.Baseline)+" for "+familyNames(o.families))
	}
	if len(open) > 0 {
		parts = append(parts, "undecided for "+familyNames(open))
	}
	singly := strings.Join(parts, "; ")
	switch {
	case !v.hasOverall():
		return say.Sentence(singly) + "."
	case overall == "":
		return "Undecided over all families together. Singly: " + singly + "."
	}
	return fmt.Sprintf("Over all families together: %s. Singly: %s.", adviceOn(overall, v.Plan.Baseline), singly)
}

// outcomes are the layouts to use, over all families and by family, and the
// families that are not decided.
func (v view) outcomes() (overall string, decided []outcome, open []string) {
	for _, f := range v.parts {
		name := ""
		if r := f.recommended(); r != nil {
			name = r.Name
		}
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

func adviceOn(layout, baseline string) string {
	if layout == baseline {
		return "keep " + layout
	}
	return "use " + layout
}
