package archive

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/verdict"
	"filewise/lab/verdict/tablecsv"
	"filewise/results/gate"
)

// tailed are trials of one operation or of several, as a file has them. In them 8 files do half as much again and take
// three times as long at p99.
func tailed(t *testing.T, limit string, operations ...string) Elsewhere {
	t.Helper()
	text := "block,layout,throughput,family,p99_s,p99_limit_s\n"
	for _, operation := range operations {
		for b := range 7 {
			for files, by := range map[int]float64{1: 1, 8: 1.5} {
				p99 := 0.04*by - 0.03 + float64(b*files)/8000
				work := by*float64(100+b%2) + 0.17*float64(b*files%3)
				text += fmt.Sprintf("%d,%s,%g,%s,%g,%s\n", b, filewise.FilesName(files), work, operation, p99, limit)
			}
		}
	}
	inputs, err := tablecsv.Options{}.ReadAll(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var all []Foreign
	for _, in := range inputs {
		f := Foreign{Input: in, Config: verdict.DefaultConfig()}
		for i, name := range in.Layouts {
			if name == "1 file" {
				f.Config.Baseline = i
			}
		}
		all = append(all, f)
	}
	out, err := JudgeElsewhere("x.csv", all)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The p99 of trials is judged as a run's is: block by block against the baseline, behind the headline if it is
// twofold, and by its worst trial if a gate names p99 itself.
func TestP99Elsewhere(t *testing.T) {
	out := tailed(t, "", "")
	const loss = "Caution: p99 of 8 files is 3.18 times that of 1 file, block by block (9"
	if !strings.HasPrefix(out.LatencyLoss, loss) || !strings.HasPrefix(out.Text(), out.Headline+"\n"+out.LatencyLoss+"\n"+out.Stalls+"\n\n") ||
		strings.Count(out.Text(), "Caution: p99") != 1 {
		t.Errorf("it says %q in\n%s", out.LatencyLoss, out.Text())
	}
	for condition, want := range map[string]string{
		"p99 > 35.9 ms":        "Gate failed: p99 > 35.9 ms: p99 of 8 files is 36 ms in the worst of 7 trials (30 ms in the best).",
		"p99 > 36.1 ms":        "Gate passed: p99 > 36.1 ms: p99 of 8 files is 36 ms in the worst of 7 trials (30 ms in the best).",
		"p99 > 200 %":          "Gate failed: p99 > 200 %: p99 of 8 files against 1 file 3.18 times (",
		"p99 > 217 %":          "Gate passed: p99 > 217 %: p99 of 8 files against 1 file 3.18 times (",
		"p99 of 1 file > 1 ms": "Gate failed: p99 of 1 file > 1 ms: p99 of 1 file is 10.8 ms in the worst of 7 trials (10 ms in the best).",
		"possible loss > 99 %": "Gate passed: possible loss > 99 %: throughput of 8 files against 1 file +49.9",
	} {
		c, err := gate.Parse(condition)
		if err != nil {
			t.Fatal(err)
		}
		if all := gate.Judge([]gate.Condition{c}, out.Subjects()); len(all) != 1 || !strings.HasPrefix(all[0].Line(), want) {
			t.Errorf("%+v, want %s", all, want)
		}
	}
	if len(out.P99) != 2 || out.P99[0].Trials != 7 {
		t.Errorf("%+v", out.P99)
	}
	bare := strings.TrimPrefix(loss, "Caution: ")
	several := tailed(t, "", "insert", "select")
	if n := strings.Count(several.LatencyLoss, bare); n != 2 || !strings.HasPrefix(several.LatencyLoss, "Caution, insert: "+bare) ||
		strings.Count(several.Text(), "p99 of") != 2 ||
		len(several.Subjects()) != 4 || several.Subjects()[0].Took == 0 {
		t.Errorf("of several operations:\n%s", several.Text())
	}
}

// What a file's --p99-limit forbids is reported about the layout that it would recommend.
func TestP99LimitElsewhere(t *testing.T) {
	for limit, want := range map[string]string{
		"0.0359": "Caution: p99 of 8 files is 36 ms in its worst trial, above the run's --p99-limit of 35.9 ms, which holds for all trials " +
			"together.",
		"0.0361": "", "1e99": "",
	} {
		out := tailed(t, limit, "")
		if out.LatencyLoss != want || !strings.Contains(strings.Join(out.Notes, ""), "The run had --p99-limit ") {
			t.Errorf("%s: it says %q; %q", limit, out.LatencyLoss, out.Notes)
		}
	}
	if duration(1e90) <= 0 || duration(1e-90) <= 0 || duration(0.25) != 250*time.Millisecond {
		t.Error("a time of a file is out of range")
	}
}

// An analysis whose interval means nothing any more is not shown in percent of billions.
func TestAnalysisLine(t *testing.T) {
	r := verdict.Result{Arms: []verdict.Arm{{Name: "1 file"}, {Name: "2 files"}, {Name: "4 files"}}}
	analysis := verdict.Analysis{Stop: verdict.ReasonMaxBlocks, Estimates: []verdict.Estimate{{}, {Effect: 0.1, Lo: -12, Hi: 12, Alive: true},
		{Effect: 0.1, Lo: 0.05, Hi: 0.15, Alive: true}}}
	line := analysisLine(r, analysis)
	if !strings.Contains(line, "2 files not resolvable here") || !strings.Contains(line, "4 files +10.5 % (+5.1 … +16.2)") {
		t.Error(line)
	}
}
