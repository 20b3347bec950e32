package main

import (
	"math"
	"math/rand/v2"

	"filewise"
)

// layouts is the number of layouts of every world: 1, 2, 4, 8 and 16 files.
const layouts = 5

// world is what is true of a machine and of the layouts on it. All sizes are on
// the log scale.
type world struct {
	name  string
	about string

	noise   float64          // sd of a trial, independent of all others
	unequal [layouts]float64 // noise of each layout instead, where one is not 0
	drift   float64          // sd of an AR(1) from trial to trial
	steps   float64          // share of trials at which the level changes for good
	step    float64          // sd of such a change
	slow    [layouts]float64 // share of a layout's trials that are 30 % slow

	builds   int     // loaded builds of a layout, reused in turn; 0: built anew
	peculiar float64 // sd of what is peculiar to a build

	probe   float64          // sd of a calibration around the machine's state; 0: none
	effects [layouts]float64 // true effects against 1 file

	forget bool    // judged as if reused builds were new ones: shows what that costs
	slices int     // of a session for each layout: cells; 0: trials one after the other
	single bool    // one session alone, judged by its slices
	limit  float64 // mean trials by STATISTICS.md; 0: the page has no such world
}

// driftMemory is the AR(1) coefficient of the drift, from one trial to the next.
const driftMemory = 0.95

// slowBy is what a slow run loses: 30 %.
var slowBy = math.Log(0.7)

// machine is a world in which time passes trial by trial.
type machine struct {
	world
	random *rand.Rand
	state  float64 // of the drift
	level  float64 // after the steps so far
}

func newMachine(w world, seed, stream uint64) *machine {
	m := &machine{world: w, random: rand.New(rand.NewPCG(seed, stream))}
	m.state = w.drift * m.random.NormFloat64()
	return m
}

// next is the disturbance of the next trial, of layout j.
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

// pass lets time pass, in trials: a part of one for a slice of a session.
func (m *machine) pass(trials float64) {
	memory := math.Pow(driftMemory, trials)
	m.state = memory*m.state + math.Sqrt(1-memory*memory)*m.drift*m.random.NormFloat64()
	if m.random.Float64() < m.steps*trials {
		m.level += m.step * m.random.NormFloat64()
	}
}

// machineState is what all layouts have in common now.
func (m *machine) machineState() float64 { return m.state + m.level }

// calibration is what the fixed probe gives before the trial that next drew.
func (m *machine) calibration() float64 {
	return 1000 * math.Exp(m.machineState()+m.probe*m.random.NormFloat64())
}

// best is the highest true effect.
func (w world) best() float64 {
	best := w.effects[0]
	for _, e := range w.effects {
		best = max(best, e)
	}
	return best
}

// null tells whether no layout differs from another.
func (w world) null() bool { return w.effects == [layouts]float64{} }

// layoutsOf are the layouts of every world, and the place of each by name.
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
