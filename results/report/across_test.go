package report_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/results/archive"
	"filewise/results/report"
)

// fleet are hosts on which 8 files gain, and some on network storage where they lose.
func fleet(t *testing.T, gains, loses int) []archive.AcrossHost {
	t.Helper()
	var out []archive.AcrossHost
	for i := range gains + loses {
		p, w := samplePlan(), gentle()
		p.Seed, p.Layouts, p.Goal, w.Fail = uint64(i+1), p.Layouts[:4], verdict.GoalVerdicts, [2]int{}
		storage := "nvme"
		w.Effects = map[int]float64{1: 1, 2: 1, 4: 1.02, 8: 1.08 + 0.01*float64(i%3)}
		if i >= gains {
			storage, w.Effects = "network", map[int]float64{1: 1, 2: 1, 4: 0.93, 8: 0.84}
		}
		trials := w.run(p)
		j, err := p.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, archive.NewAcrossHost(fmt.Sprintf("db%d", i+1), []string{"storage=" + storage}, fmt.Sprint(i+1),
			sampleData(p, trials, j)))
	}
	return out
}

func TestAcrossTellsHostsApart(t *testing.T) {
	a, err := archive.NewAcross(fleet(t, 5, 3), 0.95)
	if err != nil {
		t.Fatal(err)
	}
	l := a.Operations[0].Layouts[2]
	if l.Layout != "8 files" || l.Best != 5 || len(l.Worse) != 3 || len(l.Effects) != 8 || a.Operations[0].Keep == 0 {
		t.Fatalf("%s: best on %d, worse on %v of %d; keep on %d", l.Layout, l.Best, l.Worse, len(l.Effects), a.Operations[0].Keep)
	}
	short := fleet(t, 3, 0)
	// nothing is judged yet
	short[2] = archive.NewAcrossHost("db3", short[2].Tags, "3", sampleData(samplePlan(), nil, experiment.Judgement{}))
	b, err := archive.NewAcross(short, 0.95)
	if err != nil || !strings.HasSuffix(b.Operations[0].Layouts[2].Text, "; no estimate on 1 (db3).") {
		t.Errorf("of a host without blocks: %q, %v", b.Operations[0].Layouts[2].Text, err)
	}
	const want = "8 files: best on 5 of 8 hosts, worse than 1 file on 3 (db6, db7 and db8), all with storage=network; on average "
	if got := l.Text; len(got) < len(want) || !sameHosts(got, want) {
		t.Errorf("it says %q", got)
	}
	if p := l.Pooled; *p.Low > 0 || *p.High < 0 || p.I2 < 0.5 || !(*p.NextLow < *p.Low && *p.High < *p.NextHigh) {
		t.Errorf("of all hosts: %+v", *p)
	}
	if len(l.Groups) != 2 || l.Groups[0].Label != "storage=network" || *l.Groups[0].High > 0 || *l.Groups[1].Low < 0 ||
		math.Abs(*l.Groups[1].Percent-9) > 2 || math.Abs(*l.Groups[0].Percent+16) > 2 {
		t.Errorf("by label: %+v", l.Groups)
	}
}

// sameHosts compares a sentence's beginning; hosts that lose stand in the order of their effects.
func sameHosts(got, want string) bool {
	head, rest, _ := strings.Cut(got, "(")
	named, tail, _ := strings.Cut(rest, ")")
	for _, host := range []string{"db6", "db7", "db8"} {
		if !strings.Contains(named, host) {
			return false
		}
	}
	before, after, _ := strings.Cut(want, "(db6, db7 and db8)")
	return head == before && strings.HasPrefix(tail, after)
}

func TestAcrossInEveryFormat(t *testing.T) {
	a, err := archive.NewAcross(fleet(t, 3, 3), 0.95)
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"terminal": func(b *bytes.Buffer) error { return a.Write(b, "text", report.TerminalOptions{Width: 80}) },
		"markdown": func(b *bytes.Buffer) error { return a.Write(b, "markdown", report.TerminalOptions{}) },
		"html":     func(b *bytes.Buffer) error { return a.Write(b, "html", report.TerminalOptions{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"8 files: best on 3 of 6 hosts", "storage=network", "next host"} {
			if !strings.Contains(b.String(), s) {
				t.Errorf("%s does not say %q:\n%s", name, s, b.String())
			}
		}
		if name != "terminal" && !strings.Contains(b.String(), "0.1.0") {
			t.Errorf("%s does not say which Filewise has measured", name)
		}
		if name == "html" && strings.Count(b.String(), `<svg class="fluid"`) != 3 {
			t.Errorf("%d forest plots of 3 layouts", strings.Count(b.String(), `<svg class="fluid"`))
		}
		plot, heading := strings.Index(b.String(), "<svg"), strings.Index(b.String(), "The layouts against 1 file")
		if name == "html" && (heading < 0 || plot > heading) {
			t.Errorf("the answer's plot is at %d, the heading of all layouts at %d", plot, heading)
		}
	}
}
