package operations

import (
	"errors"
	"slices"
	"testing"

	"filewise"
)

var errBroken = errors.New("broken")

func TestSections(t *testing.T) {
	p := filewise.Program{Phases: []filewise.Phase{
		{Section: "insert"},
		{Act: filewise.ActBackup, Section: "nothing"},
		{Client: true, Types: []string{"a", "b", "c"}, Sections: []string{"pay", "deliver", "pay"}},
	}}
	there := []string{"call-insert", "statement-pay", "procedure-insert", "procedure-pay"}
	has := func(section string) bool { return slices.Contains(there, section) }
	if got := Missing(p, has); got != "statement-deliver" {
		t.Errorf("missing is %q", got)
	}
	if got := Procedures(p, has); !slices.Equal(got, []string{"procedure-insert", "procedure-pay"}) {
		t.Errorf("%q", got)
	}
	there = append(there, "statement-deliver")
	if got := Missing(p, has); got != "" {
		t.Errorf("missing is %q", got)
	}
}

func TestCommitted(t *testing.T) {
	for n := range int64(40) {
		for committed := range n + 1 {
			looks := 0
			got, err := Committed(n, func(i int64) (bool, error) {
				if looks++; i < 0 || i >= n {
					t.Fatalf("asked for %d of %d", i, n)
				}
				return i < committed, nil
			})
			if got != committed || err != nil || looks > 6 {
				t.Errorf("%d of %d: %d after %d looks, %v", committed, n, got, looks, err)
			}
		}
	}
	got, err := Committed(8, func(i int64) (bool, error) {
		if i > 4 {
			return false, errBroken
		}
		return true, nil
	})
	if got != 4 || !errors.Is(err, errBroken) {
		t.Errorf("a look that failed: %d, %v", got, err)
	}
}

func TestParameters(t *testing.T) {
	for _, x := range []struct {
		statement, sign string
		most, want      int
	}{{"SELECT :1, :2", ":", 5, 2}, {"EXEC p @p1, @p12", "@p", 12, 12}, {"SELECT 1", "$", 5, 0}, {"SELECT $3", "$", 2, 0}} {
		if got := Parameters(x.statement, x.sign, x.most); got != x.want {
			t.Errorf("%q: %d, want %d", x.statement, got, x.want)
		}
	}
}
