package fake

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/lab/workload"
)

func layout(n int) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards,
		Data: filewise.Spread{Files: n, Bytes: 1 << 20, Allocation: filewise.Preallocated}}
}

var inserts = sync.OnceValues(func() (filewise.Workload, error) {
	return workload.NewInserts(workload.Params{Connections: 1, RowBytes: 8, CommitEvery: 1,
		Table: workload.TableShared, Key: workload.KeySequential}, 1)
})

// trial builds a layout, does n operations and checks them. It returns the
// throughput in virtual time.
func trial(t *testing.T, e *Engine, files int, n int64) (float64, error) {
	t.Helper()
	ctx := context.Background()
	w, err := inserts()
	if err != nil {
		t.Fatal(err)
	}
	srv, err := e.Open(ctx, filewise.Target{Volumes: []filewise.Volume{{Name: "a", Dir: "/a"}}})
	if err != nil {
		return 0, err
	}
	db, err := srv.Build(ctx, layout(files), w.Program())
	if err != nil {
		return 0, err
	}
	if _, err := db.Observe(ctx); err != nil {
		return 0, err
	}
	s, err := db.Connect(ctx, 0, 0)
	if err != nil {
		return 0, err
	}
	start := e.Clock().Now()
	done, err := s.Do(ctx, 0, n)
	took := e.Clock().Now().Sub(start)
	if checked := w.Check(ctx, db, 0, []filewise.Ledger{{done}}); checked != nil {
		return 0, checked
	}
	if err := errors.Join(err, s.Close(), db.Drop(ctx)); err != nil {
		return 0, err
	}
	return float64(done) / took.Seconds(), nil
}

func TestPlantedThroughput(t *testing.T) {
	e := New(Config{Throughput: func(l filewise.Layout) float64 { return 500 * float64(l.Data.Files) }, Drift: 0.1})
	for build, files := range []int{1, 4, 2} {
		got, err := trial(t, e, files, 2000)
		if err != nil {
			t.Fatal(err)
		}
		if want := 500 * float64(files) * math.Pow(1.1, float64(build)); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("build %d of %d files: %.3f per second, planted %.3f", build+1, files, got, want)
		}
	}
}

// Files lie on the layout's own volumes, as on real engines.
func TestDataLieOnTheLayoutsOwnVolumes(t *testing.T) {
	to := filewise.Target{Volumes: []filewise.Volume{{Name: "a", Dir: "/a"}, {Name: "b", Dir: "/b"}, {Name: "c", Dir: "/c"}}}
	l := layout(2)
	l.Data.Volumes, l.Data.Placement = "c+b", filewise.PlaceRoundRobin
	if got := files(to, l); got[0].Volume != "c" || got[1].Volume != "b" {
		t.Errorf("data of volumes=c+b lie on %s and %s", got[0].Volume, got[1].Volume)
	}
}

func TestNoiseFollowsFromTheSeed(t *testing.T) {
	run := func(seed uint64) (rates []float64, sum, squares float64) {
		e := New(Config{Noise: 0.05, Seed: seed})
		for range 400 {
			x, err := trial(t, e, 1, 100)
			if err != nil {
				t.Fatal(err)
			}
			rates = append(rates, x)
			sum += math.Log(x / 1000)
			squares += math.Log(x/1000) * math.Log(x/1000)
		}
		return rates, sum / 400, math.Sqrt(squares / 400)
	}
	a, mean, sd := run(1)
	again, _, _ := run(1)
	other, _, _ := run(2)
	if diff := cmp.Diff(a, again); diff != "" {
		t.Error("the same seed gives other rates:", diff)
	}
	if cmp.Equal(a, other) {
		t.Error("another seed gives the same rates")
	}
	if math.Abs(mean) > 0.01 || math.Abs(sd-0.05) > 0.01 { // 4 and 5 standard errors
		t.Errorf("noise has mean %.4f and deviation %.4f, planted 0 and 0.05", mean, sd)
	}
}

func TestFaults(t *testing.T) {
	cause := errors.New("disk on fire")
	for _, c := range []struct {
		stage string
		fault Fault
		is    error
	}{
		{"build", Fault{Stage: filewise.StageBuild, Err: cause}, cause},
		{"observe", Fault{Stage: filewise.StageObserve}, filewise.ErrLayout},
		{"work", Fault{Stage: filewise.StageMeasure, After: 10}, ErrPlanted},
		{"check", Fault{Stage: filewise.StageCheck}, filewise.ErrCheck},
		{"check's own", Fault{Stage: filewise.StageCheck, Err: cause}, cause},
		{"drop", Fault{Stage: filewise.StageDrop}, ErrPlanted},
	} {
		c.fault.Build, c.fault.Times = 2, 1
		e := New(Config{Faults: []Fault{c.fault}})
		for build := 1; build <= 3; build++ {
			_, err := trial(t, e, 2, 100)
			if build != 2 && err != nil || build == 2 && !errors.Is(err, c.is) {
				t.Errorf("%s, build %d: %v", c.stage, build, err)
			}
		}
	}
}

func TestCallsAreRecordedInOrder(t *testing.T) {
	e := New(Config{Stages: map[string]time.Duration{filewise.StageBuild: time.Second}})
	if _, err := trial(t, e, 1, 1000); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range e.Calls() {
		got = append(got, c.Stage)
	}
	if diff := cmp.Diff([]string{"open", "build", "observe", "connect", "check", "disconnect", "drop"}, got); diff != "" {
		t.Error(diff)
	}
	if took := e.Clock().Now().Sub(Epoch); took != 2*time.Second {
		t.Errorf("virtual time %v, want 1 s of building and 1 s of work", took)
	}
	if e.Builds() != 1 || e.Undropped() != 0 {
		t.Errorf("%d builds, %d not dropped", e.Builds(), e.Undropped())
	}
}

func BenchmarkDo(b *testing.B) {
	e := New(Config{Throughput: func(filewise.Layout) float64 { return 1e5 }})
	w, _ := inserts()
	srv, _ := e.Open(context.Background(), filewise.Target{Volumes: []filewise.Volume{{Name: "a"}}})
	db, err := srv.Build(context.Background(), layout(1), w.Program())
	if err != nil {
		b.Fatal(err)
	}
	s, _ := db.Connect(context.Background(), 0, 0)
	b.ReportAllocs()
	var at int64
	for b.Loop() {
		if _, err := s.Do(context.Background(), at, 1); err != nil {
			b.Fatal(err)
		}
		at++
	}
}

// Every build and every reset reads what the machine does to it, once and in order.
func TestDisturbed(t *testing.T) {
	var asked []string
	e := New(Config{Disturb: func(l filewise.Layout) float64 {
		asked = append(asked, l.Name)
		return math.Log(float64(len(asked)))
	}})
	for i, name := range []string{"1 file", "4 files"} {
		own, first := e.truth(filewise.Layout{Name: name}, 1)
		if want := own * float64(i+1); math.Abs(first-want) > 1e-9*want {
			t.Errorf("build %d works at %v, want %v", i+1, first, want)
		}
	}
	if len(asked) != 2 || asked[0] != "1 file" || asked[1] != "4 files" {
		t.Errorf("asked for %v", asked)
	}
}
