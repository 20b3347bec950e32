package main

import (
	"fmt"
	"math"

	"filewise/verdict"
)

// The program has them as run --cells: what cells save is simulated on
// the verdict's own rules, in the same machines.

// sessions is an experiment by cells: a block is a session that cycles short
// slices over the live layouts, and its observation of a layout is the mean of the
// logarithms of its slices.
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

// session is one session's slices: a row for each cycle, in fresh random order.
// Each layout is one build throughout. A slow spell lasts as long as a trial would,
// and so hits whatever is measured then.
func (m *machine) session(live []bool, cycles int) verdict.Table {
	length := 1 / float64(m.slicesOf())
	var build [layouts]float64
	for j := range build {
		build[j] = m.peculiar * m.random.NormFloat64()
	}
	table := make(verdict.Table, cycles)
	slow := 0.0 // trials that the spell still lasts
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

// merged is the row of a session's means of logarithms.
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
