package drivers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/drive"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// world is an experiment with 5 connections on the fake engine, where 4 files are better. Drivers' requests and
// answers go through JSON, as on their way to other processes.
type world struct {
	engine  *fake.Engine
	drivers map[string]*Driver
	runner  experiment.Runner
	crew    *Crew
	stored  []filewise.Trial
	asked   func(host string, o Order) error // before it is done. Nil means nothing
}

func newWorld(t *testing.T, hosts ...string) *world {
	t.Helper()
	sc, err := workload.Lookup("inserts")
	if err != nil {
		t.Fatal(err)
	}
	p := experiment.Plan{Scenario: sc.Name, Params: sc.Params, Seed: 7, Window: time.Second, WarmUp: 500 * time.Millisecond,
		PilotWindow: 500 * time.Millisecond, SliceLength: 10 * time.Millisecond, Margin: 2, Confidence: 0.95,
		Goal: verdict.GoalRecommend, MaxBlocks: 4, Attempts: 3,
		Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "here", Dir: t.TempDir()}}}}
	p.Params.Connections = 5
	for _, n := range []int{1, 4} {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards, Rank: n,
			Data: filewise.Spread{Files: n, Bytes: 1 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
	}
	p.Baseline = p.Layouts[0].Name
	w := &world{drivers: map[string]*Driver{}, engine: fake.New(fake.Config{Noise: 0.01, Seed: 3, Clock: fake.InBubble(),
		Throughput: func(l filewise.Layout) float64 { return 90 + 5*float64(l.Data.Files) }})}
	load, err := sc.New(p.Params, p.Seed)
	if err != nil {
		t.Fatal(err)
	}
	server, err := w.engine.Open(t.Context(), p.Target)
	if err != nil {
		t.Fatal(err)
	}
	w.runner = experiment.Runner{Plan: p, Workload: load, Server: server, Clock: w.engine.Clock(),
		Record: func(_ context.Context, tr filewise.Trial) error { w.stored = append(w.stored, tr); return nil }}
	if len(hosts) == 0 {
		return w
	}
	for _, host := range hosts {
		w.drivers[host] = &Driver{Open: w.engine.Open, Version: "1", Clock: w.engine.Clock(),
			Hide: func(text string) string { return strings.ReplaceAll(text, "secret", "***") }}
	}
	w.crew = &Crew{Hosts: hosts, Ask: w.ask, Server: server.(filewise.Sharer), Clock: w.engine.Clock(), Version: "1", Run: "test"}
	w.runner.Drivers = w.crew
	if err := w.crew.Greet(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) ask(ctx context.Context, host string, o Order) (out Answer, err error) {
	if w.asked != nil {
		if err := w.asked(host, o); err != nil {
			return out, err
		}
	}
	through(&o)
	out = w.drivers[host].Do(ctx, o)
	through(&out)
	return out, ctx.Err()
}

// through takes a value through JSON.
func through[T any](v *T) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	*v = *new(T)
	if err := json.Unmarshal(text, v); err != nil {
		panic(err)
	}
}

// leave ends what is left, so that nothing sleeps in the bubble.
func (w *world) leave(t *testing.T) {
	t.Helper()
	for _, d := range w.drivers {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		d.forget.Stop()
	}
	if n := w.engine.Undropped(); n != 0 {
		t.Errorf("%d builds are left", n)
	}
}

func (w *world) run(t *testing.T) experiment.Judgement {
	t.Helper()
	trials, _, err := w.runner.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	j, err := w.runner.Plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// Three drivers have the trials and the verdict of one process with the same connections: in a window and of fixed
// work, one after the other and in turns. That holds though a driver's clock is wrong.
func TestDriversAreOneProcess(t *testing.T) {
	alter := map[string]func(*experiment.Plan){
		"window": func(*experiment.Plan) {},
		"work": func(p *experiment.Plan) {
			p.Window, p.WarmUp, p.PilotWindow, p.Work = 0, 0, 0, 400*int64(p.Params.RowBytes)
		},
		"turns":   func(p *experiment.Plan) { p.Interleaved, p.Rounds = true, 4 },
		"preload": func(p *experiment.Plan) { p.Preload = 100 * int64(p.Params.RowBytes) },
	}
	for name, alter := range alter {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one, three := newWorld(t), newWorld(t, "a", "b", "c")
				alter(&one.runner.Plan)
				alter(&three.runner.Plan)
				three.drivers["c"].Clock = wrong{three.drivers["c"].Clock}
				a, b := one.run(t), three.run(t)
				if diff := cmp.Diff(a.Operations, b.Operations, cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateNaNs(), cmpopts.EquateEmpty(),
					cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
					t.Errorf("judgements (-one +three):\n%s", diff)
				}
				if diff := cmp.Diff(one.stored, three.stored, cmpopts.IgnoreFields(filewise.Trial{}, "Started", "Elapsed", "Stages"),
					cmpopts.IgnoreFields(filewise.Measure{}, "Deltas", "Hist", "Sync"), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
					t.Errorf("trials (-one +three):\n%s", diff)
				}
				for i := range one.stored {
					if d := clockOf(three.stored[i], "c"); d != -90 {
						t.Fatalf("the clock of driver c is said to be %v s behind", d)
					}
					if got, want := latencies(t, three.stored[i]), latencies(t, one.stored[i]); got != want {
						t.Fatalf("trial %d has latencies %s, by one process %s", i, got, want)
					}
				}
				three.leave(t)
			})
		})
	}
}

// wrong is a clock that is ahead.
type wrong struct{ filewise.Clock }

func (w wrong) Now() time.Time { return w.Clock.Now().Add(90 * time.Second) }

// clockOf returns the stored reading of a driver's clock.
func clockOf(trial filewise.Trial, host string) float64 {
	for _, d := range trial.Measures[0].Deltas {
		if d.Probe == filewise.ProbeDriver+host && d.Name == "clock behind the server's" {
			return d.Value
		}
	}
	return 0
}

func latencies(t *testing.T, trial filewise.Trial) string {
	t.Helper()
	out := ""
	for _, m := range trial.Measures {
		h, err := drive.DecodeHist(m.Hist)
		if err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprint(h.TotalCount(), h.ValueAtPercentile(50), h.ValueAtPercentile(99), h.Max())
	}
	return out
}

// A driver that dies, or starts much too late, voids the trial: it is stored with the reason, and measured
// again. One that is a little late makes the window shorter. The clocks are stored with the others.
func TestVoid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		var starts atomic.Int64
		var most, shortest time.Duration
		w.asked = func(host string, o Order) error {
			switch {
			case o.Start == nil || host != "b":
			case starts.Add(1) == 2:
				return errors.New("it has died")
			case starts.Load() == 5:
				most = w.crew.lead
			case starts.Load() == 4:
				time.Sleep(time.Second) // longer than the lead
			case starts.Load() == 7:
				time.Sleep(10 * time.Second)
			}
			return nil
		}
		w.run(t)
		w.leave(t)
		var void []string
		for _, tr := range w.stored {
			if tr.State == filewise.Failed {
				void = append(void, tr.Reason)
				continue
			}
			if m := tr.Measures[0]; !tr.Cell.Pilot && (shortest == 0 || m.Window[1]-m.Window[0] < shortest) {
				shortest = m.Window[1] - m.Window[0]
			}
			var told []string
			for _, d := range tr.Measures[0].Deltas {
				if strings.HasPrefix(d.Probe, filewise.ProbeDriver) {
					told = append(told, d.Probe+" "+d.Name)
				}
			}
			if len(told) != 8 || !slices.Contains(told, "driver b start after the first") {
				t.Errorf("of the drivers is stored: %q", told)
			}
		}
		if len(void) != 2 || !strings.Contains(void[0], "driver b: it has died") ||
			!strings.Contains(void[1], "missed its instant") ||
			most < 2*leastLead || shortest < 500*time.Millisecond || shortest > 900*time.Millisecond {
			t.Errorf("void are %q, with a lead of %v then, and a window of %v", void, most, shortest)
		}
	})
}

// No layout is to blame for drivers that fail again and again: the run ends, and can go on.
func TestDriversThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		w.asked = func(host string, o Order) error {
			if o.Arm != nil && host == "b" {
				return errors.New("it has died")
			}
			return nil
		}
		done, _, err := w.runner.Run(t.Context(), nil)
		if filewise.CodeOf(err) != filewise.CodeStopped || !errors.Is(err, experiment.ErrVoid) || len(done) == 0 {
			t.Fatalf("%d trials, %v", len(done), err)
		}
		w.asked = nil
		if _, d, err := w.runner.Run(t.Context(), done); err != nil || d.Ending != experiment.Decided {
			t.Errorf("gone on: %v, %v", d, err)
		}
		w.leave(t)
	})
}

// A driver that is gone is waited for, also when it takes half an hour, and for an hour at most.
func TestDriverIsWaitedFor(t *testing.T) {
	for away, want := range map[time.Duration]bool{30 * time.Minute: true, 2 * Patience: false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "a", "b")
			var gone time.Time
			starts, waited := 0, 0
			w.asked = func(host string, o Order) error {
				if host != "b" {
					return nil
				}
				if o.Start != nil {
					starts++
				}
				if starts == 3 && gone.IsZero() {
					gone = time.Now()
				}
				if !gone.IsZero() && time.Since(gone) < away {
					return errors.New("it has died")
				}
				return nil
			}
			w.runner.Notify = func(e experiment.Event) {
				if e.Kind == experiment.EventWaiting && strings.Contains(e.Waits(), "driver b: it has died") {
					waited++
				}
			}
			_, d, err := w.runner.Run(t.Context(), nil)
			failed := 0
			for _, tr := range w.stored {
				if tr.State == filewise.Failed {
					failed++
				}
			}
			if (err == nil && d.Ending == experiment.Decided) != want || !want && filewise.CodeOf(err) != filewise.CodeStopped ||
				failed != 1 || waited == 0 {
				t.Errorf("away for %v: %v, %v; %d trials failed, waited %d times", away, d.Ending, err, failed, waited)
			}
			w.leave(t)
		})
	}
}

// Drivers that cannot work together are refused before anything is built.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		w.drivers["b"].Version = "2"
		err := w.crew.Greet(t.Context(), w.runner.Plan)
		if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(err.Error(), "driver b: it is Filewise 2") {
			t.Errorf("another version: %v", err)
		}
		w.drivers["b"].Version = "1"
		w.drivers["b"].Open = func(context.Context, filewise.Target) (filewise.Server, error) {
			return nil, errors.New("wrong secret")
		}
		_ = w.drivers["b"].Close()
		if err := w.crew.Greet(t.Context(), w.runner.Plan); err == nil || !strings.Contains(err.Error(), "wrong ***") {
			t.Errorf("a password that is wrong: %v", err)
		}
		w.asked = func(string, Order) error { return errors.New("nobody is there") }
		if err := w.crew.Greet(t.Context(), w.runner.Plan); filewise.CodeOf(err) != filewise.CodePreflight ||
			strings.Contains(err.Error(), "void") {
			t.Errorf("nobody is there: %v", err)
		}
		w.asked = func(string, Order) error {
			return filewise.Errorf(filewise.CodePreflight, "make the namespace", "refused")
		}
		if err := w.crew.Greet(t.Context(), w.runner.Plan); filewise.RemedyOf(err) != "make the namespace" {
			t.Errorf("refused: %v, do this: %s", err, filewise.RemedyOf(err))
		}
		w.leave(t)
	})
}
