package display

import (
	"fmt"
	"strings"
	"testing"
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
