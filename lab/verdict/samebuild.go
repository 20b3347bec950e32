package verdict

import "math"

// trustPool bounds the mean square between a pair's builds, relative to the other arms' builds. Up to this ratio the
// pair's builds are assumed to differ like the others'. With two degrees of freedom, a higher limit would hide builds
// that differ.
const trustPool = 1.5

// perBuild judges a pair by the means over its builds if builds are reused. Trials on one build share its luck, so they
// are one observation. Blocks in which one of the arms used the same build form one group. With m groups there are m−1
// degrees of freedom, plus the other arms' if all have equal noise. If there is only one group, c is unchanged: the
// verdict is then for this build only, with a warning. A build that both arms share favours neither.
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

// groups holds the scratch memory for finding a pair's groups, which all pairs reuse.
type groups struct {
	difference, sum, count, means []float64 // per common block, except means: per group
	first                         []int     // per common block: an earlier block of its group, or itself
	before                        [2][]int  // per common block and arm: the previous block in the build's chain
	last                          [2][]int  // per build and arm: the end of a chain of blocks that no group has joined yet
	builds                        [2][]int  // per common block and arm: the build
}

func newGroups(blocks, builds int) groups {
	numbers := func() []float64 { return make([]float64, 0, blocks) }
	two := func(n int) [2][]int { return [2][]int{make([]int, n), make([]int, n)} }
	return groups{
		difference: numbers(), sum: make([]float64, blocks), count: make([]float64, blocks), means: numbers(),
		first: make([]int, blocks), before: two(blocks), last: two(builds), builds: two(blocks),
	}
}

// root returns the first block of a block's group.
func (g *groups) root(n int) int {
	for g.first[n] != n {
		g.first[n] = g.first[g.first[n]]
		n = g.first[n]
	}
	return n
}

// groupMeans returns the means of the pair's differences over groups of blocks. Blocks form a group if they share a
// build that only one of the two arms used. The means are valid until the next call.
func (s *scene) groupMeans(i, j int) []float64 {
	g := &s.groups
	if g.first == nil {
		*g = newGroups(len(s.y), s.builds.total)
	}
	g.difference = g.difference[:0]
	for b, mask := range s.mask {
		if mask[i] && mask[j] {
			n := len(g.difference)
			g.difference = append(g.difference, s.y[b][i]-s.y[b][j])
			g.join(n, [2]int{s.builds.id[b][i], s.builds.id[b][j]})
		}
	}
	for n, x := range g.difference {
		first := g.first[g.first[n]] // earlier blocks are linked to their root by now
		g.first[n] = first
		g.sum[first], g.count[first] = g.sum[first]+x, g.count[first]+1
	}
	g.means = g.means[:0]
	for n := range g.difference {
		if g.count[n] > 0 {
			g.means = append(g.means, g.sum[n]/g.count[n])
		}
		g.sum[n], g.count[n] = 0, 0
		for arm := range g.last {
			g.last[arm][g.builds[arm][n]] = 0
		}
	}
	return g.means
}

// join adds the common block n, which ran on two builds. Blocks of a group are linked to the group's first block.
// Blocks of a build that no group has joined yet form a chain, numbered from 1. A block that joins them replaces the
// chain.
func (g *groups) join(n int, builds [2]int) {
	g.first[n] = n
	for arm, id := range builds {
		last := &g.last[arm][id]
		g.builds[arm][n], g.before[arm][n] = id, *last
		if builds[0] != builds[1] {
			for m := *last; m > 0; m = g.before[arm][m-1] {
				x, y := g.root(m-1), g.root(n)
				g.first[max(x, y)] = min(x, y)
			}
			g.before[arm][n] = 0
		}
		*last = n + 1
	}
}

// otherBuilds returns the mean square between builds, over the arms other than i and j, as the variance of one trial.
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

// spreadOfBuilds holds the sum of squares between an arm's builds, and its degrees of freedom.
type spreadOfBuilds struct{ square, df float64 }

// spreadOfBuilds returns the spread of arm k's builds. It is zero if the arm was dropped or has no reused builds.
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
