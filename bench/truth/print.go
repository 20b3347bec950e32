package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// printRows writes the table as Markdown. Shares are in percent, with standard
// errors.
func printRows(w io.Writer, rows []row) error {
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(tw, "| world\t| judged by\t| false alarms\t| coverage\t| wrong direction\t| proven\t| of it within 2 %\t| best found\t| "+
		"trials\t|")
	fmt.Fprintln(tw, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, r := range rows {
		t := r.tally
		name := ""
		if r.ours {
			name = r.world.name
			if r.world.about != "" {
				name += " (" + r.world.about + ")"
			}
		}
		covered := share{t.covered, t.n}.String()
		if !r.ours {
			covered = "–" // the articles give no intervals
		}
		mean, se := t.meanTrials()
		fmt.Fprintf(tw, "| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %.1f ±%.1f\t|\n", name, r.method, alarms(r), covered,
			wrong(r), share{t.proven, t.n}, share{t.goodProven, t.proven}, found(r), mean, se)
	}
	return tw.Flush()
}

// alarms are possible where some layout is as good as 1 file.
func alarms(r row) string {
	for _, e := range r.world.effects[1:] {
		if e == 0 {
			return share{r.tally.alarm, r.tally.n}.String()
		}
	}
	return "–"
}

// wrong directions are possible where some layout is not.
func wrong(r row) string {
	if r.world.null() {
		return "–"
	}
	return share{r.tally.wrong, r.tally.n}.String()
}

// found: what is missing to 100 are the misses.
func found(r row) string {
	if r.world.best() <= 0 {
		return "–"
	}
	return share{r.tally.found, r.tally.n}.String()
}
