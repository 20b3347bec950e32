package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"filewise"
	"filewise/lab/verdict"
)

// layouts is the number of layouts of every world: 1, 2, 4, 8 and 16 files.
const layouts = 5

// world holds the truth about a machine and the layouts on it. All sizes are on the log scale.
type world struct {
	name  string
	about string

	noise   float64          // standard deviation of a trial, independent of all others
	unequal [layouts]float64 // noise of each layout in place of noise, if one is not 0
	drift   float64          // standard deviation of an AR(1) from trial to trial
	steps   float64          // share of trials at which the level changes permanently
	step    float64          // standard deviation of such a change
	slow    [layouts]float64 // share of a layout's trials that are 30 % slow

	builds   int     // number of loaded builds of a layout, reused in turn. 0 means built again
	peculiar float64 // standard deviation of a build's own effect

	probe   float64          // standard deviation of a calibration around the machine's state. 0 means none
	effects [layouts]float64 // true effects against 1 file

	forget bool    // judged as if reused builds were new ones, to show the cost of that
	slices int     // number of slices of a session for each layout (cells). 0 means trials one after the other
	single bool    // one session alone, judged by its slices
	limit  float64 // target of the mean number of trials; 0 if there is none
}

// driftMemory is the AR(1) coefficient of the drift, from one trial to the next.
const driftMemory = 0.95

// slowBy is the effect of a slow run, a loss of 30 %.
var slowBy = math.Log(0.7)

// machine is the state of a world in which time passes trial by trial.
type machine struct {
	world
	random *rand.Rand
	state  float64 // of the drift
	level  float64 // changed by the steps so far
}

func newMachine(w world, seed, stream uint64) *machine {
	m := &machine{world: w, random: rand.New(rand.NewPCG(seed, stream))}
	m.state = w.drift * m.random.NormFloat64()
	return m
}

// next returns the disturbance of the next trial, which measures layout j.
func (m *machine) next(j int) float64 {
	m.pass(1)
	noise := m.noise
	if m.unequal[j] > 0 {
		noise = m.unequal[j]
	}
	y := m.machineState() + noise*m.random.NormFloat64()
	if m.random.Float64() < m.slow[j] {
		y += slowBy
	}
	return y
}

// pass lets time pass, in trials. A slice of a session takes a part of a trial.
func (m *machine) pass(trials float64) {
	memory := math.Pow(driftMemory, trials)
	m.state = memory*m.state + math.Sqrt(1-memory*memory)*m.drift*m.random.NormFloat64()
	if m.random.Float64() < m.steps*trials {
		m.level += m.step * m.random.NormFloat64()
	}
}

// machineState returns the present effect that is common to all layouts.
func (m *machine) machineState() float64 { return m.state + m.level }

// calibration returns the result of the fixed probe before the trial that next drew last.
func (m *machine) calibration() float64 {
	return 1000 * math.Exp(m.machineState()+m.probe*m.random.NormFloat64())
}

// best returns the highest true effect.
func (w world) best() float64 {
	best := w.effects[0]
	for _, e := range w.effects {
		best = max(best, e)
	}
	return best
}

// null reports whether no layout differs from another.
func (w world) null() bool { return w.effects == [layouts]float64{} }

// layoutsOf returns the layouts of every world, and each one's index by name.
func layoutsOf() (list []filewise.Layout, place map[string]int) {
	place = make(map[string]int)
	for j := range layouts {
		n := 1 << j
		l := filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards, Rank: n,
			Data: filewise.Spread{Files: n, Bytes: 1 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}}
		list, place[l.Name] = append(list, l), j
	}
	return list, place
}

// The program has them as run --rounds: what cells save is simulated on
// the verdict's own rules, in the same machines.

// sessions judges an experiment by cells. A block is a session that cycles short slices over the live layouts. Its
// observation of a layout is the mean of the logarithms of the layout's slices.
func sessions(w world, seed, number uint64) (verdict.Result, error) {
	m := newMachine(w, seed, number)
	cfg := verdict.DefaultConfig()
	cfg.MaxBlocks = maxBlocks
	arms := armsOf()
	if w.single {
		return verdict.Judge(cfg, arms, m.session(allLive(), maxBlocks))
	}
	var table verdict.Table
	r := verdict.Result{Arms: arms}
	for !r.Decided() {
		table = append(table, merged(m.session(r.Live(), w.slices)))
		var err error
		if r, err = verdict.Judge(cfg, arms, table); err != nil {
			return r, fmt.Errorf("world %q, experiment %d: %w", w.name, number, err)
		}
	}
	return r, nil
}

func allLive() []bool {
	live := make([]bool, layouts)
	for j := range live {
		live[j] = true
	}
	return live
}

func armsOf() []verdict.Arm {
	list, _ := layoutsOf()
	arms := make([]verdict.Arm, layouts)
	for j, l := range list {
		arms[j] = verdict.Arm{Name: l.Name, Rank: l.Rank}
	}
	return arms
}

// session returns the slices of one session, a row for each cycle, in a new random order. Each layout has one build
// throughout. A slow spell lasts as long as a trial would, and so affects whatever is measured then.
func (m *machine) session(live []bool, cycles int) verdict.Table {
	length := 1 / float64(m.slicesOf())
	var build [layouts]float64
	for j := range build {
		build[j] = m.peculiar * m.random.NormFloat64()
	}
	table := make(verdict.Table, cycles)
	slow := 0.0 // trials for which the spell still lasts
	for c := range table {
		table[c] = make([]verdict.Cell, layouts)
		for _, j := range m.random.Perm(layouts) {
			if !live[j] {
				continue
			}
			m.pass(length)
			if slow -= length; slow <= 0 && m.random.Float64() < m.slow[j]*length {
				slow = 1
			}
			y := m.effects[j] + build[j] + m.machineState() + m.noise/math.Sqrt(length)*m.random.NormFloat64()
			if slow > 0 {
				y += slowBy
			}
			table[c][j] = verdict.Cell{Throughput: 1000 * math.Exp(y), OK: true}
		}
	}
	return table
}

func (w world) slicesOf() int { return max(w.slices, 1) }

// merged returns a session's cycles as one row with the geometric mean of each layout's throughput.
func merged(session verdict.Table) []verdict.Cell {
	row := make([]verdict.Cell, layouts)
	for j := range row {
		var sum, n float64
		for _, cycle := range session {
			if cycle[j].OK {
				sum += math.Log(cycle[j].Throughput)
				n++
			}
		}
		if n > 0 {
			row[j] = verdict.Cell{Throughput: math.Exp(sum / n), OK: true}
		}
	}
	return row
}
