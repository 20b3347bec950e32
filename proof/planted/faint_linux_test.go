package planted

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
	"filewise/engine/innodb"
	"filewise/engine/postgres"
	"filewise/engine/sqlite"
	"filewise/lab/cause"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
)

// faint is a cause that takes about a sixth of the throughput: without it a layout is
// 20 % faster than with it.
type faint struct {
	name       string
	engine     filewise.Engine
	durability filewise.Durability
	rowBytes   int
	commit     int
	layout     filewise.Layout
	throttled  bool // the databases lie on the volume that can be throttled
	// plant begins the planted cause, and returns the function that ends it; more strength costs more.
	plant func(p *plants, strength float64) (end func())
	first float64 // strength, from which the right one is searched
	kinds []string
	waits []filewise.WaitClass // right causes: waits of these classes, or changes of these kinds
}

// plants holds the tools for the causes.
type plants struct {
	t       testing.TB
	storage *storage
	volume  filewise.Volume // of the databases
	cost    *atomic.Int64   // of an operation, in ns of computing
}

var faints = []faint{
	{name: "throttled volume", engine: sqlite.New(), durability: filewise.DurabilityFull, rowBytes: 1000, commit: 20, throttled: true,
		layout: dataLayout(filewise.KindShards, 1, filewise.PlaceOne), plant: (*plants).throttle, first: 1.0 / 1500,
		waits: []filewise.WaitClass{filewise.WaitLog, filewise.WaitDataWrite, filewise.WaitCheckpoint}},
	{name: "CPU", engine: sqlite.New(), durability: filewise.DurabilityOff, rowBytes: 100, commit: 100,
		layout: dataLayout(filewise.KindShards, connections, filewise.PlaceOne), plant: (*plants).compute, first: 2000,
		kinds: []string{cause.KindCPU}},
	{name: "lock", engine: sqlite.New(), durability: filewise.DurabilityNormal, rowBytes: 100, commit: 20,
		layout: dataLayout(filewise.KindShards, 1, filewise.PlaceOne), plant: (*plants).lock, first: 0.2,
		waits: []filewise.WaitClass{filewise.WaitLock}},
	{name: "log of PostgreSQL", engine: postgres.Engine{}, durability: filewise.DurabilityFull, rowBytes: 100, commit: 1, throttled: true,
		layout: dataLayout(filewise.KindSingle, 1, filewise.PlaceOne), plant: (*plants).throttle, first: 1.0 / 1500,
		waits: []filewise.WaitClass{filewise.WaitLog}},
	{name: "log of MariaDB", engine: innodb.MariaDB, durability: filewise.DurabilityFull, rowBytes: 100, commit: 1, throttled: true,
		layout: dataLayout(filewise.KindSystem, 1, filewise.PlaceOne), plant: (*plants).throttle, first: 1.0 / 1500,
		waits: []filewise.WaitClass{filewise.WaitLog, filewise.WaitDataWrite}},
	{name: "noisy neighbour", engine: sqlite.New(), durability: filewise.DurabilityOff, rowBytes: 100, commit: 100,
		layout: dataLayout(filewise.KindShards, connections, filewise.PlaceOne), plant: (*plants).neighbour, first: 0.2,
		kinds: []string{cause.KindProcessorWait}},
}

// throttle lets the volume take so many requests a second less than it could.
func (p *plants) throttle(strength float64) (end func()) {
	for i := range p.storage.Slow {
		p.storage.Slow[i].Speed = Speed{Requests: int64(max(1/strength, 1))}
	}
	p.storage.limit(p.t)
	return func() { p.storage.lift(p.t) }
}

// compute has every operation compute longer, by ns.
func (p *plants) compute(strength float64) (end func()) {
	p.cost.Store(int64(strength))
	return func() { p.cost.Store(0) }
}

// lock holds the write lock of the database for that share of the time.
func (p *plants) lock(strength float64) (end func()) {
	const cycle = 20 * time.Millisecond
	hold := min(time.Duration(strength*float64(cycle)), cycle*9/10)
	h := holder{t: p.t, dir: p.volume.Dir, held: hold, atRest: cycle - hold}
	h.begin("")
	return func() { h.end("") }
}

// neighbour computes that share of the time on each processor.
func (p *plants) neighbour(strength float64) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() { others(ctx, p.t, strength) })
	}
	return func() { cancel(); wg.Wait() }
}

// repeat is one experiment: whether the top cause is right, and whether another
// one is named instead.
func (f faint) repeat(planted *plants, strength float64) (right, wrong bool, effect float64) {
	p, trials := f.measure(planted, strength, verdict.FirstAnalysis*2)
	effect = throughput(trials, fast)/throughput(trials, slowed) - 1
	j, err := p.Judge(trials)
	if err != nil {
		planted.t.Fatal(err)
	}
	c, _ := cause.Explain(cause.Input{Trials: trials, Connections: p.Params.Connections, Loop: true, Baseline: slowed, Layout: fast,
		Layouts: []string{slowed, fast}, Effect: math.Log1p(effect)})
	planted.t.Logf("%s: %+.0f %%: %v; %v", f.name, 100*effect, c.Sentences, j.Sentences())
	if len(c.Changes) == 0 || c.Changes[0].Share <= 0 {
		return false, false, effect
	}
	top := c.Changes[0]
	right = slices.Contains(f.kinds, top.Kind) || top.Kind == cause.KindWait && slices.Contains(f.waits, top.Class)
	return right, !right, effect
}

// begin makes the storage that a cause is planted on.
func (f faint) begin(t testing.TB) *plants {
	var speeds []Speed
	if f.throttled {
		speeds = []Speed{{}}
	}
	p := &plants{t: t, storage: newStorage(t, speeds...), cost: new(atomic.Int64)}
	p.volume = p.storage.Data
	if f.throttled {
		p.volume = p.storage.Slow[0].Volume
	}
	return p
}

// measure compares the layout with itself: with what is planted, and without.
func (f faint) measure(planted *plants, strength float64, blocks int) (experiment.Plan, []filewise.Trial) {
	r := setup{engine: computing{f.engine, planted.cost}, storage: planted.storage, volumes: []filewise.Volume{planted.volume},
		durability: f.durability, params: inserts(f.rowBytes, f.commit), varies: true}
	end := func() {}
	r.begin = func(layout string) {
		if layout == slowed {
			end = f.plant(planted, strength)
		}
	}
	r.end = func(string) { end(); end = func() {} }
	one, other := f.layout, f.layout
	one.Name, other.Name = slowed, fast
	p := r.plan(one, other)
	p.MaxBlocks = blocks
	return p, r.trials(planted.t, p)
}

// BenchmarkFaintCauses reports how often the top cause of a difference of 20 % is right.
//
//	go -C proof test -run '^$' -bench FaintCauses -benchtime 10x ./planted
func BenchmarkFaintCauses(b *testing.B) {
	for _, f := range faints {
		b.Run(f.name, func(b *testing.B) {
			planted := f.begin(b)
			strength := f.calibrated(planted)
			right, wrong, effects := 0, 0, 0.0
			for b.Loop() {
				is, other, effect := f.repeat(planted, strength)
				effects += effect
				if is {
					right++
				}
				if other {
					wrong++
				}
			}
			b.ReportMetric(100*effects/float64(b.N), "%_planted")
			b.ReportMetric(float64(right), "right")
			b.ReportMetric(float64(wrong), "wrong")
			b.ReportMetric(float64(b.N), "tried")
		})
	}
}

// calibrated is the strength with which a layout is 15 to 28 % faster without it.
func (f faint) calibrated(planted *plants) float64 {
	strength := f.first
	for range 12 {
		_, trials := f.measure(planted, strength, verdict.FirstAnalysis)
		effect := throughput(trials, fast)/throughput(trials, slowed) - 1
		planted.t.Logf("%s: strength %.3g: %+.0f %%", f.name, strength, 100*effect)
		if effect > 0.15 && effect < 0.28 {
			break
		}
		strength *= min(max(0.2/max(effect, 0.02), 0.6), 1.8)
	}
	return strength
}
