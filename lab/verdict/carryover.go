package verdict

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// carryLevel is the probability by chance, for the differences between what ran before, below which a verdict is
// withheld.
const carryLevel = 0.01

// carryLevel3 is the level of rules 3. Their chained order shares out evenly what goes before, so that the test need
// not see all of it. A stricter level serves, since the test errs more often than it reports if neighbouring trials
// resemble each other (drift and autocorrelation: in up to 2.7 % of experiments at a level of 0.25 %).
const carryLevel3 = 0.001

// carriesOver tests whether what is measured depends on which arm ran just before it: trials by the order in which
// they ran, since rules 3 turns of sessions by what went before each. If neither is known, false.
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

// carriesOver2 makes the test of rules 2: an F test of the residuals of the fit, pulled in if they are far off,
// between the arms that went before.
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

// carry estimates how far measurements depend on what went before them: the normal equations of a regression on the
// arm before, with the effects of blocks and arms, or of the rounds and arms of each session.
type carry struct {
	products *mat.SymDense // of the columns of the arms before, without those effects
	with     []float64     // their products with the residuals
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

// level returns the probability by chance of differences as large as these between what went before (a partial F
// test); 1 if the data cannot show any.
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
		if value < 1e-9*max(1, values[len(values)-1]) { // effects that others take in
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

// carryOfTrials estimates the carry-over from trials in the order in which they ran, by scores of each arm.
func (s *scene) carryOfTrials() carry {
	c, cells := newCarry(s.width), s.inOrder()
	solver, ok := newSolver(s.grid)
	if len(cells) == 0 || !ok {
		return c
	}
	before := make([][]int, len(s.y)) // the arm, from 1, that ran before
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

// remove calls f with the residual of each cell of y: its value less the effects of its block and arm.
func (s *solver) remove(y [][]float64, f func(b, j int, r float64)) {
	block, arm := s.solve(y)
	each(s.g, func(b, j int) { f(b, j, y[b][j]-block[b]-arm[j]) })
}

// carryOfSession estimates the carry-over from the turns of one session, a row. It uses the rounds in which all
// turns, and the arms that ran before them, are known.
func carryOfSession(row []Cell) carry {
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

// ofTurns adds a session's turns, centred, and the arms, from 1, that went before them.
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

// byScores puts in place of the residuals of each arm, a column, the normal scores of their ranks (van der Waerden;
// ties have the mean rank). So an arm that is noisier than the others, or stalls, does not pass for one that depends
// on what went before. Cells that mask leaves out stay. Nil means none.
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

// centred returns a table from which the means of its rows and columns are subtracted.
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

// ordered is a cell with its place in the order in which trials ran.
type ordered struct{ block, arm, order int }

// inOrder returns the cells in the order in which they ran. Nil means the order of some is not known.
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
