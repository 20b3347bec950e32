package tablecsv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"filewise/lab/verdict"
)

// csvOf is a file of seconds of one run of each layout, one run after the other, or of trials in
// blocks on a machine that drifts from trial to trial.
func csvOf(r *rand.Rand, layouts, lines int, memory, drift float64, blocks bool) string {
	series, machine := make([][]float64, layouts), 0.0
	for j := range series {
		series[j] = make([]float64, lines)
	}
	for b := range lines {
		for _, j := range r.Perm(layouts) {
			before := r.NormFloat64()
			if b > 0 {
				before = series[j][b-1]
			}
			machine = 0.95*machine + drift*r.NormFloat64()
			series[j][b] = memory*before + math.Sqrt(1-memory*memory)*r.NormFloat64()
			if drift > 0 {
				series[j][b] = machine + r.NormFloat64()
			}
		}
	}
	var text strings.Builder
	text.WriteString("block,layout,throughput\n")
	for j, line := range series {
		for b, x := range line {
			fmt.Fprintf(&text, "%d,%d files,%.3f\n", b+1, j+1, 1000*math.Exp(0.02*x))
		}
	}
	if blocks {
		return text.String()
	}
	out := strings.Builder{}
	for line := range strings.Lines(text.String()) {
		_, rest, _ := strings.Cut(line, ",")
		out.WriteString(rest)
	}
	return out.String()
}

// readings counts the results of files: refused, put together, and judged wrongly.
type readings struct{ refused, together, wrong int }

func readMany(t *testing.T, n int, judge bool, make func() string) (out readings) {
	for range n {
		in, err := Options{}.Read(strings.NewReader(make()))
		if err != nil {
			out.refused++
			continue
		}
		if len(in.Notes) > 0 && strings.Contains(in.Notes[len(in.Notes)-1], "as one trial") {
			out.together++
		}
		if !judge {
			continue
		}
		cfg := verdict.DefaultConfig()
		cfg.MaxBlocks = max(cfg.MaxBlocks, len(in.Table))
		result, err := verdict.Judge(cfg, in.Arms(), in.Table)
		if err != nil {
			t.Fatal(err)
		}
		wrong := false
		for _, analysis := range result.Analyses {
			for _, e := range analysis.Estimates {
				wrong = wrong || e.Lo > 1e-9 || e.Hi < -1e-9
			}
			wrong = wrong || analysis.Recommended > 0
		}
		if wrong {
			out.wrong++
		}
	}
	return out
}

// Seconds of one run are refused or put together; trials are not, however the machine drifts.
// FILEWISE_SERIES=1 measures all shares of 1,000 files each (flags -v, some minutes).
func TestSecondsOfOneRunAreNoTrials(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	if os.Getenv("FILEWISE_SERIES") != "" {
		measureSeries(t, r)
		return
	}
	if got := readMany(t, 20, false, func() string { return csvOf(r, 2, 60, 0.8, 0, false) }); got.refused < 19 {
		t.Errorf("of 20 files of seconds: %+v", got)
	}
	if got := readMany(t, 60, false, func() string { return csvOf(r, 3, 20, 0, 1, true) }); got.refused > 3 || got.together > 0 {
		t.Errorf("of 60 files of trials on a machine that drifts: %+v", got)
	}
	if got := readMany(t, 60, false, func() string { return csvOf(r, 2, 12, 0, 0, false) }); got.refused > 3 || got.together > 24 {
		t.Errorf("of 60 files of trials without blocks: %+v", got)
	}
}

func measureSeries(t *testing.T, r *rand.Rand) {
	const files = 400
	for _, layouts := range []int{2, 5} {
		for _, lines := range []int{10, 20, 60} {
			for _, memory := range []float64{0.3, 0.5, 0.8} {
				got := readMany(t, files, true, func() string { return csvOf(r, layouts, lines, memory, 0, false) })
				t.Logf("%d layouts, %d s, memory %.1f: of %d %+v", layouts, lines, memory, files, got)
			}
			got := readMany(t, files, false, func() string { return csvOf(r, layouts, lines, 0, 0, false) })
			t.Logf("%d layouts, %d trials without blocks: of %d %+v", layouts, lines, files, got)
			got = readMany(t, files, false, func() string { return csvOf(r, layouts, lines, 0, 1, true) })
			t.Logf("%d layouts, %d blocks, drift: of %d %+v", layouts, lines, files, got)
		}
	}
}

// Batches are geometric means of the trials that there are.
func TestBatch(t *testing.T) {
	cell := func(x float64, build string) verdict.Cell {
		return verdict.Cell{Throughput: x, OK: x > 0, Build: build}
	}
	in := Input{Blocks: []string{"1", "2", "3"}, Table: verdict.Table{{cell(2, "x"), cell(0, "")}, {cell(8, "x"), cell(5, "a")},
		{cell(3, ""), cell(0, "")}}}
	in.batch(2)
	got := in.Table
	if len(got) != 2 || math.Abs(got[0][0].Throughput-4) > 1e-9 || got[0][0].Build != "x" || math.Abs(got[0][1].Throughput-5) > 1e-9 ||
		got[1][1].OK || in.Blocks[0] != "1–2" {
		t.Errorf("%+v", in)
	}
}
