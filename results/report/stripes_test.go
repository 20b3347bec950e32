package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"filewise/lab/workload"
	"filewise/results/report"
)

// Backups that were thrown away, in a separate run, are drawn as the limit of the stored ones, and restores are
// not.
func TestBackupsBesideTheLimitOfReading(t *testing.T) {
	kept := operations(t)["backup"]
	limit, err := phased{Scenario: "backup", Engine: "postgres", Files: []int{1, 4}, Noise: 0.01, Took: time.Second, Blocks: 6,
		Params: func(p *workload.Params) { p.Discard = true }, Effect: func(string, int) float64 { return 0 }}.data()
	if err != nil {
		t.Fatal(err)
	}
	limit.RunID = 77
	for _, x := range []struct {
		name  string
		limit *report.Data
		stars int
	}{{"without", nil, 0}, {"with", &limit, 2}} {
		kept.Limit = x.limit
		var b bytes.Buffer
		if err := report.HTML(&b, kept); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		if got := strings.Count(page, `thrown away (run 77)</th>`); got != x.stars {
			t.Errorf("%s a limit: %d rows of it, want %d", x.name, got, x.stars)
		}
		if has := strings.Contains(page, "They were measured in run 77 of"); has != (x.limit != nil) {
			t.Errorf("%s a limit: where it comes from is said: %v", x.name, has)
		}
	}
	kept.Limit = nil
	limit.Limit = nil
	var b bytes.Buffer
	if err := report.HTML(&b, limit); err != nil || strings.Contains(b.String(), "Against the limit") {
		t.Errorf("a run of thrown-away backups alone: %v", err)
	}
}
