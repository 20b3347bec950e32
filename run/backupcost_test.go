package run

import (
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
)

// The hours of a race follow from the last backup, and what the budget does not hold is offered at less cost.
func TestBackupCost(t *testing.T) {
	p := experiment.Plan{Layouts: make([]filewise.Layout, 8), Budget: time.Hour}
	size := filewise.BackupSize{Bytes: 6 << 40, Whole: 6 << 40, Last: 7 * time.Hour}
	detail, remedy := costOf(p, size)
	for _, want := range []string{"6.0 TiB", "7 h", "the server's last full backup", "48 TiB a block"} {
		if !strings.Contains(detail, want) {
			t.Errorf("%q is not in %q", want, detail)
		}
	}
	if !strings.Contains(remedy, "--screen 3") {
		t.Errorf("%q", remedy)
	}
	p.Target.Part = []string{"a"}
	if detail, remedy = costOf(p, filewise.BackupSize{Bytes: 100 << 20, Whole: 1 << 30}); remedy != "" ||
		!strings.Contains(detail, "assumption") ||
		!strings.Contains(detail, "10 % of the database's 1.0 GiB") {
		t.Errorf("%q, %q", detail, remedy)
	}
}
