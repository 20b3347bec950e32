package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"filewise"
	"filewise/lab/verdict"
)

// carried is an experiment in which no layout differs, but each leaves up to so much to the next measurement, the
// first nothing and the last all of it. sd is the noise of a trial, or of an interleaved block's mean over its rounds.
type carried struct {
	layouts, rounds, blocks int // rounds 0: trials one after the other
	leaves, sd, ar          float64
}

func (c carried) judge(t *testing.T, seed uint64) verdict.Result {
	p := Plan{Rules: 3, Seed: seed, Margin: 2, Confidence: 0.95, Goal: verdict.GoalVerdicts, MaxBlocks: c.blocks}
	for i := range c.layouts {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: fmt.Sprint(i), Rank: i})
	}
	p.Baseline = "0"
	r := rand.New(rand.NewPCG(seed, 99))
	before, order, state := p.order(0, upTo(c.layouts))[c.layouts-1], 0, 0.0
	y := func(sd float64, j int) float64 {
		state = c.ar*state + math.Sqrt(1-c.ar*c.ar)*r.NormFloat64()
		out := sd*state - c.leaves*float64(before)/float64(c.layouts-1)
		before = j
		return out
	}
	var table verdict.Table
	for b := 1; b <= c.blocks; b++ {
		row := make([]verdict.Cell, c.layouts)
		if c.rounds == 0 {
			for _, j := range p.order(b, upTo(c.layouts)) {
				order++
				row[j] = verdict.Cell{Throughput: math.Exp(y(c.sd, j)), Order: order, OK: true}
			}
		} else {
			in := p.order(b, upTo(c.layouts))
			cell := filewise.Cell{Block: b, Attempt: 1}
			warm := p.turnOrder(cell, 0, c.layouts)
			before = in[warm[c.layouts-1]]
			sums := make([]float64, c.layouts)
			for round := 1; round <= c.rounds; round++ {
				for _, k := range p.turnOrder(cell, round, c.layouts) {
					j := in[k]
					after := before + 1
					x := y(c.sd*math.Sqrt(float64(c.rounds)), j)
					sums[j] += x
					if row[j].Turns == nil {
						row[j].Turns = new(verdict.Turns)
					}
					row[j].Turns.Work, row[j].Turns.After = append(row[j].Turns.Work, math.Exp(x)), append(row[j].Turns.After, after)
				}
			}
			for j := range row {
				row[j].Throughput, row[j].OK = math.Exp(sums[j]/float64(c.rounds)), true
			}
		}
		table = append(table, row)
	}
	result, err := p.judgeTable(Schedule{MaxBlocks: c.blocks}, table, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (c carried) shares(t *testing.T, experiments int) (alarms, withheld float64) {
	for s := range experiments {
		r := c.judge(t, uint64(s)+1)
		analysis, _ := r.Last()
		alarm := false
		for _, l := range r.Analyses {
			for _, e := range l.Estimates {
				alarm = alarm || e.Known() && (e.Lo > 0 || e.Hi < 0)
			}
		}
		switch {
		case analysis.CarryOver:
			withheld++
		case alarm:
			alarms++
		}
	}
	n := float64(experiments)
	return alarms / n, withheld / n
}

// The layouts are equal, each leaves up to 3 % to what runs next: that is claimed as a difference in at most 5 % of
// experiments, or no verdict is given; and without it a verdict is withheld in at most 2 %. With FILEWISE_CARRY as
// many experiments a cell print the whole table.
func TestCarryOverIsNoEffect(t *testing.T) {
	layouts, rounds, blocks, noises := []int{2, 3, 5}, []int{0, 4}, []int{7}, []float64{0.01}
	const experiments = 120
	n, _ := strconv.Atoi(os.Getenv("FILEWISE_CARRY"))
	if n > 0 {
		layouts, rounds, blocks, noises = []int{2, 3, 5, 8}, []int{0, 4, 12}, []int{7, 20}, []float64{0.005, 0.01, 0.02}
	}
	n = max(n, experiments)
	most := func(share float64) float64 { return share + 2.5*math.Sqrt(share*(1-share)/float64(n)) }
	for _, k := range layouts {
		for _, turns := range rounds {
			for _, last := range blocks {
				for _, sd := range noises {
					c := carried{layouts: k, rounds: turns, blocks: last, sd: sd, leaves: 0.03}
					alarms, withheld := c.shares(t, n)
					c.leaves = 0
					alarms0, withheld0 := c.shares(t, n)
					t.Logf("%d layouts, %d rounds, %d blocks, sd %.1f %%: alarms %.1f %%, withheld %.1f %%; without: %.1f %%, %.1f %%",
						k, turns, last, 100*sd, 100*alarms, 100*withheld, 100*alarms0, 100*withheld0)
					if alarms > most(0.05) || alarms0 > most(0.05) || withheld0 > most(0.02) {
						t.Errorf("%+v: too many", c)
					}
				}
			}
		}
	}
}

// An interleaved block that leaves more to what runs next than chance does is seen by its turns.
func TestCarryOverBetweenTurnsIsSeen(t *testing.T) {
	r := carried{layouts: 3, rounds: 4, blocks: 10, sd: 0.005, leaves: 0.03}.judge(t, 1)
	if analysis, _ := r.Last(); !analysis.CarryOver || analysis.Recommended >= 0 {
		t.Errorf("%+v", analysis)
	}
}
