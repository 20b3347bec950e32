package inspect

import (
	"slices"
	"strconv"

	"filewise"
)

// Bounds of what is proposed: rows that all engines keep in one page, and as many
// connections as a trial of seconds can use.
const (
	leastRow, mostRow = 10, 6000
	mostConnections   = 64
	fewChanged        = 1000 // rows, of which nothing is concluded
)

// test compares numbers of files for a group, by what is done to it: by queries where
// it is reading that is waited for, by dml where rows are changed more than added,
// else by inserts, the scenario of all engines.
func (j *judge) test(g filewise.FileGroup) []string {
	switch {
	case j.signals.readPro && !j.signals.writePro && !j.signals.allocPro:
		return j.reads(g)
	case g.Changed > max(g.Inserted, fewChanged):
		return j.run("dml", append([]string{"--files", j.counts(len(g.Files))}, j.load()...)...)
	}
	return j.inserts(g)
}

// inserts are of rows like the group's, by as many connections as there are.
func (j *judge) inserts(g filewise.FileGroup, args ...string) []string {
	all := []string{"--files", j.counts(len(g.Files))}
	if g.RowBytes > 0 {
		all = append(all, "--row-bytes", strconv.Itoa(int(min(max(g.RowBytes, leastRow), mostRow))))
	}
	return j.run("inserts", slices.Concat(all, j.load(), args)...)
}

// load is the number of connections, where several are connected.
func (j *judge) load() []string {
	if n := int(j.Figures[filewise.FigureSessions]); n > 1 {
		return []string{"--connections", strconv.Itoa(min(n, mostConnections))}
	}
	return nil
}

// reads compares them by queries where the engine has such.
func (j *judge) reads(g filewise.FileGroup) []string {
	if !j.target.Scans {
		return j.inserts(g)
	}
	if j.target.Embedded { // which keeps each of the scenario's four tables whole
		return j.run("scan", "--files", "1,2,4")
	}
	return j.run("scan", "--files", j.counts(len(g.Files)))
}

// first is the largest group; without files where there is none.
func (j *judge) first() filewise.FileGroup {
	if all := j.data(); len(all) > 0 {
		return all[0]
	}
	return filewise.FileGroup{}
}
