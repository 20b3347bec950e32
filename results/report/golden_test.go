package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/results/report"
)

var (
	update   = flag.Bool("update", false, "rewrite the golden files")
	pictures = flag.String("pictures", "", "write the sample runs in all formats into a `directory`, to be looked at")
)

// stored is a realistic run as the store would give it: five layouts, six blocks, two of the layouts dropped, a
// failed trial, an outlier. It is kept as data, so that the goldens depend on this package alone. `go test ./results/report
// -run TestPictures -pictures DIR` makes it again.
func stored(t *testing.T) report.Data {
	t.Helper()
	text, err := os.ReadFile("testdata/gentle.data.json")
	if err != nil {
		t.Fatal(err)
	}
	var d report.Data
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func plain(w io.Writer, d report.Data) error {
	return report.Terminal(w, d, report.TerminalOptions{Width: 80})
}

func coloured(w io.Writer, d report.Data) error {
	return report.Terminal(w, d, report.TerminalOptions{Width: 80, Color: true})
}

func short(w io.Writer, d report.Data) error {
	return report.Terminal(w, d, report.TerminalOptions{Width: 80, Short: true})
}

// formats are all formats by the extension of their goldens.
var formats = map[string]func(io.Writer, report.Data) error{
	"txt": plain, "short.txt": short, "color.txt": coloured, "md": report.Markdown, "json": report.JSON, "html": report.HTML,
}

func render(t *testing.T, write func(io.Writer, report.Data) error, d report.Data) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test ./results/report -update writes it", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (−want +got); go test ./results/report -update rewrites it:\n%s", name, diff)
	}
}

// hashes finds the policy's hashes.
var hashes = regexp.MustCompile(`sha256-(?:[A-Za-z0-9+/=]|&#43;)*`)

// withoutLibraries is a page without the embedded scripts, the style, and the
// hashes in the policy: large, and checked elsewhere.
func withoutLibraries(page []byte) []byte {
	for _, tag := range []string{"script", "style"} {
		var kept []byte
		for {
			before, from, found := bytes.Cut(page, []byte("<"+tag+">"))
			kept = append(kept, before...)
			_, after, closed := bytes.Cut(from, []byte("</"+tag+">"))
			if !found || !closed {
				break
			}
			kept = append(kept, "…"...)
			page = after
		}
		page = kept
	}
	return hashes.ReplaceAll(page, []byte("…"))
}

func TestGolden(t *testing.T) {
	d := stored(t)
	for ext, write := range formats {
		t.Run(ext, func(t *testing.T) {
			got := render(t, write, d)
			if again := render(t, write, d); !bytes.Equal(got, again) {
				t.Error("the same data gave different bytes")
			}
			if ext == "html" {
				got = withoutLibraries(got)
			}
			golden(t, "gentle."+ext, got)
		})
	}
}

// partial returns unfinished runs as a report meets them, in addition to the finished one.
func partial(t *testing.T) map[string]report.Data {
	full := stored(t)
	config := full.Judgement.First().Result.Config
	arms := full.Judgement.First().Result.Arms
	judged := func(blocks int, d experiment.Decision, sentences ...string) experiment.Judgement {
		return experiment.Judgement{Decision: d, Operations: []experiment.Operation{{
			Name: "inserts", Result: verdict.Result{Config: config, Arms: arms, Blocks: blocks}, Sentences: sentences,
		}}}
	}
	with := func(trials []filewise.Trial, j experiment.Judgement, state string) report.Data {
		d := full
		d.Trials, d.Judgement, d.State, d.Ended = trials, j, state, time.Time{}
		return d
	}
	failed := make([]filewise.Trial, 0, 3)
	for i, name := range []string{"4 files", "1 file", "4 files"} {
		failed = append(failed, filewise.Trial{
			Cell:  filewise.Cell{Pilot: true, Layout: name, Attempt: 1 + i/2},
			State: filewise.Failed, Reason: "no space left on device", Started: sampleStart, Elapsed: 80 * time.Millisecond,
		})
	}
	var alone []filewise.Trial
	for _, tr := range full.Trials {
		if tr.Cell.Layout == "2 files" {
			alone = append(alone, tr)
		}
	}
	cut := full
	cut.Trials = full.Trials[:25] // in the middle of the fourth block
	cut.Judgement.Operations = slices.Clone(full.Judgement.Operations)
	first := &cut.Judgement.Operations[0]
	first.Result.Analyses, first.Result.Blocks = first.Result.Analyses[:1], 3
	first.Sentences = []string{"Undecided: no layout is proven to be faster than 1 file. No tested layout is more than 12.3 % faster (95 %)."}
	cut.Judgement.Decision, cut.Ended, cut.State = experiment.Decision{}, time.Time{}, "interrupted"
	return map[string]report.Data{
		"nothing":  {RunID: 9, Plan: full.Plan, Judgement: experiment.Judgement{}},
		"no-plan":  {},
		"no-block": with(full.Trials[:8], judged(0, experiment.Decision{}), "interrupted"),
		"all-failed": with(failed, judged(0, experiment.Decision{Ending: experiment.Broken,
			Why: "the baseline, 1 file, could not be measured: no space left on device"}), "broken"),
		"one-layout": with(alone, judged(3, experiment.Decision{Ending: experiment.Broken, Why: "only 1 of 5 layouts could be measured"},
			"No verdict: only 1 of 5 layouts could be measured."), "broken"),
		"interrupted": cut,
	}
}

func TestPartialRuns(t *testing.T) {
	for name, d := range partial(t) {
		t.Run(name, func(t *testing.T) {
			for _, write := range formats {
				if out := render(t, write, d); bytes.Contains(out, []byte("NaN")) && !bytes.Contains(out, []byte("<script>")) {
					t.Errorf("NaN is shown:\n%s", out)
				}
			}
			golden(t, "partial-"+name+".txt", render(t, plain, d))
			golden(t, "partial-"+name+".md", render(t, report.Markdown, d))
			golden(t, "partial-"+name+".html", withoutLibraries(render(t, report.HTML, d)))
		})
	}
}

// steep is a machine on which they matter many times.
func steep() sampleWorld {
	return sampleWorld{
		Rate: 961, Effects: map[int]float64{1: 1, 2: 2.6, 4: 6.9, 8: 14.2, 16: 20.8}, Blocks: 5, Drift: 0.004, Noise: 0.03,
		Outlier: map[[2]int]float64{{3, 4}: 0.7}, Fail: [2]int{2, 1},
	}
}

// TestJudgedNow renders the judgement of today's experiment and verdict packages.
func TestJudgedNow(t *testing.T) {
	for name, world := range map[string]sampleWorld{"gentle": gentle(), "steep": steep()} {
		t.Run(name, func(t *testing.T) {
			d, err := world.data()
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := d.Judgement.First().Result.Last(); !ok || len(d.Judgement.First().Sentences) == 0 {
				t.Fatal("the sample was not judged")
			}
			for ext, write := range formats {
				if out := render(t, write, d); !bytes.Contains(out, []byte("Recommended")) {
					t.Errorf("%s does not recommend anything", ext)
				}
			}
		})
	}
}

// TestPictures writes the sample runs, and their data, if they are requested.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("-pictures names no directory")
	}
	data := func(w io.Writer, d report.Data) error { return json.NewEncoder(w).Encode(d) }
	for name, made := range map[string]func() (report.Data, error){
		"gentle": gentle().data, "steep": steep().data, "rich": richRun,
		"bulk": func() (report.Data, error) { return bulkRun(5000) },
	} {
		d, err := made()
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{"data.json": render(t, data, d)}
		for ext, write := range formats {
			files[ext] = render(t, write, d)
		}
		for ext, text := range files {
			if err := os.WriteFile(filepath.Join(*pictures, name+"."+ext), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
