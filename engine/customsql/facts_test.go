package customsql

import (
	"testing"

	"filewise"
)

// Frequent values are taken by their shares; of values that are not reported, or not few, there is no choice.
func TestChoice(t *testing.T) {
	c := filewise.ColumnFacts{Type: filewise.TypeText, Common: []string{"a", "b", "c"}, Shares: []float64{0.4, 0.2, 0.2}, Distinct: 3}
	quote := func(v string) string { return "'" + v + "'" }
	const want = "CASE WHEN p < 0.500000 THEN 'a' WHEN p < 0.750000 THEN 'b' ELSE 'c' END"
	if got := Choice(c, true, "p", quote); got != want {
		t.Error(got)
	}
	one, many, unique := c, c, c
	one.Common, many.Distinct, unique.Unique = c.Common[:1], 51, true
	if got := Choice(one, true, "p", quote); got != "'a'" {
		t.Error(got)
	}
	for _, got := range []string{Choice(c, false, "p", quote), Choice(many, true, "p", quote), Choice(unique, true, "p", quote)} {
		if got != "" {
			t.Error(got)
		}
	}
}
