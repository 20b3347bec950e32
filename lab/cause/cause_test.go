package cause

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
)

// world makes the trials of a layout: rows per second and connection, and what
// each row costs.
type world struct {
	layout              string
	row                 float64 // s of a connection for a row
	lock, cpu           float64 // s of it
	written, busy, disk float64 // B a row, %, % of the storage's limit
	switches            float64 // context switches a row
	noWaits             bool
	slower              []float64 // of the blocks: how many times as long a row takes
}

// trials of six blocks, whose rows differ by up to a percent unless set otherwise.
func (w world) trials() []filewise.Trial {
	const connections, window = 4, 10 * time.Second
	var out []filewise.Trial
	for block := 1; block <= 6; block++ {
		noise := 1 + 0.01*math.Sin(float64(block*len(w.layout)+len(w.layout)))
		if w.slower != nil {
			noise = w.slower[block-1]
		}
		work := connections * window.Seconds() / (w.row * noise)
		d := func(probe, name, unit string, v float64) filewise.Delta {
			return filewise.Delta{Probe: probe, Name: name, Unit: unit, Value: v}
		}
		m := filewise.Measure{Operation: "inserts", Unit: "rows", Work: work, Window: [2]time.Duration{0, window}, Connections: connections,
			Deltas: []filewise.Delta{
				d("process", "user", "s", w.cpu*work*noise), d("process", "system", "s", 0),
				d("disk", "sda bytes written", "B", w.written*work), d("cpu", "busy share", "%", w.busy),
			}}
		if w.switches > 0 {
			m.Deltas = append(m.Deltas, d("cpu", filewise.ContextSwitches, "switches", w.switches*work))
		}
		if w.disk > 0 {
			m.Deltas = append(m.Deltas, d("storage", "fast: share of limit", "%", w.disk))
		}
		if !w.noWaits {
			m.Deltas = append(m.Deltas,
				filewise.Delta{Probe: "waits", Name: "write lock", Unit: "s", Class: filewise.WaitLock, Value: w.lock * work * noise},
				filewise.Delta{Probe: "waits", Name: "other lock", Unit: "s", Class: filewise.WaitLock, Value: 0.001 * w.lock * work},
				filewise.Delta{Probe: "waits", Name: "write lock", Unit: "waits", Class: filewise.WaitLock, Value: work})
		}
		out = append(out, filewise.Trial{Cell: filewise.Cell{Block: block, Layout: w.layout}, State: filewise.Done,
			Measures: []filewise.Measure{m}})
	}
	return out
}

func input(effect float64, worlds ...world) Input {
	in := Input{Operation: "inserts", Connections: 4, Loop: true, Effect: effect}
	for _, w := range worlds {
		in.Trials = append(in.Trials, w.trials()...)
		in.Layouts = append(in.Layouts, w.layout)
	}
	in.Baseline = worlds[0].layout
	return in
}

func explained(t *testing.T, in Input, layout string) Cause {
	t.Helper()
	in.Layout = layout
	c, ok := Explain(in)
	if !ok {
		t.Fatal("no cause")
	}
	return c
}

func TestALockThatFellIsTheCause(t *testing.T) {
	in := input(1.5, world{layout: "1 file", row: 1.2e-3, lock: 1.02e-3, cpu: 0.1e-3, written: 100, busy: 40, disk: 20},
		world{layout: "8 files", row: 0.25e-3, lock: 0.11e-3, cpu: 0.1e-3, written: 101, busy: 70, disk: 41})
	c := explained(t, in, "8 files")
	if len(c.Changes) != 1 || c.Changes[0].Class != filewise.WaitLock || c.Changes[0].Event != "write lock" {
		t.Fatalf("changes %+v", c.Changes)
	}
	if x := c.Changes[0]; math.Abs(x.Share-0.96) > 0.02 || !(x.Low < x.Fall && x.Fall < x.High && x.Low > 0) {
		t.Errorf("share %v, interval %v … %v … %v", x.Share, x.Low, x.Fall, x.High)
	}
	text := strings.Join(c.Sentences, " ")
	for _, want := range []string{"Lock wait (write lock) per row fell from 1.01 ms to 0.11 ms, 96 % of the gain",
		"volume fast was at 41 % of its limit and the CPU at 70 %: the CPU is nearer its limit"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
}

// Seven of eight connections wait for the lock of one that computes longer: the
// processors are the cause, and the locks their holders'.
func TestWaitsForLocksFollowTheirHolders(t *testing.T) {
	in := input(0.18, world{layout: "slow", row: 1.2e-3, lock: 1.05e-3, cpu: 0.15e-3, busy: 40},
		world{layout: "fast", row: 1e-3, lock: 0.875e-3, cpu: 0.125e-3, busy: 40})
	c := explained(t, in, "fast")
	if len(c.Changes) != 1 || c.Changes[0].Kind != KindCPU || math.Abs(c.Changes[0].Share-1) > 0.05 {
		t.Errorf("%+v", c)
	}
	in = input(0.18, world{layout: "slow", row: 1.2e-3, lock: 1.075e-3, cpu: 0.125e-3, busy: 40},
		world{layout: "fast", row: 1e-3, lock: 0.875e-3, cpu: 0.125e-3, busy: 40})
	c = explained(t, in, "fast")
	if len(c.Changes) != 1 || c.Changes[0].Class != filewise.WaitLock || math.Abs(c.Changes[0].Share-1) > 0.05 {
		t.Errorf("a lock of somebody else's: %+v", c)
	}
	in = input(0.18, world{layout: "slow", row: 1.2e-3, lock: 1.05e-3, cpu: 0.15e-3, busy: 40},
		world{layout: "fast", row: 1e-3, lock: 0.875e-3, cpu: 0.125e-3, busy: 40})
	for i, t := range in.Trials[:6] {
		d := t.Measures[0].Deltas
		d[len(d)-3].Value += 0.015e-3 * float64(i%2*2-1) * t.Measures[0].Work
	}
	c = explained(t, in, "fast")
	if len(c.Changes) == 0 || c.Changes[0].Class != filewise.WaitLock {
		t.Errorf("what holders do may have changed by a third as much: %+v", c)
	}
}

// Storage whose speed varies from block to block does not hide what is waited for:
// the share of the time does not vary with it.
func TestACauseOfVaryingSize(t *testing.T) {
	in := input(3, world{layout: "1 file", row: 10e-3, lock: 9.9e-3, cpu: 1e-5, slower: []float64{1, 2, 30, 1, 1, 10}},
		world{layout: "8 files", row: 0.1e-3, lock: 0.01e-3, cpu: 1e-5})
	c := explained(t, in, "8 files")
	if len(c.Changes) != 1 || math.Abs(c.Changes[0].Share-1) > 0.02 || c.Changes[0].Low < 0 {
		t.Fatalf("%+v", c)
	}
	in = input(-3, world{layout: "8 files", row: 0.1e-3, lock: 0.01e-3},
		world{layout: "1 file", row: 10e-3, lock: 9.9e-3, slower: []float64{1, 2, 30, 1, 1, 10}})
	if c := explained(t, in, "1 file"); len(c.Changes) != 1 || c.Changes[0].High > 0 {
		t.Fatalf("%+v", c)
	}
}

// A wait that rises by itself, while the layout gains, explains nothing of it.
func TestNothingMeasuredExplainsIt(t *testing.T) {
	in := input(0.7, world{layout: "1 file", row: 2e-3, lock: 0.1e-3, cpu: 0.1e-3, written: 100, busy: 40},
		world{layout: "4 files", row: 1e-3, lock: 0.11e-3, cpu: 0.1e-3, written: 100, busy: 40})
	c := explained(t, in, "4 files")
	if c.Explained != 0 || len(c.Changes) != 0 || !strings.Contains(c.Sentences[0],
		"The gain is unexplained: no wait") {
		t.Errorf("%+v", c)
	}
	in = input(0.7, world{layout: "1 file", row: 2e-3, noWaits: true, cpu: 1e-4, busy: 4, written: 100},
		world{layout: "4 files", row: 1e-3, noWaits: true, cpu: 1e-4, busy: 4, written: 200})
	c = explained(t, in, "4 files")
	if len(c.Changes) != 1 || c.Changes[0].Kind != KindIO || !strings.Contains(c.Sentences[0], "waits are not measured here") ||
		!strings.Contains(c.Sentences[1], "Changed too, with unknown effect: bytes written to the storage per row rose from 100 B to 200 B") {
		t.Errorf("%+v", c)
	}
}

func TestContextSwitchesAreTold(t *testing.T) {
	in := input(0.7, world{layout: "1 file", row: 2e-3, cpu: 1e-4, busy: 40, switches: 6},
		world{layout: "4 files", row: 1e-3, cpu: 1e-4, busy: 40, switches: 2})
	c := explained(t, in, "4 files")
	if text := strings.Join(c.Sentences, " "); c.Explained != 0 || !strings.Contains(text, "context switches per row fell from 6.00 to 2.00") {
		t.Errorf("%+v", c)
	}
}

// What fell a lot in a few blocks and rose in most of them has no direction: its medians would contradict its interval.
func TestABlockThatDiffersIsNoChange(t *testing.T) {
	in := input(0.7, world{layout: "1 file", row: 2e-3, cpu: 1e-4, busy: 40, switches: 2},
		world{layout: "4 files", row: 1e-3, cpu: 1e-4, busy: 40, switches: 3})
	for _, x := range slices.Clone(in.Trials) { // twelve blocks
		x.Cell.Block += 6
		x.Measures = slices.Clone(x.Measures)
		x.Measures[0].Deltas = slices.Clone(x.Measures[0].Deltas)
		in.Trials = append(in.Trials, x)
	}
	for _, x := range in.Trials {
		if i := len(x.Measures[0].Deltas) - 4; x.Cell.Layout == "1 file" && x.Cell.Block > 7 {
			x.Measures[0].Deltas[i].Value *= 200
		}
	}
	if text := strings.Join(explained(t, in, "4 files").Sentences, " "); strings.Contains(text, "Context switches") {
		t.Error(text)
	}
}

func TestALossIsExplainedLikeAGain(t *testing.T) {
	in := input(-0.7, world{layout: "1 file", row: 1e-3, cpu: 0.2e-3, busy: 50}, world{layout: "16 files", row: 2e-3, cpu: 1.2e-3, busy: 97})
	c := explained(t, in, "16 files")
	if len(c.Changes) != 1 || c.Changes[0].Kind != KindCPU {
		t.Fatalf("changes %+v", c.Changes)
	}
	text := strings.Join(c.Sentences, " ")
	if !strings.Contains(text, "CPU time per row rose from 0.20 ms to 1.20 ms") || !strings.Contains(text, "of the loss") ||
		!strings.HasSuffix(text, "With 16 files the CPU was 97 % busy: it is the limit there, but not with 1 file.") {
		t.Error(text)
	}
	in = input(-0.7, world{layout: "1 file", row: 1e-3, cpu: 0.2e-3, busy: 90}, world{layout: "16 files", row: 2e-3, cpu: 1.2e-3, busy: 97})
	if text := strings.Join(explained(t, in, "16 files").Sentences, " "); !strings.Contains(text, "90 % busy with 1 file and "+
		"97 % with 16 files: the two are CPU-bound, and their difference says nothing about storage.") {
		t.Error(text)
	}
}

func TestWhatLayoutsShare(t *testing.T) {
	for name, x := range map[string]struct {
		a, b world
		want string
	}{
		"processors": {world{row: 1e-3, lock: 0.9e-3, busy: 95}, world{row: 1e-3, lock: 0.9e-3, busy: 93}, "CPU-bound"},
		"wait": {world{row: 1e-3, lock: 0.6e-3, busy: 30}, world{row: 1e-3, lock: 0.5e-3, busy: 30},
			"at least 50 % of connection time went to lock wait (write lock)"},
		"storage": {world{row: 1e-3, busy: 30, disk: 92}, world{row: 1e-3, busy: 30, disk: 94},
			"the storage of volume fast was at 93 % of its limit"},
		"nothing": {world{row: 1e-3, busy: 30}, world{row: 1e-3, busy: 30},
			"No limit that all layouts share was measured: the CPU was 30 % busy."},
		"processors of one layout": {world{row: 1e-3, busy: 96}, world{row: 1e-3, busy: 60},
			"No limit that all layouts share was measured"},
	} {
		x.a.layout, x.b.layout = "1 file", "4 files"
		c := explained(t, input(0, x.a, x.b), "")
		if text := strings.Join(c.Sentences, " "); !strings.Contains(text, x.want) {
			t.Errorf("%s: %q lacks %q", name, text, x.want)
		}
	}
}

// What rests, or is held to a rate, has no time to share out.
func TestPacedConnections(t *testing.T) {
	in := input(0.5, world{layout: "1 file", row: 2e-3, lock: 1e-3, busy: 20}, world{layout: "4 files", row: 1e-3, lock: 0.1e-3, busy: 20})
	in.Loop = false
	c := explained(t, in, "4 files")
	if len(c.Changes) != 1 || c.Changes[0].Share != 0 || !strings.Contains(strings.Join(c.Sentences, " "),
		"lock wait (write lock) per row fell") {
		t.Errorf("%+v", c)
	}
}

func TestTooFewBlocksHaveNoCause(t *testing.T) {
	in := input(0.5, world{layout: "1 file", row: 2e-3}, world{layout: "4 files", row: 1e-3})
	in.Trials, in.Layout = in.Trials[:2], "4 files"
	if c, ok := Explain(in); ok {
		t.Errorf("%+v", c)
	}
	if c, ok := Explain(Input{Layout: "a", Baseline: "b"}); ok {
		t.Errorf("of no trials: %+v", c)
	}
}

func TestAmounts(t *testing.T) {
	for want, x := range map[string]struct {
		v    float64
		unit string
	}{"1.02 ms": {1.02e-3, "s"}, "0": {0, "requests"}, "0 ns": {0, "s"}, "12.3 kB": {12345, "B"}, "250 B": {250, "B"}, "−500 ms": {-0.5, "s"},
		"0.0001": {1e-4, "requests"}, "1235": {1234.6, "requests"}, "NaN s": {math.NaN(), "s"}} {
		if got := scaleFor(x.v, x.unit).of(x.v); got != want {
			t.Errorf("%v %s = %q, want %q", x.v, x.unit, got, want)
		}
	}
}

// withDelta gives every measure of the trials one more.
func withDelta(in Input, d filewise.Delta) Input {
	for i := range in.Trials {
		for j := range in.Trials[i].Measures {
			m := &in.Trials[i].Measures[j]
			m.Deltas = append(m.Deltas, d)
		}
	}
	return in
}

// If others keep the processors busy, the trials are not CPU-bound by themselves, and their waits are reported.
func TestABusyMachineIsNotCPUBound(t *testing.T) {
	a, b := world{layout: "1 file", row: 1e-3, busy: 97, disk: 92}, world{layout: "4 files", row: 1e-3, busy: 96, disk: 94}
	own := filewise.Delta{Probe: "cpu", Name: "own share", Unit: "%", Value: 12}
	text := strings.Join(explained(t, withDelta(input(0, a, b), own), "").Sentences, " ")
	if strings.Contains(text, "CPU-bound") || !strings.Contains(text, "the storage of volume fast was at 93 % of its limit") ||
		!strings.Contains(text, "mostly with other processes: Filewise and the server used 12 %") {
		t.Error(text)
	}
	a.lock, b.lock = 0.9e-3, 0.9e-3 // whose work it is is not known, but the connections wait
	text = strings.Join(explained(t, input(0, a, b), "").Sentences, " ")
	if !strings.HasPrefix(text, "In every layout the storage of volume fast") || !strings.Contains(text, "at least 90 %") ||
		!strings.Contains(text, "with unknown work") {
		t.Error(text)
	}
	a.lock, b.lock = 0, 0
	own.Value = 80
	if text := strings.Join(explained(t, withDelta(input(0, a, b), own), "").Sentences, " "); !strings.Contains(text, "CPU-bound") {
		t.Error(text)
	}
	a.row, b.row = 2e-3, 1e-3
	a.lock, own.Value = 1e-3, 12
	text = strings.Join(explained(t, withDelta(input(0.7, a, b), own), "4 files").Sentences, " ")
	if !strings.Contains(text, "With 4 files, the storage of volume fast was at 94 % of its limit. The CPU was 96 % busy, mostly") {
		t.Error(text)
	}
}

// A small loss in which one wait took the place of another names both.
func TestWaitsThatTradePlaces(t *testing.T) {
	in := input(-0.05, world{layout: "1 file", row: 8e-3, lock: 6e-3, busy: 5}, world{layout: "8 files", row: 8.4e-3, lock: 1e-3, busy: 5})
	for i := range in.Trials {
		m := &in.Trials[i].Measures[0]
		commit := filewise.Delta{Probe: "waits", Name: "state/commit", Unit: "s", Class: filewise.WaitLog, Value: 1e-3 * m.Work}
		if in.Trials[i].Cell.Layout == "8 files" {
			commit.Value *= 7
		}
		m.Deltas = append(m.Deltas, commit)
	}
	c := explained(t, in, "8 files")
	if len(c.Changes) != 2 || c.Changes[0].Class != filewise.WaitLog || c.Changes[1].Class != filewise.WaitLock {
		t.Fatalf("%+v", c.Changes)
	}
	text := strings.Join(c.Sentences, " ")
	for _, want := range []string{"Log wait (commit) per row rose from 1.00 ms to 7.00 ms, more than all of the loss",
		"Lock wait (write lock) per row fell", "which offsets that"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
}

// What two causes explain together may be more than the gain.
func TestSharesThatOverlap(t *testing.T) {
	in := input(0.7, world{layout: "1 file", row: 2e-3, lock: 1e-3, cpu: 1e-3, busy: 50},
		world{layout: "4 files", row: 1e-3, lock: 0.2e-3, cpu: 0.2e-3, busy: 50})
	text := strings.Join(explained(t, in, "4 files").Sentences, " ")
	if strings.Count(text, "overlaps with the above") != 1 || strings.Contains(text, "more than all") {
		t.Error(text)
	}
}

// What is judged from rest to rest is explained by all of it: of two layouts that commit equally within the window,
// the one whose pages are written sooner is faster by that.
func TestADrainThatFellIsTheCause(t *testing.T) {
	const second = float64(time.Second)
	of := func(layout string) world {
		return world{layout: layout, row: 1e-3, lock: 0.1e-3, cpu: 0.2e-3, busy: 40}
	}
	in := input(0.4, of("1 file"), of("2 files"))
	for i := range in.Trials {
		m, drain := &in.Trials[i].Measures[0], 10.0 // s after a window of 10
		if in.Trials[i].Cell.Layout == "2 files" {
			drain = 5
		}
		drain *= 1 + 0.01*math.Sin(float64(i))
		m.Sync = time.Duration(drain * second)
		m.Rest = &filewise.Rest{Work: m.Work, Time: time.Duration((10 + drain) * second), Written: map[string]float64{filewise.WrittenData: 1e6},
			Storage: []filewise.Delta{{Probe: "disk", Name: "sda bytes written", Unit: "B", Value: 1e6 * drain}}}
	}
	c := explained(t, in, "2 files")
	if len(c.Changes) == 0 || c.Changes[0].Class != filewise.WaitCheckpoint || c.Changes[0].Event != drainEvent ||
		math.Abs(c.Changes[0].Share-1) > 0.05 {
		t.Errorf("%+v", c.Changes)
	}
	if !slices.ContainsFunc(c.Changes, func(x Change) bool { return x.Kind == KindIO && x.From > 1.9*x.To }) {
		t.Errorf("what the disk wrote in the drain is left out: %+v", c.Changes)
	}
	for i := range in.Trials { // the log's drain is not about data files
		in.Trials[i].Measures[0].Rest.Written = map[string]float64{filewise.WrittenLog: 1e6}
	}
	if c := explained(t, in, "2 files"); c.Explained > 0 {
		t.Errorf("%+v", c)
	}
}
