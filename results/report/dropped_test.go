package report_test

import (
	"bytes"
	"encoding/json"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"

	"filewise/lab/verdict"
	"filewise/results/report"
)

// moved is the stored run in which 16 files were dropped after block 4 at +3.7 % (−1.0 … +8.6). Its estimate has
// since moved to +42.5 %, as it can when the others' trials shift the blocks.
func moved(t *testing.T) report.Data {
	t.Helper()
	d := stored(t)
	for _, l := range d.Judgement.Operations[0].Result.Analyses {
		if e := &l.Estimates[4]; e.DroppedAt > 0 && e.DroppedAt < l.Block {
			e.Effect, e.RawEffect = math.Log(1.425), math.Log(1.425)
		}
	}
	return d
}

var places = regexp.MustCompile(`<(?:text|line|circle|rect|use|path)[^>]*>`)

// TestADroppedLayoutIsShownAsOfItsDrop: estimate and interval belong to each
// other, in every table and chart.
func TestADroppedLayoutIsShownAsOfItsDrop(t *testing.T) {
	d := moved(t)
	for ext, write := range formats {
		out := string(render(t, write, d))
		if ext == "json" {
			continue // its rows are checked below; it also holds the analyses as they were judged
		}
		out = places.ReplaceAllString(out, "") // of what is drawn, where any number may stand
		out = html.UnescapeString(strings.ReplaceAll(inline.ReplaceAllString(out, ""), "\u00a0", " "))
		if strings.Contains(out, "42.5") {
			t.Errorf("%s shows the estimate of a later analysis", ext)
		}
		if !strings.Contains(out, "+3.7 % (−1.0 … +8.6)") {
			t.Errorf("%s does not show the estimate of the analysis at which the layout was dropped", ext)
		}
		if strings.HasSuffix(ext, "txt") {
			out = strings.Join(strings.Fields(out), " ")
		}
		if note := "Dropped because another layout was better: 2 files after block 4, 16 files"; !strings.Contains(out, note) {
			t.Errorf("%s has no %q", ext, note)
		}
	}
	var doc struct {
		Layouts []struct {
			Percent    float64 `json:"difference_percent"`
			Difference string
			Typical    float64
		}
	}
	if err := json.Unmarshal(render(t, report.JSON, d), &doc); err != nil {
		t.Fatal(err)
	}
	if l := doc.Layouts[4]; math.Abs(l.Percent-3.7) > 0.05 || l.Difference != "+3.7 % (−1.0 … +8.6)" || math.Abs(l.Typical-18900) > 100 {
		t.Errorf("16 files: %+v", l)
	}
	// The charts are of the same estimates, so that nothing at all may differ.
	if !bytes.Equal(render(t, report.HTML, d), render(t, report.HTML, stored(t))) {
		t.Error("a chart shows the estimate of a later analysis")
	}
}

// A layout that was dropped before it had an interval is not undecided: it is dropped, and the note below the table
// reports why.
func TestDroppedIsNotUndecided(t *testing.T) {
	d := stored(t)
	for _, l := range d.Judgement.Operations[0].Result.Analyses {
		if e := &l.Estimates[4]; e.DroppedAt > 0 {
			e.Mark, e.Lo, e.Hi = verdict.MarkUndecided, math.NaN(), math.NaN()
		}
	}
	for _, ext := range []string{"short.txt", "txt", "md"} {
		out := string(render(t, formats[ext], d))
		line := regexp.MustCompile(`(?m)^[| ]*16 files .*$`).FindString(out)
		if !strings.Contains(line, "dropped") || strings.Contains(line, "undecided") {
			t.Errorf("%s: %q in\n%s", ext, line, out)
		}
		if !strings.Contains(strings.Join(strings.Fields(out), " "), "Dropped because another layout was better: 2 files after block 4") {
			t.Errorf("%s does not say why", ext)
		}
	}
	html := string(render(t, report.HTML, d))
	if strings.Contains(html, "dropped · dropped") || !strings.Contains(html, "dropped · after block 4") {
		t.Error("a chart's label says twice that a layout was dropped, or not when")
	}
}
