package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"filewise"
)

// Failures writes counts of failures by class: "3 × deadlock, 1 × connection";
// empty: none.
func Failures(failures map[filewise.Class]int64) string {
	var words []string
	for _, class := range slices.Sorted(maps.Keys(failures)) {
		if n := failures[class]; n > 0 {
			words = append(words, strconv.FormatInt(n, 10)+" × "+string(class))
		}
	}
	return strings.Join(words, ", ")
}

// retriedText says of each layout how many operations failed and were tried again,
// over all measures of its trials; empty: none did.
func (v view) retriedText() string {
	sums := map[string]map[filewise.Class]int64{}
	trials := v.Data.Trials
	if v.whole != nil {
		trials = v.whole.Trials
	}
	for _, t := range trials {
		for _, m := range t.Measures {
			for class, n := range m.Errors {
				if sums[t.Cell.Layout] == nil {
					sums[t.Cell.Layout] = map[filewise.Class]int64{}
				}
				sums[t.Cell.Layout][class] += n
			}
		}
	}
	var words []string
	for _, r := range v.Rows {
		if s := Failures(sums[r.Name]); s != "" {
			words = append(words, r.Name+" "+s)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "Operations that failed and were tried again: " + strings.Join(words, "; ") + "."
}
