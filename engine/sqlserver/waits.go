package sqlserver

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"filewise"
)

// waitProbe sums the waits of the build's sessions. The server forgets a session's sums when the session ends or is
// reset, so each session is followed. Waits for page latches are divided by samples of the pages' kinds.
type waitProbe struct {
	build *build

	mu    sync.Mutex
	known map[sessionWait]waited // at the last reading
	sums  map[event]waited
	seen  map[string]map[string]int64 // samples since the last reading, by type and kind of page
	looks int64
	why   error // the error of a sample that failed since then
}

func newWaitProbe(b *build) *waitProbe {
	return &waitProbe{build: b, known: map[sessionWait]waited{}, sums: map[event]waited{}, seen: map[string]map[string]int64{}}
}

type sessionWait struct {
	session int64
	name    string
}

// event is a type of wait for a kind of page: PFS, GAM, SGAM, or "" for others.
type event struct{ name, page string }

type waited struct{ ms, number float64 }

// Name returns the probe's name.
func (*waitProbe) Name() string { return filewise.ProbeWaits }

// Sample records the pages for whose latches sessions wait.
func (p *waitProbe) Sample(ctx context.Context, _ time.Duration) error {
	rows, err := p.build.ask(ctx, "page-latches", "pages whose latch is waited for")
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			p.why = err
		}
		return err
	}
	p.looks++
	for _, r := range rows {
		name := r.Text("name")
		if p.seen[name] == nil {
			p.seen[name] = map[string]int64{}
		}
		p.seen[name][r.Text("kind")] += r.Int("waiting")
	}
	return nil
}

// Read returns the time of every wait that is not benign, and the number of waits unless samples divided it.
func (p *waitProbe) Read(ctx context.Context) ([]filewise.Counter, error) {
	rows, err := p.build.ask(ctx, "session-waits", "waits of sessions")
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		err, p.why = p.why, nil
	}
	if err != nil {
		return nil, err
	}
	p.split(p.moved(rows))
	clear(p.seen)
	return p.counters(), nil
}

// moved returns how much each type of wait has grown since the last reading. If a sum fell, it was reset meanwhile, and
// counts whole.
func (p *waitProbe) moved(rows []row) map[string]waited {
	now, moved := make(map[sessionWait]waited, len(rows)), map[string]waited{}
	for _, r := range rows {
		ms, ok := r.Number("time")
		number, ok2 := r.Number("waits")
		if key := (sessionWait{r.Int("session"), r.Text("name")}); ok && ok2 {
			now[key] = waited{float64(ms), float64(number)}
			was := p.known[key]
			if now[key].number < was.number {
				was = waited{}
			}
			m := moved[key.name]
			moved[key.name] = waited{m.ms + now[key].ms - was.ms, m.number + now[key].number - was.number}
		}
	}
	p.known = now
	return moved
}

// split adds to the sums. A type's growth is divided among the kinds of pages that samples have seen.
func (p *waitProbe) split(moved map[string]waited) {
	for name, m := range moved {
		pages := p.seen[name]
		var all int64
		for _, n := range pages {
			all += n
		}
		if all == 0 {
			pages, all = map[string]int64{"": 1}, 1
		}
		for page, n := range pages {
			part := float64(n) / float64(all)
			sum := p.sums[event{name, page}]
			p.sums[event{name, page}] = waited{sum.ms + part*m.ms, sum.number + part*m.number}
		}
	}
}

func (p *waitProbe) counters() []filewise.Counter {
	all := []filewise.Counter{{Name: "looks", Unit: "looks", Value: float64(p.looks)}}
	for _, e := range slices.SortedFunc(maps.Keys(p.sums), func(a,
		b event) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.page, b.page))
	}) {
		c := filewise.Counter{Name: e.name, Unit: "s", Value: p.sums[e].ms / 1e3, Class: waitClassOf(e.name)}
		if e.page != "" {
			c.Name, c.Class = e.name+" ("+e.page+")", filewise.WaitAllocation
		}
		if c.Class == "" {
			continue
		}
		all = append(all, c)
		if !strings.HasPrefix(e.name, "PAGELATCH_") {
			c.Unit, c.Value = "waits", p.sums[e].number
			all = append(all, c)
		}
	}
	return all
}
