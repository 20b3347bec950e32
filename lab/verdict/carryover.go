package verdict

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// carryLevel is the level of the test for carry-over. If differences between what ran before are less probable by
// chance, the verdict is withheld.
const carryLevel = 0.01

// carryLevel3 is that level by rules 3. The chained order balances what goes before, so the test need not detect all of
// it. The level is stricter because the true error rate exceeds the level if neighbouring trials resemble each other.
// Drift and autocorrelation raise it to up to 2.7 % of experiments at a level of 0.25 %.
const carryLevel3 = 0.001

// carriesOver tests whether results depend on the arm that ran just before. It uses the order of trials; from rules 3
// on, it uses the turns of interleaved blocks if their order is known. It returns false if no order is known.
func (s *scene) carriesOver() bool {
	if !s.fitted {
		return false
	}
	if s.cfg.Rules < 3 {
		return s.carriesOver2()
	}
	all := newCarry(s.width)
	for b := range s.n {
		all.add(s.carries[b])
	}
	if all.df == 0 {
		all = s.carryOfTrials()
	}
	return all.level() < carryLevelOf(s.cfg.Rules)
}

func carryLevelOf(rules int) float64 {
	if rules < 3 {
		return carryLevel
	}
	return carryLevel3
}

// carriesOver2 runs the test of rules 2: an F test of the fit's residuals, with outliers pulled in, between the arms
// that ran before.
func (s *scene) carriesOver2() bool {
	sum, n := make([]float64, s.width), make([]float64, s.width)
	var square, before float64
	cells := s.inOrder()
	for i := 1; i < len(cells); i++ {
		b, j := cells[i].block, cells[i].arm
		r := s.fit.pseudo[b][j] - s.fit.block[b] - s.fit.arm[j]
		at := cells[i-1].arm
		sum[at], n[at], square = sum[at]+r, n[at]+1, square+r*r
	}
	groups := 0
	for j := range sum {
		if n[j] > 0 {
			before += sum[j] * sum[j] / n[j]
			groups++
		}
	}
	d1, d2 := float64(groups-1), float64(s.fit.df-groups+1)
	if d1 < 1 || d2 < 1 || square-before < rounding {
		return false
	}
	f := before / d1 / ((square - before) / d2)
	return distuv.F{D1: d1, D2: d2}.Survival(f) < carryLevel
}

// carry measures how much results depend on what ran before. It holds the normal equations of a regression on the arm
// before. The effects of blocks and arms, or of each interleaved block's rounds and arms, are removed first.
type carry struct {
	products *mat.SymDense // of the columns of the arms before, effects removed
	with     []float64     // products of those columns with the residuals
	square   float64       // of the residuals
	df       int           // of the residuals
}

func newCarry(arms int) carry {
	return carry{products: mat.NewSymDense(arms, nil), with: make([]float64, arms)}
}

func (c *carry) add(x carry) {
	if x.df == 0 {
		return
	}
	c.products.AddSym(c.products, x.products)
	for i, v := range x.with {
		c.with[i] += v
	}
	c.square, c.df = c.square+x.square, c.df+x.df
}

// level returns the probability that differences between what ran before are this large by chance (a partial F test).
// It returns 1 if the data cannot show any.
func (c *carry) level() float64 {
	var eigen mat.EigenSym
	if c.df == 0 || c.square < rounding || !eigen.Factorize(c.products, true) {
		return 1
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	rank, explained := 0, 0.0
	for k, value := range values {
		if value < 1e-9*max(1, values[len(values)-1]) { // effects that other effects explain
			continue
		}
		dot := 0.0
		for i, v := range c.with {
			dot += v * vectors.At(i, k)
		}
		rank, explained = rank+1, explained+dot*dot/value
	}
	d1, d2 := float64(rank), float64(c.df-rank)
	if d1 < 1 || d2 < 1 || c.square-explained < rounding {
		return 1
	}
	return distuv.F{D1: d1, D2: d2}.Survival(explained / d1 / ((c.square - explained) / d2))
}

// carryOfTrials measures carry-over between trials in the order in which they ran, by normal scores within each arm.
func (s *scene) carryOfTrials() carry {
	c, cells := newCarry(s.width), s.inOrder()
	solver, ok := newSolver(s.grid)
	if len(cells) == 0 || !ok {
		return c
	}
	before := make([][]int, len(s.y)) // the arm that ran before, from 1
	for b := range before {
		before[b] = make([]int, s.width)
	}
	for i := 1; i < len(cells); i++ {
		before[cells[i].block][cells[i].arm] = cells[i-1].arm + 1
	}
	y := newRows(len(s.y), s.width)
	solver.remove(s.y, func(b, j int, r float64) { y[b][j] = r })
	byScores(y, s.mask)
	c.df = solver.df
	solver.remove(y, func(b, j int, r float64) {
		c.square += r * r
		if k := before[b][j]; k > 0 {
			c.with[k-1] += r
		}
	})
	add := func(i, k int, x float64) { c.products.SetSym(i, k, c.products.At(i, k)+x) }
	sums, fit := solver.indicators(func(b, j int) int { return before[b][j] - 1 }, s.width, func(b int, has []int, cells []float64) {
		for n, i := range has {
			add(i, i, cells[i])
			for _, k := range has[n:] {
				add(i, k, -cells[i]*cells[k]/solver.inGone[b])
			}
		}
	})
	var taken mat.Dense
	taken.Mul(sums.T(), fit)
	for i := range s.width {
		for k := range i + 1 {
			add(i, k, -taken.At(i, k))
		}
	}
	return c
}

// remove calls f with the residual of each cell: its value minus the effects of its block and arm.
func (s *solver) remove(y [][]float64, f func(b, j int, r float64)) {
	block, arm := s.solve(y)
	each(s.g, func(b, j int) { f(b, j, y[b][j]-block[b]-arm[j]) })
}

// carryOfBlock measures carry-over between the turns of one interleaved block, which is a row. It uses the rounds in
// which all turns, and the arms that ran before them, are known.
func carryOfBlock(row []Cell) carry {
	c := newCarry(len(row))
	var y [][]float64
	var after [][]int
	var arms []int
	rounds := 0
	for j, cell := range row {
		if cell.OK && cell.Turns != nil {
			arms = append(arms, j)
			rounds = len(cell.Turns.Work)
		}
	}
	for r := range rounds {
		logs, before := make([]float64, len(arms)), make([]int, len(arms))
		for i, j := range arms {
			t := row[j].Turns
			if len(t.Work) != rounds || len(t.After) != rounds {
				return c
			}
			logs[i], before[i] = math.Log(t.Work[r]), t.After[r]
		}
		known := !slices.Contains(before, 0) && !slices.ContainsFunc(logs, func(x float64) bool { return !finite(x) })
		if known {
			y, after = append(y, logs), append(after, before)
		}
	}
	if len(y) < 2 || len(arms) < 2 {
		return c
	}
	c.ofTurns(centred(y), after)
	return c
}

// ofTurns adds an interleaved block's turns, whose means are removed. After holds the arms that ran before each turn,
// numbered from 1.
func (c *carry) ofTurns(y [][]float64, after [][]int) {
	c.df = (len(y) - 1) * (len(y[0]) - 1)
	byScores(y, nil)
	y = centred(y)
	columns := make(map[int][][]float64)
	for r, row := range after {
		for i, k := range row {
			if columns[k-1] == nil {
				columns[k-1] = newRows(len(y), len(row))
			}
			columns[k-1][r][i] = 1
			c.square += y[r][i] * y[r][i]
		}
	}
	for k, column := range columns {
		column = centred(column)
		for r, row := range after {
			for i, before := range row {
				c.with[k] += y[r][i] * column[r][i]
				if before-1 <= k {
					c.products.SetSym(k, before-1, c.products.At(k, before-1)+column[r][i])
				}
			}
		}
	}
}

// byScores replaces each arm's residuals (a column) by the normal scores of their ranks (van der Waerden; ties get the
// mean rank). So an arm that is noisier than others, or stalls, is not mistaken for one that depends on what ran
// before. If mask is not nil, cells that it excludes are unchanged.
func byScores(y [][]float64, mask [][]bool) {
	for j := range y[0] {
		var rows []int
		for b := range y {
			if mask == nil || mask[b][j] {
				rows = append(rows, b)
			}
		}
		slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(y[a][j], y[b][j]) })
		score := make([]float64, len(rows))
		for from, to := 0, 0; from < len(rows); from = to {
			for to < len(rows) && y[rows[to]][j]-y[rows[from]][j] < rounding {
				to++
			}
			for r := from; r < to; r++ {
				score[r] = distuv.UnitNormal.Quantile(float64(from+to) / 2 / float64(len(rows)))
			}
		}
		for r, b := range rows {
			y[b][j] = score[r]
		}
	}
}

// centred returns the table minus the means of its rows and columns.
func centred(table [][]float64) [][]float64 {
	columns, all := make([]float64, len(table[0])), 0.0
	out := newRows(len(table), len(table[0]))
	for r, row := range table {
		mean := 0.0
		for _, x := range row {
			mean += x / float64(len(row))
		}
		for i, x := range row {
			out[r][i] = x - mean
			columns[i] += x / float64(len(table))
		}
		all += mean / float64(len(table))
	}
	for _, row := range out {
		for i := range row {
			row[i] += all - columns[i]
		}
	}
	return out
}

// ordered is a cell with its place in the order of trials.
type ordered struct{ block, arm, order int }

// inOrder returns the cells in the order in which they ran. It returns nil if the order of any cell is not known.
func (s *scene) inOrder() []ordered {
	var cells []ordered
	known := true
	each(s.grid, func(b, j int) {
		known = known && s.table[b][j].Order > 0
		cells = append(cells, ordered{b, j, s.table[b][j].Order})
	})
	if !known {
		return nil
	}
	slices.SortFunc(cells, func(x, y ordered) int { return cmp.Compare(x.order, y.order) })
	return cells
}
