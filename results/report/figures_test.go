package report

import (
	"testing"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// The article's figures for so many users stand next to the operation of so many users, with and without churn.
func TestFiguresOfUsers(t *testing.T) {
	sc, err := workload.Lookup("orders")
	if err != nil {
		t.Fatal(err)
	}
	d := Data{Scenario: sc}
	d.Plan = experiment.Plan{Layouts: []filewise.Layout{{Data: filewise.Spread{Files: 1}}, {Data: filewise.Spread{Files: 4}}}}
	for _, c := range []struct {
		churn     bool
		operation string
		signs     []int
	}{
		{false, "8 users", []int{0}}, {false, "600 users", []int{0}}, {true, "100 users", []int{0}}, {true, "150 users", nil},
		{true, "200 users", []int{1}}, {true, "600 users", []int{1, 1}},
	} {
		d.Plan.Params = workload.Params{Warehouses: 4, Users: []int{8, 100, 150, 200, 600}, Churn: c.churn}
		var signs []int
		for _, f := range figuresOf(d, c.operation) {
			if f.Apart { // 64 files, under each condition
				continue
			}
			signs = append(signs, f.Sign)
		}
		if len(signs) != len(c.signs) || len(signs) > 0 && signs[0] != c.signs[0] {
			t.Errorf("%s, churn %v: %v, want %v", c.operation, c.churn, signs, c.signs)
		}
	}
}
