package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"filewise/lab/verdict"
)

// pageBegin and pageEnd are the lines of the page between which the summary stands.
const pageBegin, pageEnd = "<!-- table: begin -->\n", "<!-- table: end -->\n"

// writePage puts the summary of the cells into the page. For each world in which nothing differs, the summary has the
// worst cell of each column. Then follow the power rows, and the missed targets.
func writePage(o tableOptions, cells []cellDone, missed []string) error {
	text, err := os.ReadFile(o.page)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), pageBegin)
	_, after, ends := strings.Cut(rest, pageEnd)
	if !begins || !ends {
		return fmt.Errorf("%s has no lines %q and %q to write between", o.page, pageBegin, pageEnd)
	}
	var out bytes.Buffer
	keys, _ := o.cellsOf()
	fmt.Fprintf(&out, "%s, rules %d, %s experiments a cell, seed %d, %d of %d cells; of each world the worst of its cells, in %%.\n\n",
		o.date.UTC().Format("2006-01-02"), o.rules, sizes(cells), o.seed, len(cells), len(keys))
	worstOfWorlds(&out, cells)
	powerRows(&out, cells)
	grantedRows(&out, cells)
	fmt.Fprintf(&out, "\nTargets missed: %d.\n\n", len(missed))
	for _, m := range missed {
		fmt.Fprintf(&out, "- %s\n", m)
	}
	return os.WriteFile(o.page, []byte(before+pageBegin+out.String()+pageEnd+after), 0o644)
}

// sizes describes how many experiments the cells have.
func sizes(cells []cellDone) string {
	least, most := math.MaxInt, 0
	for _, c := range cells {
		least, most = min(least, c.S), max(most, c.S)
	}
	if least >= most {
		return strconv.Itoa(most)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// worstOfWorlds prints a row for each world in which nothing differs.
func worstOfWorlds(w *bytes.Buffer, cells []cellDone) {
	fmt.Fprintln(w, "| world, nothing differs | experiments a cell | false alarms | wrong recommendations | coverage | U | U and intervals | "+
		"withheld |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	var order []string
	of := map[string][]cellDone{}
	for _, c := range cells {
		if c.Percent > 0 || c.Blocks == asGranted {
			continue
		}
		if of[c.World] == nil {
			order = append(order, c.World)
		}
		of[c.World] = append(of[c.World], c)
	}
	for _, name := range order {
		fmt.Fprintf(w, "| %s | %s |", name, sizes(of[name]))
		for _, column := range []struct {
			of      func(c cellDone) int
			highest bool // the highest value is the worst
		}{{func(c cellDone) int { return c.Alarms }, true}, {func(c cellDone) int { return c.Wrong }, true},
			{func(c cellDone) int { return c.Covered }, false}, {func(c cellDone) int { return c.Bounded }, false},
			{func(c cellDone) int { return c.Together }, false}, {func(c cellDone) int { return c.Withheld }, true}} {
			worst := share{column.of(of[name][0]), of[name][0].S}
			for _, c := range of[name] {
				if s := (share{column.of(c), c.S}); s.value() > worst.value() == column.highest && s.value() != worst.value() {
					worst = s
				}
			}
			fmt.Fprintf(w, " %s |", worst)
		}
		fmt.Fprintln(w)
	}
}

// powerRows prints how often a faster layout is found, next to a test that is given the noise.
func powerRows(w *bytes.Buffer, cells []cellDone) {
	fmt.Fprintln(w, "\n| one layout faster, 20 blocks | layouts | found | by known noise | trials | trials by rules 2 |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	rules2 := trialsBy(2, cells)
	for _, c := range cells {
		if c.Percent == 0 || c.Blocks == asGranted || c.Rules < verdict.NewestRules {
			continue
		}
		before := "–"
		if n, known := rules2[c.cellKey]; known {
			before = fmt.Sprintf("%.1f", n)
		}
		fmt.Fprintf(w, "| %s, +%g %% | %d | %s | %s | %.1f | %s |\n", c.World, c.Percent, c.Layouts, share{c.Found, c.S},
			share{c.KnowNoise, c.S}, c.Trials, before)
	}
}

// grantedRows prints how often the number of blocks that an earlier experiment named was sufficient.
func grantedRows(w *bytes.Buffer, cells []cellDone) {
	fmt.Fprintln(w, "\n| as many blocks as six blocks forecast | layouts | decided | trials |")
	fmt.Fprintln(w, "|---|---|---|---|")
	for _, c := range cells {
		if c.Blocks == asGranted {
			fmt.Fprintf(w, "| %s, +%g %% | %d | %s | %.0f |\n", c.World, c.Percent, c.Layouts, share{c.Decided, c.S}, c.Trials)
		}
	}
}
