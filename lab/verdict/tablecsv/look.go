package tablecsv

import (
	"slices"
	"strconv"
	"strings"

	"filewise/lab/verdict"
)

// Arms returns the layouts as they are judged. They are ranked by the number that their names begin with, if all names
// do. If there is a layout X, "X again" is an A/A check, as run --aa names it.
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

// ranksOf returns ranks by "fewest files": the number that each name begins with. If one name has no number, the ranks
// follow the order of the names.
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
