package display

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise/lab/experiment"
	"filewise/results/report"
)

func TestFit(t *testing.T) {
	table := []string{"head", "1 file", "2 files", "4 files"}
	below := []string{"left", "keys"}
	for _, c := range []struct {
		most int
		want string
	}{
		{40, "status|head|1 file|2 files|4 files|left|keys"},
		{7, "status|head|1 file|2 files|4 files|left|keys"},
		{6, "status|head|1 file|… 2 lines more|left|keys"},
		{4, "status|… 4 lines more|left|keys"},
		{3, "status|left|keys"},
		{2, "status|left"},
		{1, "status"},
		{0, "status"}, // a terminal of one row: there is no better
		{-5, "status"},
	} {
		got := strings.Join(fit("status", table, below, c.most), "|")
		if got != c.want {
			t.Errorf("%d lines: %s, want %s", c.most, got, c.want)
		}
	}
	if fmt.Sprint(table) != "[head 1 file 2 files 4 files]" {
		t.Errorf("the table was altered: %v", table)
	}
}

// A sentence is shown whole if there is space below the table.
func TestWhole(t *testing.T) {
	below := []string{"it can give intervals of about ±15 % after 85 s", "[####] 5 s left"}
	for most, want := range map[int]string{
		2: strings.Join(below, "|"),
		3: "it can give intervals of|about ±15 % after 85 s|[####] 5 s left",
	} {
		if got := strings.Join(whole(slices.Clone(below), 25, most), "|"); got != want {
			t.Errorf("%d lines: %s, want %s", most, got, want)
		}
	}
}

// A line takes more rows in a terminal that has become narrower.
func TestBack(t *testing.T) {
	x := &Display{picture: []int{79, 0, 40, 41}}
	for width, rows := range map[int]int{80: 4, 79: 4, 40: 2 + 1 + 1 + 2, 20: 4 + 1 + 2 + 3} {
		if got, want := x.back(width), fmt.Sprintf("\x1b[%dA\r", rows); got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
	if got := new(Display).back(80); got != "" {
		t.Errorf("no picture: %q, want nothing", got)
	}
}

// The bar moves while a trial runs, and stands while the run waits for others.
func TestBar(t *testing.T) {
	now := time.Now()
	x := &Display{data: report.Data{Plan: experiment.Plan{Budget: 100 * time.Second}}}
	x.state.judgement.Elapsed, x.state.since = 40*time.Second, now.Add(-10*time.Second)
	half := "[" + strings.Repeat("#", 20) + strings.Repeat("·", 20) + "]  50 %, at most 50 s left"
	if got := x.bar(now, 80); got != half {
		t.Errorf("%q, want %q", got, half)
	}
	if got := x.bar(now.Add(time.Hour), 80); !strings.HasSuffix(got, "] 100 %, at most 0 s left") {
		t.Errorf("%q", got)
	}
	if x.state.waiting = "for others"; !strings.Contains(x.bar(now, 80), "]  40 %, at most 1 min left") {
		t.Errorf("%q", x.bar(now, 80))
	}
	if x.data.Plan.Budget = 0; x.bar(now, 80) != "" {
		t.Errorf("%q of a time that is not known", x.bar(now, 80))
	}
	if x.data.Plan.Budget = time.Minute; x.bar(now, 39) != "" {
		t.Error("a bar without room")
	}
}
