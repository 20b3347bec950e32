package report_test

import (
	"bytes"
	"encoding/json"
	"html"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"filewise"
	"filewise/internal/browsertest"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/results/report"
)

// operations are runs of the scenarios with several operations: of dml 8 files are
// twice as fast for concurrent work, of scan 40 files slower for full scans, of
// backup 4 stripes faster.
func operations(t *testing.T) map[string]report.Data {
	t.Helper()
	d, err := allOperations()
	if err != nil {
		t.Fatal(err)
	}
	return maps.Clone(d)
}

func warm(p *workload.Params) { p.Cache = workload.CacheWarm }

var allOperations = sync.OnceValues(func() (map[string]report.Data, error) {
	out := map[string]report.Data{}
	for name, x := range map[string]phased{
		"dml": {Scenario: "dml", Engine: "sqlserver", Files: []int{1, 8}, Noise: 0.01, Took: time.Second, Blocks: 8,
			Effect: func(operation string, files int) float64 {
				if strings.HasPrefix(operation, "concurrent") && files == 8 {
					return 0.7
				}
				return 0
			}},
		"scan": {Scenario: "scan", Engine: "mysql", Files: []int{1, 40}, Noise: 0.005, Took: 400 * time.Microsecond, Blocks: 12, Params: warm,
			Effect: func(operation string, files int) float64 {
				if files == 40 && (operation == "query 4" || operation == "query 5") {
					return -0.08
				}
				return 0
			}},
		"backup": {Scenario: "backup", Engine: "postgres", Files: []int{1, 4, 8}, Noise: 0.01, Took: 3 * time.Second, Blocks: 10,
			Effect: func(_ string, files int) float64 {
				return map[int]float64{1: 0, 4: 0.5, 8: 0.3}[files]
			}},
		"open": {Scenario: "dml", Engine: "sqlite", Files: []int{1, 8}, Noise: 4, Took: time.Second, Blocks: 3,
			Effect: func(string, int) float64 { return 0 }},
	} {
		d, err := x.data()
		if err != nil {
			return nil, err
		}
		out[name] = d
	}
	return out, nil
})

// text is a report without mark-up and line breaks.
func text(t *testing.T, ext string, d report.Data) string {
	t.Helper()
	s := html.UnescapeString(inline.ReplaceAllString(string(render(t, formats[ext], d)), ""))
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "\u00a0", " ")), " ")
}

func TestHeadlinesOfOperations(t *testing.T) {
	for name, want := range map[string]string{
		"dml":    "use 8 files for concurrent insert, concurrent select, concurrent update and concurrent delete",
		"scan":   "Over all operations together: keep 1 file. Singly: keep 1 file for queries 1–11.",
		"backup": "Use 4 backup files for backup and restore.",
		"open":   "Undecided: no layout is proven to be the best for any of the 8 operations.",
	} {
		d := operations(t)[name]
		if got := report.Headline(d); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s: %q, want %q in it", name, got, want)
		}
		for _, ext := range []string{"txt", "md", "html"} {
			_, end, _ := strings.Cut(want, "Singly: ") // HTML parts the sentences
			if end == "" {
				end = want
			}
			if out := text(t, ext, d); !strings.Contains(strings.ToLower(out), strings.ToLower(strings.TrimSuffix(end, "."))) {
				t.Errorf("%s, %s does not say %q:\n%.600s", name, ext, want, out)
			}
		}
	}
}

// Figures stand next to the operation that they are about; figures about another engine stay words.
func TestFiguresBesideTheirOperations(t *testing.T) {
	for name, wants := range map[string][]string{
		"dml": {
			"concurrent insert: 1 file against 8 files | SQL Server: one file wins for concurrent work | −", "differs",
			"concurrent insert: 8 files against 1 file | Oracle: one datafile per core (8 in the script's example) wins for concurrent work | +",
			"said of another engine", "Also published: Oracle: a bigfile is comparable with smallfiles overall.",
			"Oracle was faster than SQL Server for one process, and slower for concurrent work.",
		},
		"scan": {
			"query 4: 40 files against 1 file | +8.36 % time: query 4, warm: 7.0861 s with 1 file, 7.6782 s with 40 | −7",
			"agrees | inside the interval",
			"The same number of files is best here as published for queries 1 and 3–11.",
			"Another one is best here for query 2 (published 40 files, here 1 file).",
		},
		"backup": {"backup: 4 backup files against 1 backup file | −43 % time: 4 backup files on one volume",
			"restore: 8 backup files against 1 backup file | a reader reports of 527 GB: 8 min", "| published −43 %, here −",
			"| by the published times −61.1 %, here −", "backup: 6 backup files against 1 backup file | −75 % time: a reader reports"},
	} {
		out := text(t, "md", operations(t)[name])
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", name, want, out)
			}
		}
		if name == "scan" && strings.Contains(out, "cold") {
			t.Error("figures of cold runs stand beside warm ones")
		}
	}
}

func TestAbsurdIntervalsAreWords(t *testing.T) {
	d := operations(t)["open"]
	for _, ext := range []string{"txt", "md", "html"} {
		out := text(t, ext, d)
		if !strings.Contains(out, "not resolvable here (factor > 100)") || strings.Contains(out, "(−100.0") {
			t.Errorf("%s:\n%s", ext, out)
		}
	}
}

// The overall operation stands first, and phases of microseconds are listed once.
func TestScanOnTheTerminal(t *testing.T) {
	d := operations(t)["scan"]
	out := string(render(t, plain, d))
	overall, first := strings.Index(out, "\noverall"), strings.Index(out, "\nquery 1 ")
	if overall < 0 || first < overall {
		t.Errorf("overall at %d, query 1 at %d:\n%s", overall, first, out)
	}
	if all := text(t, "txt", d); !strings.Contains(all, "too short to resolve: query 1 400") || !strings.Contains(all, "--repeat") {
		t.Errorf("nothing of short phases in\n%s", all)
	}
	if n := strings.Count(out, "\n"); n > 60 {
		t.Errorf("%d lines", n)
	}
}

func TestOperationsInJSON(t *testing.T) {
	var doc struct {
		Headline   string
		Layouts    []struct{ Name string }
		Operations []struct {
			Name, Headline string
			Layouts        []struct {
				Name, Mark  string
				Recommended bool
			}
		} `json:"families"`
		Published []struct {
			Operation            string `json:"family"`
			Statement, Direction string
		} `json:"published_beside_measured"`
		Trials []struct {
			Measures []struct {
				Operation string `json:"family"`
			}
		}
	}
	if err := json.Unmarshal(render(t, report.JSON, operations(t)["backup"]), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Operations) != 2 || doc.Operations[1].Name != workload.OperationRestore || !doc.Operations[0].Layouts[1].Recommended ||
		len(doc.Published) != 7 { // 3 and 3 readers' of backups, 1 of restores
		t.Errorf("%+v", doc)
	}
	if len(doc.Trials[0].Measures) != 2 {
		t.Errorf("a trial has %d measures, want both", len(doc.Trials[0].Measures))
	}
}

func TestOperationsInABrowser(t *testing.T) {
	b := browsertest.Open(t)
	for name, d := range operations(t) {
		widths := []int64{1180}
		if name == "dml" { // which has the widest table
			widths = append(widths, 390)
		}
		for _, width := range widths {
			b.Forget()
			show(t, b, d, width, "light")
			keep(t, "operations-"+name+".png", screen(t, b))
			got := browsertest.Run(t, b, chromedp.Evaluate[drawn](marks))
			b.Quiet(t, "file://")
			got.neat(t)
			cells, dots := map[string]int{"dml": 1, "scan": 1, "backup": 2, "open": 0}[name], map[string]int{"dml": 8, "scan": 12, "backup": 6}[name]
			if got.Operations != cells || got.Marks != dots {
				t.Errorf("%s, %d wide: %d cells and %d dots, want %d and %d", name, width, got.Operations, got.Marks, cells, dots)
			}
		}
	}
}

// TestOperationsAreAccessible: heads have scopes, ids are unique.
func TestOperationsAreAccessible(t *testing.T) {
	for name, d := range operations(t) {
		page := inline.ReplaceAllString(string(render(t, report.HTML, d)), "")
		for _, th := range strings.Split(page, "<th")[1:] {
			if head, _, _ := strings.Cut(th, ">"); !strings.HasPrefix(th, "ead") && !strings.Contains(head, "scope=") {
				t.Errorf("%s: a head without scope: <th%s", name, head)
			}
		}
	}
}

func TestOutcomeOfATrial(t *testing.T) {
	all := operations(t)
	for name, want := range map[string]string{"scan": "over all 11 operations", "dml": "insert ", "backup": ", restore "} {
		d := all[name]
		got := report.Outcome(d.Plan, d.Trials[0])
		if !strings.Contains(got, want) || len(got) > 90 {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := report.Outcome(all["dml"].Plan, all["dml"].Trials[0]); !strings.HasSuffix(got, ", … (8 in all)") {
		t.Errorf("dml: %q", got)
	}
	one := filewise.Trial{Measures: []filewise.Measure{{Operation: "inserts", Unit: "rows", Work: 100,
		Window: [2]time.Duration{0, time.Second}}}}
	if got := report.Outcome(experiment.Plan{}, one); got != "100 rows/s" {
		t.Errorf("inserts: %q", got)
	}
}

// The latency of an operation's executions stands next to its throughput on a screen, and a loss in p99 stands above.
func TestLatencyOfOperationsOnAScreen(t *testing.T) {
	d := operations(t)["dml"]
	d.Judgement.Operations = slices.Clone(d.Judgement.Operations)
	i := slices.IndexFunc(d.Judgement.Operations, func(f experiment.Operation) bool { return f.Name == "concurrent insert" })
	f := &d.Judgement.Operations[i]
	f.LatencyLoss = "Caution: p99 of 8 files is 3.4 times that of 1 file: 4.9 ms, against 1.43 ms."
	f.Latency = []experiment.LayoutLatency{{Layout: "1 file", P99: 1430 * time.Microsecond}, {Layout: "8 files", P99: 4900 * time.Microsecond}}
	var out bytes.Buffer
	if err := report.Terminal(&out, d, report.TerminalOptions{Width: 100, Short: true}); err != nil {
		t.Fatal(err)
	}
	above, table, _ := strings.Cut(strings.Join(strings.Fields(out.String()), " "), " operation ")
	said := "Caution, concurrent insert: p99 of 8 files is 3.4 times that of 1 file: 4.9 ms, against 1.43 ms."
	if !strings.HasSuffix(above, said+" Set --p99-limit to bar layouts that take longer.") {
		t.Errorf("the first lines are\n%s", above)
	}
	if verdict := report.Verdict(d); verdict != report.Headline(d)+" "+said {
		t.Errorf("the verdict in one line is %q", verdict)
	}
	var doc struct{ Judgement struct{ Latency_loss string } } //nolint:revive // as it stands in JSON
	if err := json.Unmarshal(render(t, formats["json"], d), &doc); err != nil || doc.Judgement.Latency_loss != said {
		t.Errorf("JSON has %q, %v", doc.Judgement.Latency_loss, err)
	}
	if !strings.HasPrefix(strings.TrimPrefix(table, "1 file "), "layout p99 against 1 file result ") ||
		!strings.Contains(table, " 8 files 4.9 ms +") {
		t.Errorf("the table is\n%s", table)
	}
}
