package tablecsv

import (
	"fmt"
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
