package customsql

import (
	"cmp"
	"slices"

	"filewise"
)

// Summed adds up what a server has counted of statements with one ID, such as by user or by
// plan, in the order of the IDs. Texts are those of the first.
func Summed(all []filewise.CountedStatement) []filewise.CountedStatement {
	var sums []filewise.CountedStatement
	at := map[string]int{}
	for _, s := range all {
		i, known := at[s.ID]
		if !known {
			at[s.ID] = len(sums)
			sums = append(sums, s)
			continue
		}
		sum := &sums[i]
		sum.Calls, sum.Seconds, sum.Rows = sum.Calls+s.Calls, sum.Seconds+s.Seconds, sum.Rows+s.Rows
	}
	slices.SortFunc(sums, func(a, b filewise.CountedStatement) int { return cmp.Compare(a.ID, b.ID) })
	return sums
}
