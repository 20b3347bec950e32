// Package inspect interprets the facts of an existing server. It decides whether an experiment with the number of files
// is likely to find anything there, and which experiment. Judge depends on the facts alone; Look gathers them.
package inspect

import (
	"cmp"
	"slices"
	"strconv"

	"filewise"
)

// Worth is a finding's weight.
type Worth string

// The values of Worth, in the order in which findings are shown.
const (
	Experiment Worth = "worth an experiment"
	Mend       Worth = "mend first" // an experiment would measure this instead of the files
	Perhaps    Worth = "perhaps worth an experiment"
	Not        Worth = "not worth it"
	Know       Worth = "worth knowing"
	Unknown    Worth = "not known" // a question that was not answered
)

var order = []Worth{Experiment, Mend, Perhaps, Not, Know, Unknown}

// Finding is the conclusion from one fact, or several.
type Finding struct {
	About    string `json:"about"` // "table public.orders", "checkpoints"
	Worth    Worth  `json:"worth"`
	Evidence string `json:"evidence"` // the numbers
	Because  string `json:"because,omitempty"`
	Remedy   string `json:"remedy,omitempty"` // what else to do, such as the GRANT
	// Command holds the arguments of the command that would test the finding. It is empty if no experiment would.
	Command []string `json:"command,omitempty"`

	weight float64 // the order among findings of one worth, the greatest first
}

// Target is the server or file for an experiment.
type Target struct {
	Engine string
	// Scans and TempModes are the engine's, as in filewise.Description.
	Scans     bool
	TempModes []filewise.Mode
	// TempAsIs is the engine's too.
	TempAsIs bool
	// Flags names the target on the command line: "--target", URL.
	Flags []string
	// Kind is the engine's usual kind of layout.
	Kind filewise.Kind
	// Captures reports whether the engine captures the work of a database, and Applies whether it writes the script that
	// takes one to a layout.
	Captures, Applies bool
	// Embedded reports whether the engine has no server: the target is a directory.
	Embedded bool
}

// Report holds an inspection's conclusions.
type Report struct {
	Summary  string    `json:"summary"`
	Findings []Finding `json:"findings"`
	// Own holds the commands that test the user's own database, in order: they capture its work as a study, run the study,
	// and write the script that applies the result.
	Own [][]string `json:"own_database,omitempty"`
}

// Judge draws the conclusions from the facts.
func Judge(i filewise.Inspection, t Target) Report {
	j := &judge{Inspection: printable(i), target: t}
	j.signals = j.look()
	j.question()
	j.groups()
	j.spread()
	j.growth()
	j.latency()
	j.waits()
	j.temp()
	j.log()
	j.checkpoints()
	j.rest()
	for _, g := range i.Gaps {
		j.add(Finding{About: filewise.Printable(g.Question), Worth: Unknown, Evidence: g.Why, Remedy: g.Remedy})
	}
	slices.SortStableFunc(j.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Worth), slices.Index(order, b.Worth)), cmp.Compare(b.weight, a.weight))
	})
	return Report{Summary: j.summary(), Findings: j.found, Own: j.own()}
}

// printable replaces the names that users have given so that each is one line of a terminal.
func printable(i filewise.Inspection) filewise.Inspection {
	i.Groups = slices.Clone(i.Groups)
	for n := range i.Groups {
		g := &i.Groups[n]
		g.Name, g.Files = filewise.Printable(g.Name), slices.Clone(g.Files)
		for k := range g.Files {
			f := &g.Files[k]
			f.Path, f.Volume, f.Dir = filewise.Printable(f.Path), filewise.Printable(f.Volume), filewise.Printable(f.Dir)
		}
	}
	return i
}

type judge struct {
	filewise.Inspection
	target  Target
	signals signals
	found   []Finding
}

func (j *judge) add(f Finding) { j.found = append(j.found, f) }

// data returns the user's groups of data files, the largest first.
func (j *judge) data() []filewise.FileGroup {
	return j.of(func(g filewise.FileGroup) bool {
		return g.Use == filewise.UseData && !g.System && !g.Own && !g.Aside && bytesOf(g) > 0
	})
}

func (j *judge) of(want func(filewise.FileGroup) bool) []filewise.FileGroup {
	all := filewise.Those(j.Groups, func(g filewise.FileGroup) bool { return want(g) && len(g.Files) > 0 })
	slices.SortStableFunc(all, func(a, b filewise.FileGroup) int { return cmp.Compare(bytesOf(b), bytesOf(a)) })
	return all
}

func bytesOf(g filewise.FileGroup) (sum int64) {
	for _, f := range g.Files {
		sum += f.Bytes
	}
	return sum
}

// Limits of what is proposed: rows that every engine keeps in one page, and as many connections as a trial of seconds
// can use.
const (
	leastRow, mostRow = 10, 6000
	mostConnections   = 64
	fewChanged        = 1000 // with fewer changed rows, nothing is concluded
)

// test returns a command that compares numbers of files by the group's own kind of work. If reads wait, it is scan. If
// more rows are changed than added, it is dml. Otherwise it is inserts, which every engine has.
func (j *judge) test(g filewise.FileGroup) []string {
	switch {
	case j.signals.readPro && !j.signals.writePro && !j.signals.allocPro:
		return j.reads(g)
	case g.Changed > max(g.Inserted, fewChanged):
		return j.run("dml", append([]string{"--files", j.counts(len(g.Files))}, j.load()...)...)
	}
	return j.inserts(g)
}

// inserts returns a command that inserts rows like the group's, with as many connections as there are.
func (j *judge) inserts(g filewise.FileGroup, args ...string) []string {
	all := []string{"--files", j.counts(len(g.Files))}
	if g.RowBytes > 0 {
		all = append(all, "--row-bytes", strconv.Itoa(int(min(max(g.RowBytes, leastRow), mostRow))))
	}
	return j.run("inserts", slices.Concat(all, j.load(), args)...)
}

// load returns the flag for the number of connections, if several are connected.
func (j *judge) load() []string {
	if n := int(j.Figures[filewise.FigureSessions]); n > 1 {
		return []string{"--connections", strconv.Itoa(min(n, mostConnections))}
	}
	return nil
}

// reads returns a command that compares numbers of files by queries, or by inserts if the engine has no queries.
func (j *judge) reads(g filewise.FileGroup) []string {
	if !j.target.Scans {
		return j.inserts(g)
	}
	if j.target.Embedded { // its files hold each of the scenario's four tables whole
		return j.run("scan", "--files", "1,2,4")
	}
	return j.run("scan", "--files", j.counts(len(g.Files)))
}

// first returns the largest group, or an empty one if there is none.
func (j *judge) first() filewise.FileGroup {
	if all := j.data(); len(all) > 0 {
		return all[0]
	}
	return filewise.FileGroup{}
}
