package verdict

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

// Tables of boundaries for α = 0.05. The designs in the vectors of docs/statistics-rules.md take precedence. A
// judgement then agrees with the vectors to the last digit, while two simulations differ by 0.5 %. A test compares both
// tables with the vectors.
var (
	//go:embed boundaries_table.txt
	boundariesTable string
	//go:embed boundaries_table2.txt
	boundariesTable2 string
	//go:embed boundaries_reference.txt
	boundariesReference string

	printedBoundaries2  = sync.OnceValue(func() map[printedKey]Boundaries { return parseBoundaries(boundariesTable2) })
	printedBoundaries   = sync.OnceValue(func() map[printedKey]Boundaries { return parseBoundaries(boundariesTable) })
	referenceBoundaries = sync.OnceValue(func() map[printedKey]Boundaries { return parseBoundaries(boundariesReference) })
)

// printed returns the boundaries of a design from the tables. It returns false if the tables lack the design.
func printed(rules, arms, maxBlocks int) (Boundaries, bool) {
	key := printedKey{arms, maxBlocks}
	if rules != 1 {
		b, ok := printedBoundaries2()[key]
		return b, ok
	}
	b, ok := referenceBoundaries()[key]
	if !ok {
		b, ok = printedBoundaries()[key]
	}
	return b, ok
}

// printedKey identifies a design in a table.
type printedKey struct{ arms, maxBlocks int }

// parseBoundaries reads lines of "ARMS BLOCKS: two-sided; one-sided" in thousandths. "-" means that there is no
// boundary yet. In tables of rules 2, the boundaries for pairs with their own spread follow. It panics on anything
// else, because the tables are part of the program.
func parseBoundaries(table string) map[printedKey]Boundaries {
	all := make(map[printedKey]Boundaries)
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var key printedKey
		design, values, _ := strings.Cut(line, ":")
		if _, err := fmt.Sscan(design, &key.arms, &key.maxBlocks); err != nil {
			panic(fmt.Sprintf("the table of boundaries has the line %q: %v", line, err))
		}
		rows := append(strings.Split(values, ";"), "", "", "")
		all[key] = Boundaries{TwoSided: fromThousandths(rows[0]), OneSided: fromThousandths(rows[1]),
			OwnTwoSided: fromThousandths(rows[2]), OwnOneSided: fromThousandths(rows[3])}
	}
	return all
}

func fromThousandths(row string) []float64 {
	var values []float64
	for _, field := range strings.Fields(row) {
		if field == "-" {
			values = append(values, math.Inf(1))
			continue
		}
		n, err := strconv.ParseUint(field, 10, 16)
		if err != nil {
			panic(fmt.Sprintf("the table of boundaries: %v", err))
		}
		values = append(values, float64(n)/1000)
	}
	return values
}
