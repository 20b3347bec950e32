package archive

import (
	"strings"
	"testing"

	"filewise/verdict"
)

// A look whose interval says nothing any more is not told in percent of billions.
func TestLookLine(t *testing.T) {
	r := verdict.Result{Arms: []verdict.Arm{{Name: "1 file"}, {Name: "2 files"}, {Name: "4 files"}}}
	look := verdict.Look{Stop: verdict.ReasonMaxBlocks, Estimates: []verdict.Estimate{{}, {Effect: 0.1, Lo: -12, Hi: 12, Alive: true},
		{Effect: 0.1, Lo: 0.05, Hi: 0.15, Alive: true}}}
	line := lookLine(r, look)
	if !strings.Contains(line, "2 files not resolvable here") || !strings.Contains(line, "4 files +10.5 % (+5.1 … +16.2)") {
		t.Error(line)
	}
}
