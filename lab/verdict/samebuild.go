package verdict

import "math"

// trustPool: a pair's builds are taken to differ as the others' do while the mean
// square between its own is at most this many times theirs. With two degrees of
// freedom a wider limit would let builds that differ pass for such that do not.
const trustPool = 1.5

// perBuild judges a pair by the means over its builds if builds are reused: trials on one build share its luck, so
// that they are one observation. Blocks in which one of the arms used the same build again are one group. m groups
// have m−1 degrees of freedom, to which other arms' are added when all have equal noise. A single build leaves c as
// it is: the verdict is then for this build only, with a warning. A build that both arms share favours neither.
func (s *scene) perBuild(c contrast, i, j int) contrast {
	if !s.builds.reused[i] && !s.builds.reused[j] {
		return c
	}
	groups := s.groupMeans(i, j)
	if len(groups) == c.common || len(groups) < 2 {
		return c
	}
	own := ofSample(groups)
	own.common = c.common
	if pooled, df := s.otherBuilds(i, j); df > 0 {
		theirs := 2 * pooled / float64(c.common)
		if own.variance <= trustPool*theirs {
			own.variance, own.df = max(own.variance, theirs), own.df+min(df, likePriorDF)
		}
	}
	own.variance = max(own.variance, c.variance)
	if c.own { // reused builds give no more information than as many new ones would
		own.df, own.skew, own.farthest = min(own.df, c.df), c.skew, c.farthest
	}
	return own
}

// groupMeans are the means of the pair's differences over blocks that share a build
// which only one of the two used.
func (s *scene) groupMeans(i, j int) []float64 {
	blocks := make([]int, 0, len(s.y))
	for b := range s.y {
		if s.mask[b][i] && s.mask[b][j] {
			blocks = append(blocks, b)
		}
	}
	d := s.differences(i, j)
	// Blocks of one group are linked to its first block. A build's blocks that nothing has joined yet
	// are kept by its number; what joins them leaves itself in their place.
	group := make([]int, len(blocks))
	if s.linked[0] == nil {
		s.linked = [2][][]int{make([][]int, s.builds.total), make([][]int, s.builds.total)}
	}
	open := s.linked
	first := func(n int) int {
		for group[n] != n {
			group[n] = group[group[n]]
			n = group[n]
		}
		return n
	}
	for n, b := range blocks {
		group[n] = n
		ids := [2]int{s.builds.id[b][i], s.builds.id[b][j]}
		for arm, id := range ids {
			if ids[0] == ids[1] {
				open[arm][id] = append(open[arm][id], n)
				continue
			}
			for _, m := range open[arm][id] {
				x, y := first(n), first(m)
				group[max(x, y)] = min(x, y)
			}
			open[arm][id] = append(open[arm][id][:0], n)
		}
	}
	for _, b := range blocks {
		i, j := s.builds.id[b][i], s.builds.id[b][j]
		open[0][i], open[1][j] = open[0][i][:0], open[1][j][:0]
	}
	sum, count := make([]float64, len(blocks)), make([]float64, len(blocks))
	for n, x := range d {
		g := first(n)
		sum[g], count[g] = sum[g]+x, count[g]+1
	}
	means := make([]float64, 0, len(blocks))
	for g, total := range sum {
		if count[g] > 0 {
			means = append(means, total/count[g])
		}
	}
	return means
}

// otherBuilds is the mean square between the builds of the arms other than i and j, as the variance of one trial.
func (s *scene) otherBuilds(i, j int) (square, df float64) {
	if s.own == nil {
		s.own = make([]spreadOfBuilds, len(s.arms))
		for k := range s.arms {
			s.own[k] = s.spreadOfBuilds(k)
		}
	}
	for k, own := range s.own {
		if k != i && k != j {
			square, df = square+own.square, df+own.df
		}
	}
	if df > 0 {
		square /= df
	}
	return square, df
}

// spreadOfBuilds is the sum of squares between an arm's builds, and its degrees of freedom.
type spreadOfBuilds struct{ square, df float64 }

// spreadOfBuilds of an arm that has reused builds and was not dropped; else it is zero.
func (s *scene) spreadOfBuilds(k int) (out spreadOfBuilds) {
	if !s.builds.reused[k] || s.builds.count[k] < 2 || s.droppedAt[k] > 0 {
		return out
	}
	sum, n := map[int]float64{}, map[int]float64{}
	var order []int
	mean, all := 0.0, 0.0
	for b := range s.y {
		if s.mask[b][k] {
			r, id := s.y[b][k]-s.fit.block[b], s.builds.id[b][k]
			if n[id] == 0 {
				order = append(order, id)
			}
			sum[id], n[id] = sum[id]+r, n[id]+1
			mean, all = mean+r, all+1
		}
	}
	for _, id := range order {
		out.square += n[id] * math.Pow(sum[id]/n[id]-mean/all, 2)
	}
	out.df = float64(s.builds.count[k] - 1)
	return out
}
