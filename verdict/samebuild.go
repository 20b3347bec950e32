package verdict

import "math"

// trustPool: a pair's builds are taken to differ as the others' do while the mean
// square between its own is at most this many times theirs. With two degrees of
// freedom a wider limit would let builds that differ pass for such that do not.
const trustPool = 1.5

// perBuild judges a pair by the means over its builds where builds are reused: trials
// on one build share its luck, so that they are one observation. Blocks in which one
// of the arms used the same build again are one group; m groups have m−1 degrees of
// freedom, to which those of other arms are added when these are alike. A single
// build leaves c as it is: the verdict is then for this build only, and a warning
// says so. A build that both arms share is nobody's luck.
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
	if c.own { // reused builds tell no more than as many new ones would
		own.df, own.skew, own.farthest = min(own.df, c.df), c.skew, c.farthest
	}
	return own
}

// groupMeans are the means of the pair's differences over blocks that share a build
// which only one of the two used.
func (s *scene) groupMeans(i, j int) []float64 {
	var blocks []int
	for b := range s.y {
		if s.mask[b][i] && s.mask[b][j] {
			blocks = append(blocks, b)
		}
	}
	d := s.differences(i, j)
	group := make([]int, len(blocks))
	for n, b := range blocks {
		group[n] = n
		for m, a := range blocks[:n] {
			x, y := s.builds.id[b][i], s.builds.id[b][j]
			if x != y && (s.builds.id[a][i] == x || s.builds.id[a][j] == y) {
				relabel(group, group[n], group[m])
			}
		}
	}
	var means []float64
	for g := range blocks {
		var sum, n float64
		for m := range blocks {
			if group[m] == g {
				sum, n = sum+d[m], n+1
			}
		}
		if n > 0 {
			means = append(means, sum/n)
		}
	}
	return means
}

// otherBuilds is the mean square between the builds of the arms beside i and j, as
// the variance of one trial.
func (s *scene) otherBuilds(i, j int) (square, df float64) {
	for k := range s.arms {
		if k == i || k == j || !s.builds.reused[k] || s.builds.count[k] < 2 || s.droppedAt[k] > 0 {
			continue
		}
		sum, n := make([]float64, s.builds.total), make([]float64, s.builds.total)
		mean, all := 0.0, 0.0
		for b := range s.y {
			if s.mask[b][k] {
				r, id := s.y[b][k]-s.fit.block[b], s.builds.id[b][k]
				sum[id], n[id] = sum[id]+r, n[id]+1
				mean, all = mean+r, all+1
			}
		}
		for id, total := range sum {
			if n[id] > 0 {
				square += n[id] * math.Pow(total/n[id]-mean/all, 2)
			}
		}
		df += float64(s.builds.count[k] - 1)
	}
	if df > 0 {
		square /= df
	}
	return square, df
}
