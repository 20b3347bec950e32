//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"filewise"
)

// judgeRows returns rows that judge tables of trials, with four builds of each layout.
func judgeRows() (all []row) {
	for layouts, sizes := range map[int][3]int{2: {100, 400, 1000}, 12: {400, 4000, 6000}, 50: {400, 4000, 25000}} {
		all = append(all, row{name: fmt.Sprintf("judge, %d layouts", layouts), unit: "rows", sizes: sizes, most: 100,
			why: "each interim analysis judges all blocks up to it, as if it were the last; more than 500 are refused",
			prepare: func(_ context.Context, p *place, r row, size int) error {
				random, text := rand.New(rand.NewPCG(1, 2)), new(strings.Builder)
				text.WriteString("block,layout,instance,throughput\n")
				for b := range size / layouts {
					drift := random.NormFloat64() / 50
					for l := range layouts {
						x := 1000 * math.Exp(drift+random.NormFloat64()/50)
						fmt.Fprintf(text, "%d,%s,%d-%d,%.3f\n", b+1, filewise.FilesName(l+1), l, b%4, x)
					}
				}
				return os.WriteFile(p.file(r, size, ".csv"), []byte(text.String()), 0o600)
			},
			command: func(p *place, r row, size int) []string { return []string{"judge", "--csv", p.file(r, size, ".csv")} },
		})
	}
	slices.SortFunc(all, func(a, b row) int { return cmp.Compare(a.sizes[2], b.sizes[2]) })
	return all
}
