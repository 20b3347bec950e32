package report_test

import (
	"strings"
	"testing"
	"time"

	"filewise/lab/experiment"
	"filewise/results/report"
)

// designed is a run by an article's design in which layouts do not differ, but the
// machine is faster the more files a layout has, as if it drifted.
func designed(t *testing.T, scenario string, files []int, a experiment.AsPublished, noise float64) report.Data {
	t.Helper()
	d, err := phased{
		Scenario: scenario, Engine: "sqlite", Files: files, Noise: noise, Took: 2 * time.Second, Blocks: a.Repeats, AsPublished: &a,
		Effect: func(_ string, files int) float64 { return 0.002 * float64(files) },
	}.data()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The averages name a best layout and the sound verdict names none. The report states that, and that the sound one is
// weaker here.
func TestAsPublishedBesideTheSoundVerdict(t *testing.T) {
	d := designed(t, "inserts", []int{1, 2, 4, 8, 16}, experiment.AsPublished{Repeats: 5, Scale: 2.5e-5}, 0.05)
	if len(d.Trials) != 25 || d.Trials[4].Cell.Layout != "1 file" || d.Trials[5].Cell.Layout != "2 files" {
		t.Fatalf("%d trials; the design is a layout after the other", len(d.Trials))
	}
	for _, ext := range []string{"txt", "md", "html"} {
		out := text(t, ext, d)
		for _, want := range []string{
			"2.5e-05", "Each layout was run 5 times, and the times are averaged.", "(best)", "The averages name a",
			"the sound verdict from the same trials", "Best by the averages: ",
			"It is weaker here than usual: the design is not randomised.", "drift",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%.3000s", ext, want, out)
			}
		}
		if ext == "html" && !strings.Contains(out, "nothing is randomised, and there are no pilots") {
			t.Errorf("%s: the method is another one's", ext)
		}
		if strings.Contains(out, "fresh random order") {
			t.Errorf("%s: it says that the order was random", ext)
		}
	}
}

// One run of each layout allows no sound verdict, whatever the averages are.
func TestAsPublishedOnce(t *testing.T) {
	d := designed(t, "backup", []int{1, 2, 4, 8}, experiment.AsPublished{Repeats: 1, Scale: 1e-4}, 0.01)
	for _, ext := range []string{"txt", "md", "html"} {
		out := text(t, ext, d)
		if !strings.Contains(out, "No sound verdict is possible from this design") || !strings.Contains(out, "Each layout was run once.") {
			t.Errorf("%s:\n%.3000s", ext, out)
		}
		if strings.Contains(out, "of the 3 blocks") || strings.Contains(out, "weaker here") {
			t.Errorf("%s speaks of blocks, or of a sound verdict that there is not:\n%.3000s", ext, out)
		}
	}
}

// The 4 fastest and the 4 slowest of 55 are left out of the average.
func TestAsPublishedDrops(t *testing.T) {
	d := designed(t, "scan", []int{1, 40}, experiment.AsPublished{Repeats: 9, Drop: 4, Scale: 0.005}, 0)
	for i := range d.Trials { // what is not dropped is the run in the middle: 3 s
		took := map[int]time.Duration{5: 3 * time.Second}[d.Trials[i].Cell.Block]
		if d.Trials[i].Cell.Block < 5 {
			took = time.Duration(d.Trials[i].Cell.Block) * time.Millisecond
		} else if took == 0 {
			took = time.Hour
		}
		for k := range d.Trials[i].Measures {
			d.Trials[i].Measures[k].Window[1] = took
		}
	}
	out := text(t, "md", d)
	if !strings.Contains(out, "without the 4 fastest and the 4 slowest runs") ||
		!strings.Contains(out, "| 1 file | 9 | 3 s (best) | baseline |") {
		t.Errorf("%s", out[:min(len(out), 6000)])
	}
}

// Of a run that ended within its first layout none is the best.
func TestAsPublishedOfOneLayout(t *testing.T) {
	d := designed(t, "backup", []int{1, 2, 4, 8}, experiment.AsPublished{Repeats: 1, Scale: 1e-4}, 0.01)
	for n, want := range map[int]bool{1: false, 2: true} {
		cut := d
		cut.Trials = d.Trials[:n]
		for _, ext := range []string{"txt", "md", "html"} {
			if out := text(t, ext, cut); strings.Contains(out, "(best)") != want || !strings.Contains(out, "Each layout was run once.") {
				t.Errorf("%s of %d layouts:\n%.3000s", ext, n, out)
			}
		}
	}
}
