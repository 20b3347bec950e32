package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// The page holds the summary between these lines.
const pageBegin, pageEnd = "<!-- table: begin -->\n", "<!-- table: end -->\n"

// writePage puts the summary of the cells into the page: of each world the worst cell of each column
// where nothing differs, the power rows, and the targets that are missed.
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
	fmt.Fprintf(&out, "%s, rules %d, %d experiments a cell, seed %d, %d of %d cells; of each world the worst of its cells (%v layouts, "+
		"%v blocks), in %%.\n\n", o.date.UTC().Format("2006-01-02"), o.rules, o.s, o.seed, len(cells), len(keys), tableLayouts, tableBlocks)
	worstOfWorlds(&out, cells)
	powerRows(&out, cells)
	fmt.Fprintf(&out, "\nTargets missed: %d.\n\n", len(missed))
	for _, m := range missed {
		fmt.Fprintf(&out, "- %s\n", m)
	}
	return os.WriteFile(o.page, []byte(before+pageBegin+out.String()+pageEnd+after), 0o644)
}

// worstOfWorlds prints a row of each world in which nothing differs.
func worstOfWorlds(w *bytes.Buffer, cells []cellDone) {
	fmt.Fprintln(w, "| world, nothing differs | false alarms | wrong recommendations | coverage | U | U and intervals | withheld |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	var order []string
	worst := map[string]*cellDone{}
	for _, c := range cells {
		if c.Percent > 0 {
			continue
		}
		x := worst[c.World]
		if x == nil {
			order, worst[c.World] = append(order, c.World), &c
			continue
		}
		x.Alarms, x.Wrong, x.Withheld = max(x.Alarms, c.Alarms), max(x.Wrong, c.Wrong), max(x.Withheld, c.Withheld)
		x.Covered, x.Bounded, x.Together = min(x.Covered, c.Covered), min(x.Bounded, c.Bounded), min(x.Together, c.Together)
	}
	for _, name := range order {
		x := worst[name]
		fmt.Fprintf(w, "| %s |", name)
		for _, n := range []int{x.Alarms, x.Wrong, x.Covered, x.Bounded, x.Together, x.Withheld} {
			fmt.Fprintf(w, " %s |", share{n, x.S})
		}
		fmt.Fprintln(w)
	}
}

// powerRows prints how often a faster layout is found, beside a test that knows the noise.
func powerRows(w *bytes.Buffer, cells []cellDone) {
	fmt.Fprintln(w, "\n| one layout faster, 20 blocks | layouts | found | by known noise | trials |")
	fmt.Fprintln(w, "|---|---|---|---|---|")
	for _, c := range cells {
		if c.Percent > 0 {
			fmt.Fprintf(w, "| %s, +%g %% | %d | %s | %s | %.1f |\n", c.World, c.Percent, c.Layouts, share{c.Found, c.S}, share{c.KnowNoise, c.S},
				c.Trials)
		}
	}
}
