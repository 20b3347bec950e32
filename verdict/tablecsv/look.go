package tablecsv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise/verdict"
)

// LookLine is a look in one line: the layouts still in question, and the outcome.
func LookLine(r verdict.Result, look verdict.Look) string {
	var parts []string
	for j, e := range look.Estimates {
		if j != r.Config.Baseline && e.Alive && e.Known() {
			parts = append(parts, fmt.Sprintf("%s %s (%s … %s)", r.Arms[j].Name, percentText(e.Effect), percentText(e.Lo), percentText(e.Hi)))
		}
	}
	outcome := "go on"
	switch look.Stop {
	case verdict.ReasonRecommend, verdict.ReasonKeepBaseline:
		outcome = "proven: " + r.Arms[look.Recommended].Name
	case verdict.ReasonAllResolved:
		outcome = "every layout is resolved"
	case verdict.ReasonFutile:
		outcome = "the blocks left could hardly decide it"
	case verdict.ReasonMaxBlocks:
		outcome = "no blocks left"
	}
	return strings.Join(append(parts, outcome), "; ")
}

// percentText is an effect on the log scale in percent: "−0.4 %".
func percentText(effect float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f %%", verdict.Percent(effect)), "-", "−", 1)
}

// Arms are the layouts as they are judged: ranked by the number that their names begin
// with, where all do. "X again" beside X is an A/A check, as run --aa names it.
func (in Input) Arms() []verdict.Arm {
	if in.arms != nil {
		return in.arms
	}
	ranks := ranksOf(in.Layouts)
	arms := make([]verdict.Arm, len(in.Layouts))
	for i, name := range in.Layouts {
		arms[i] = verdict.Arm{Name: name, Rank: ranks[i]}
		if twin, again := strings.CutSuffix(name, " again"); again && slices.Contains(in.Layouts, twin) {
			arms[i].Twin = twin
		}
	}
	return arms
}

// ranksOf orders layouts by "fewest files": by the number that each name begins
// with; where one has none, by their order.
func ranksOf(names []string) []int {
	ranks := make([]int, len(names))
	for i, name := range names {
		digits := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			for j := range ranks {
				ranks[j] = j + 1
			}
			return ranks
		}
		ranks[i] = n
	}
	return ranks
}
