package report_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/results/report"
)

func rich(t *testing.T) report.Data {
	t.Helper()
	d, err := richRun()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// section is the text of one part of the page, tags taken out.
func section(t *testing.T, page []byte, id string) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)<section id="` + id + `".*?</section>`).Find(page)
	if m == nil {
		t.Fatalf("no section %s", id)
	}
	return string(m)
}

// A server that reports its waits, its files and its storage has them shown, each as a drawing with a text and as a
// table.
func TestWaitsFilesAndLimits(t *testing.T) {
	page := render(t, report.HTML, rich(t))
	for id, wants := range map[string][]string{
		// Allocation has 40 % of the time with 1 file, a quarter of that with 4, the log 30 %; the background's waits are apart.
		"waits": {">70\u00a0%</td>", ">40\u00a0%</td>", "allocation", "data write, in the background",
			"space map", "hatch1", "0.400 waits", "free page", "–<br><small>0.0100 waits</small>"},
		"files":  {"largest 1.60 × mean", "largest 1.88 × mean", "data 16", ">bytes<", ">requests<", ">time<", "mean of the data files"},
		"limits": {"storage of volume scratch", "88\u00a0%", "used over", "storage limit of volume scratch"},
		"trials": {"noisy-neighbour", "checkpoint within", ">pause, 1 time<", `href="#down-weighted" x=`, `href="#failed" x=`, `class="drift"`},
	} {
		got := section(t, page, id)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q", id, want)
			}
		}
		if strings.Contains(got, "log buffer full") || strings.Contains(got, ">0 waits ·") { // there was none; nothing counted them
			t.Errorf("%s: an event that nobody waited for, or a number that nobody knows", id)
		}
		if !regexp.MustCompile(`<svg class="fluid" height="[0-9.]+" role="img" aria-label="[^"]{30,}"`).MatchString(got) {
			t.Errorf("%s: no drawing with a text", id)
		}
		if strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
			t.Errorf("%s: a number that is none", id)
		}
	}
	if text := string(render(t, plain, rich(t))); !strings.Contains(strings.Join(strings.Fields(text), " "),
		"Busiest data file against the average (1 = even): by bytes 2 files 1.33, 4 files 1.60") {
		t.Errorf("the terminal does not say how even the files are:\n%s", text)
	}
	var doc struct {
		Spread []struct {
			Kinds   []string
			Layouts []struct {
				Layout  string
				Balance []*float64
			}
		}
	}
	if err := json.Unmarshal(render(t, report.JSON, rich(t)), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Spread) != 1 || len(doc.Spread[0].Layouts) != 5 || doc.Spread[0].Layouts[0].Balance[0] != nil ||
		*doc.Spread[0].Layouts[2].Balance[0] != 1.6 {
		t.Errorf("JSON: %+v", doc.Spread)
	}
	if md := string(render(t, report.Markdown, rich(t))); !strings.Contains(md, "## What the connections waited for") ||
		!strings.Contains(md, "1.60 ×") {
		t.Error("Markdown has no waits or no balance")
	}
}

// What was written and what the machine did stand in all formats that people read.
func TestWrittenAndMachine(t *testing.T) {
	d := rich(t)
	page := render(t, report.HTML, d)
	for id, wants := range map[string][]string{
		"written": {"data files", "900 B<br><small>4.50 ×</small>", "400 B<br><small>2.00 ×</small>", "checkpoint cycles in the window",
			">0.250<"},
		"machine": {"memory: dirty pages", "12.5 MB", "some tasks stalled for I/O", "17.0\u00a0%", "nvme0n1: bytes written", "30.0 MB/s",
			"0.450 ms", "nvme0n1: requests in queue or work, at a time"},
	} {
		got := section(t, page, id)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", id, want, got)
			}
		}
		for _, never := range []string{"NaN", "Inf", "taken by other virtual machines", "time of a flush"} { // not read there
			if strings.Contains(got, never) {
				t.Errorf("%s: %q", id, never)
			}
		}
	}
	md := string(render(t, report.Markdown, d))
	for _, want := range []string{"## What was written", "900 B; 4.50 ×", "## The machine during the trials", "12.5 MB"} {
		if !strings.Contains(md, want) {
			t.Errorf("Markdown: no %q", want)
		}
	}
	if text := strings.Join(strings.Fields(string(render(t, plain, d))), " "); !strings.Contains(text,
		"Write amplification (written by the engine per byte of data; 1 = once): 1 file 6.50") {
		t.Errorf("the terminal does not say what was written:\n%s", text)
	}
	for i := range d.Trials { // a server that reports its data files alone
		for k := range d.Trials[i].Measures {
			m := &d.Trials[i].Measures[k]
			m.Deltas = slices.DeleteFunc(m.Deltas, func(d filewise.Delta) bool {
				return d.Probe == filewise.ProbeWritten && (d.Name == filewise.WrittenCalls || d.Name == filewise.WrittenLog)
			})
		}
	}
	if text := string(render(t, plain, d)); strings.Contains(text, "Write amplification") {
		t.Errorf("data files alone are said to be all that was written:\n%s", text)
	}
}

// What was not read has no section.
func TestNoEmptySections(t *testing.T) {
	page := render(t, report.HTML, stored(t))
	for _, id := range []string{"waits", "files", "loads", "written", "machine"} {
		if bytes.Contains(page, []byte(`<section id="`+id+`"`)) || bytes.Contains(page, []byte(`href="#in-`+id+`"`)) {
			t.Errorf("section %s of nothing", id)
		}
	}
}

// TestFiveThousandTrials: quantiles and the peculiar trials, in less than 3 MB.
func TestFiveThousandTrials(t *testing.T) {
	d, err := bulkRun(5000)
	if err != nil {
		t.Fatal(err)
	}
	page := render(t, report.HTML, d)
	if len(page) > 3_000_000 {
		t.Errorf("%d trials make %d bytes, want less than 3 MB", len(d.Trials), len(page))
	}
	trials := section(t, page, "trials")
	if n := strings.Count(trials, `class="inner"`); n < 5*40 || n > 5*48 {
		t.Errorf("%d bands", n)
	}
	for _, want := range []string{"filewise export 3 has them all", "SQLITE_IOERR_FSYNC", "The run in parts"} {
		if !strings.Contains(trials, want) {
			t.Errorf("no %q", want)
		}
	}
	if rows := strings.Count(string(page), "<tr"); rows > 600 {
		t.Errorf("%d lines of tables", rows)
	}
}
