package report_test

import (
	"html"
	"slices"
	"strings"
	"testing"

	"filewise/lab/experiment"
	"filewise/results/report"
)

// TestARunJudgedByOtherRules: the report does not mention resuming, nor that the rules stopped the measuring; the
// stored verdict is named.
func TestARunJudgedByOtherRules(t *testing.T) {
	decided, open := stored(t), stored(t)
	open.Judgement.Decision = experiment.Decision{}
	for name, d := range map[string]report.Data{"decided": decided, "open": open} {
		d.Rejudged = true
		for ext, write := range formats {
			out := html.UnescapeString(inline.ReplaceAllString(string(render(t, write, d)), ""))
			if ext == "json" {
				if !strings.Contains(out, `"rejudged": true`) {
					t.Errorf("%s: not in the JSON document", name)
				}
				continue
			}
			out = strings.NewReplacer("\n", " ", "  ", " ", "’", "'", "`", "", "<code>", "", "\u00a0", " ").Replace(out)
			for _, not := range []string{"filewise resume", "not finished", "filewise report 3", "Stopped: decided"} {
				if strings.Contains(out, not) {
					t.Errorf("%s, %s says %q", name, ext, not)
				}
			}
			for _, want := range []string{
				"Judged by other rules than the run's; the stored verdict: filewise show 3",
				"Rules chosen after looking at the trials weaken the confidence stated.",
				"baseline 1 file, margin ±2 %, confidence 95 %, goal recommend",
			} {
				if !strings.Contains(out, want) {
					t.Errorf("%s, %s does not say %q", name, ext, want)
				}
			}
		}
		lines := strings.Split(strings.TrimSpace(string(render(t, plain, d))), "\n")
		if last := strings.Join(lines[len(lines)-2:], " "); !strings.HasSuffix(last, "filewise show 3") {
			t.Errorf("%s: the last line is %q", name, last)
		}
	}
}

// TestTrialsAfterTheDecisionAreNotOfAnIncompleteBlock: a wider margin decides
// earlier; the blocks after that are complete all the same.
func TestTrialsAfterTheDecisionAreNotOfAnIncompleteBlock(t *testing.T) {
	d := stored(t)
	d.Judgement.Operations[0].Result.Analyses = slices.Clone(d.Judgement.Operations[0].Result.Analyses[:1]) // as if decided after block 3
	d.Rejudged = true
	if out := string(render(t, plain, d)); strings.Contains(out, "not complete") {
		t.Errorf("complete blocks are called incomplete:\n%s", out)
	}
}
