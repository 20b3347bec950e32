package report_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/charmbracelet/x/ansi"

	"filewise"
	"filewise/lab/cause"
	"filewise/results/report"
)

// If nothing was measured a terminal shows no table of it.
func TestNoTableOfNothing(t *testing.T) {
	d := stored(t)
	d.Trials, d.Judgement.Operations = nil, nil
	d.Judgement.Decision.Why = "the budget does not suffice"
	var out bytes.Buffer
	if err := report.Terminal(&out, d, report.TerminalOptions{Width: 80, Short: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "No verdict: the budget") || strings.Contains(out.String(), "no data") {
		t.Error(out.String())
	}
}

// What a terminal shows at the end of a run of five layouts fits on a screen of 80 × 24, however long its sentences
// are, and points to the rest.
func TestTheAnswerFitsOnAScreen(t *testing.T) {
	d := stored(t)
	f := &d.Judgement.Operations[0]
	f.Sentences[0] = "Recommended: 8 files, at least 4.66 times 1 file; 2 files, 4 files, 16 files and 8 files are not told apart. " +
		"No tested layout is more than 39.3 % faster (95 %)."
	f.LatencyLoss = "Caution: p99 of 8 files is 3.4 times that of 1 file: 4.9 ms, against 1.43 ms (95 % interval 2.9 … 4 times)."
	f.Cause = &cause.Cause{Sentences: []string{"Lock wait (write lock) per row fell from 7.27 ms to 0.03 ms, more than all of the gain " +
		"(it fell by 7.24 ms … 7.30 ms, 95 % interval).", "Flushes fell too."}}
	for range 5 {
		d.Judgement.Warnings = append(d.Judgement.Warnings, filewise.Warning{
			Message: "this comes first" + strings.Repeat(", and this is long", 12), Remedy: "do something else"})
	}
	var out bytes.Buffer
	if err := report.Terminal(&out, d, report.TerminalOptions{Width: 80, Short: true}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if len(lines) > 23 { // the prompt is the last
		t.Errorf("%d lines:\n%s", len(lines), out.String())
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > 80 {
			t.Errorf("wider than 80 columns: %q", l)
		}
	}
	flat := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"Recommended: 8 files", "Caution: p99 of 8 files is 3.4", "layout rows/s p99 against 1 file (95 %) result",
		"Why: Lock wait (write lock) per row fell from 7.27 ms to 0.03 ms, more than all of the gain. Warning",
		"4 more in the report: filewise report 3, or on the terminal: filewise show 3."} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not on the screen:\n%s", want, out.String())
		}
	}
	if n := strings.Count(flat, "Warning: "); n != 3 || !strings.Contains(flat, "and this is long …") ||
		strings.Contains(flat, "do something else") {
		t.Errorf("%d warnings:\n%s", n, out.String())
	}
}

// A layout that wins throughput and loses p99, beyond a limit or twofold, has that in the first lines: the trials are
// planted, all else is judged.
func TestLostLatencyStandsFirst(t *testing.T) {
	for _, c := range []struct {
		limit time.Duration
		want  string
	}{
		{0, "Recommended: 8 files.*Caution: p99 of 8 files is [345](\\.[0-9])? times that of 1 file: "},
		{20 * time.Millisecond, "by throughput (alone )?it would be 8 files, but its p99 in inserts is 4[0-9.]+ ms, above the limit of 20 ms"},
	} {
		p := samplePlan()
		p.P99Limit = c.limit
		trials := gentle().run(p)
		for i := range trials {
			for k := range trials[i].Measures {
				h, tail := hdrhistogram.New(1, 60_000_000, 3), int64(10_000)
				if trials[i].Cell.Layout == "8 files" {
					tail = 40_000
				}
				if err := errors.Join(h.RecordValues(1000, 980), h.RecordValues(tail, 20)); err != nil {
					t.Fatal(err)
				}
				trials[i].Measures[k].Hist, _ = h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
			}
		}
		j, err := p.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := report.Terminal(&out, sampleData(p, trials, j), report.TerminalOptions{Width: 80, Short: true}); err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(out.String(), "\n\n") // above the table
		if !regexp.MustCompile(c.want).MatchString(strings.Join(strings.Fields(first), " ")) {
			t.Errorf("limit %v: the first lines lack %q:\n%s", c.limit, c.want, &out)
		}
	}
}
