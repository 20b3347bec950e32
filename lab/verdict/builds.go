package verdict

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// CopyOf returns the name of a build whose files are a copy of another build's. The number distinguishes copies.
func CopyOf(build string, number int) string { return fmt.Sprintf("%s, copy %d", build, number) }

var copyNumber = regexp.MustCompile(`, copy \d+$`)

// original returns the build that was loaded. Its copies are not further observations of how loading turns out.
func original(build string) string {
	if !strings.Contains(build, ", copy ") {
		return build
	}
	return copyNumber.ReplaceAllString(build, "")
}

// builds holds which build (a physical placement) each trial ran on. A build is reused if several trials of
// an arm ran on it. If an arm is rebuilt for every trial, differences between builds are part of the noise and need no
// correction.
type builds struct {
	id     [][]int     // [block][arm], numbered in order of appearance; −1 means no trial
	total  int         // number of ids
	count  []int       // per arm: distinct builds
	reused []bool      // per arm: whether a build is reused
	copies bool        // whether some builds are copies of others
	share  [][]float64 // per arm with reused builds, and id: share of the arm's trials
}

func newBuilds(t Table, g grid) builds {
	v := builds{
		id:     make([][]int, len(g.y)),
		count:  make([]int, g.width),
		reused: make([]bool, g.width),
		share:  make([][]float64, g.width),
	}
	ids := map[string]int{}
	for b := range g.y {
		v.id[b] = make([]int, g.width)
		for j := range g.width {
			v.id[b][j] = -1
			if !g.mask[b][j] {
				continue
			}
			name := original(t[b][j].Build)
			v.copies = v.copies || name != t[b][j].Build
			id, known := ids[name]
			if !known || name == "" { // a build without a name differs from all others
				id = v.total
				ids[name] = id
				v.total++
			}
			v.id[b][j] = id
		}
	}
	for j := range g.width {
		v.tally(j)
	}
	return v
}

// tally counts the builds of one arm, and the share of trials on each.
func (v *builds) tally(j int) {
	share := make([]float64, v.total)
	trials := 0.0
	for b := range v.id {
		if k := v.id[b][j]; k >= 0 {
			share[k]++
			trials++
		}
	}
	for k, n := range share {
		if n > 0 {
			v.count[j]++
		}
		v.reused[j] = v.reused[j] || n > 1
		share[k] = n / max(trials, 1)
	}
	if v.reused[j] {
		v.share[j] = share
	}
}

func (v *builds) anyReused() bool { return slices.Contains(v.reused, true) }

// weight returns how much one unit of variance between builds adds to the variance of the contrast of arms i and j. If
// each arm uses its m builds equally, it is 1/m_i+1/m_j. A build that both arms share cancels.
func (v *builds) weight(i, j int) float64 {
	var sum float64
	for k := range v.total {
		var d float64
		if v.reused[i] {
			d += v.share[i][k]
		}
		if v.reused[j] {
			d -= v.share[j][k]
		}
		sum += d * d
	}
	return sum
}

// columns numbers the pairs of arm and build. An arm without reused builds has one column.
func (v *builds) columns(g grid) (column [][]int, total int) {
	type pair struct{ arm, build int }
	number := map[pair]int{}
	column = make([][]int, len(g.y))
	for b := range g.y {
		column[b] = make([]int, g.width)
		for j := range g.width {
			if !g.mask[b][j] {
				continue
			}
			p := pair{arm: j}
			if v.reused[j] {
				p.build = v.id[b][j]
			}
			if _, known := number[p]; !known {
				number[p] = len(number)
			}
			column[b][j] = number[p]
		}
	}
	return column, len(number)
}
