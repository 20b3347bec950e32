package report

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/results/report/document"
)

const (
	mostBars      = 48 // most files drawn one by one
	mostFileLines = 40 // most files of a layout listed
)

// ioKinds lists the kinds of I/O that are compared between files, in the order shown. Each kind is the sum of its
// counters.
var ioKinds = []struct {
	Name     string
	Counters []string
}{
	{"bytes", []string{filewise.FileBytesRead, filewise.FileBytes}},
	{"requests", []string{filewise.FileReads, filewise.FileWrites, filewise.FileSyncs}},
	{"time", []string{filewise.FileReadTime, filewise.FileWriteTime, filewise.FileSyncTime}},
	{"rows", []string{filewise.FileRows}},
}

// ofReading lists the counters of ioKinds that inserts do not cause. If only inserts run, reads are the engine's own
// housekeeping.
var ofReading = []string{filewise.FileBytesRead, filewise.FileReads, filewise.FileReadTime}

// inserting reports whether only inserts ran.
func inserting(operation string) bool {
	return strings.TrimSuffix(strings.TrimPrefix(operation, concurrently), "s") == "insert" // the column of dml is singular
}

// fileLoads holds how the I/O of one operation is spread over the files.
type fileLoads struct {
	Operation string   // empty if the run has only one
	Kinds     []string // kinds that any layout has
	Layouts   []layoutFiles
}

// layoutFiles holds the medians over a layout's trials.
type layoutFiles struct {
	Layout string
	Files  []fileLoad // in the order of observation
	// Balance is, for each kind, the largest data file's share divided by the mean share. NaN means there is one file, or
	// nothing was counted.
	Balance []float64
}

// fileLoad holds one file's share of each kind of I/O. NaN means not counted.
type fileLoad struct {
	Name   string
	Data   bool // one of the files that the layout spreads the data over
	Shares []float64
}

// files returns the files' shares of the load, by operation, or nothing if no I/O of single files was read.
func (v view) files() []document.Block {
	blocks := v.eachOperation(view.fileBlocks)
	if s := v.spreadLine(); s != "" {
		blocks = append(blocks, document.OnTerminal(document.Text(s)))
	}
	return blocks
}

// fileLine is a file of a layout.
type fileLine struct {
	layout string
	fileLoad
}

func (v view) fileBlocks() []document.Block {
	all, ok := v.fileLoads()
	if !ok {
		return nil
	}
	balance := []document.Of[layoutFiles]{
		document.Name("layout", func(l layoutFiles) string { return l.Layout }),
		document.Num("data files", func(l layoutFiles) string { return strconv.Itoa(l.dataFiles()) }),
	}
	parts := []document.Of[fileLine]{
		document.Words("layout", func(f fileLine) string { return f.layout }), document.Name("file", func(f fileLine) string { return f.Name }),
	}
	for k, kind := range all.Kinds {
		balance = append(balance, document.Num(kind, func(l layoutFiles) string {
			if !say.Known(l.Balance[k]) {
				return say.Absent
			}
			return times(l.Balance[k])
		}).Raw("", func(l layoutFiles) float64 { return l.Balance[k] }))
		parts = append(parts, document.Num(kind, func(f fileLine) string {
			if len(f.Shares) == 0 {
				return ""
			}
			return shareOf(f.Shares[k])
		}))
	}
	charts := document.Figure{Grid: true, Caption: "One column for each file, pale those of logs and others: its part of the layout’s load " +
		"in the measured window, " +
		"the median over the trials. The line is the mean of the data files. Even columns: the files are used equally."}
	var lines []fileLine
	for _, l := range all.Layouts {
		charts.Drawings = append(charts.Drawings, document.Drawing{Name: l.Layout, SVG: l.drawing(all.Kinds)})
		for _, f := range l.Files[:min(mostFileLines, len(l.Files))] {
			lines = append(lines, fileLine{l.Layout, f})
		}
		if n := len(l.Files) - mostFileLines; n > 0 {
			lines = append(lines, fileLine{l.Layout, fileLoad{Name: say.Count(n, "more file")}})
		}
	}
	busiest := document.Table{Caption: say.Sentence(say.Joined(": ", v.Name,
		"within each trial, the busiest data file against the mean of the data files (1 = even)"))}
	each := document.Table{Caption: say.Sentence(say.Joined(": ", v.Name, "each file’s part of the layout’s load")), Class: "long"}
	return []document.Block{
		charts, document.Tabulate(busiest, all.Layouts, balance...),
		document.Fold{Summary: say.Joined(": ", "File by file", v.Name), Blocks: []document.Block{document.Tabulate(each, lines, parts...)}},
	}
}

// fileLoads returns the kinds of which at least one file has a share. ok is false if there is none.
func (v view) fileLoads() (out fileLoads, ok bool) {
	out.Operation = v.Name
	var all []layoutFiles // including kinds that no layout has
	for _, r := range v.Rows {
		if l := v.filesOf(r.Name); len(l.Files) > 0 {
			all = append(all, l)
			out.Layouts = append(out.Layouts, layoutFiles{Layout: l.Layout, Files: slices.Clone(l.Files)})
		}
	}
	for k, kind := range ioKinds {
		reported := func(f fileLoad) bool { return say.Known(f.Shares[k]) }
		if !slices.ContainsFunc(all, func(l layoutFiles) bool { return slices.ContainsFunc(l.Files, reported) }) {
			continue
		}
		for i := range all {
			l := &out.Layouts[i]
			l.Balance = append(l.Balance, all[i].Balance[k])
			for j, f := range all[i].Files {
				l.Files[j].Shares = append(l.Files[j].Shares[:len(out.Kinds):len(out.Kinds)], f.Shares[k])
			}
		}
		out.Kinds = append(out.Kinds, kind.Name)
	}
	return out, len(out.Kinds) > 0
}

// filesOf returns the shares of one layout's files, for all kinds. Paths of files differ between trials, so files are
// identified by their role and their place among the trial's files.
func (v view) filesOf(layout string) layoutFiles {
	l := layoutFiles{Layout: layout}
	shares := map[string][][]float64{} // by file, kind and trial
	balances := make([][]float64, len(ioKinds))
	for _, t := range v.Trials {
		if t.Cell.Layout != layout || !t.inBlock() {
			continue
		}
		files := loadsOf(t)
		for _, f := range files {
			if shares[f.Name] == nil {
				shares[f.Name] = make([][]float64, len(ioKinds))
				l.Files = append(l.Files, fileLoad{Name: f.Name, Data: f.Data})
			}
		}
		for k := range ioKinds {
			total, ofData, largest, n := 0.0, 0.0, 0.0, 0.0
			for _, f := range files {
				if !say.Known(f.Shares[k]) {
					continue // a file without this counter is not idle
				}
				total += f.Shares[k]
				if f.Data {
					n, ofData, largest = n+1, ofData+f.Shares[k], max(largest, f.Shares[k])
				}
			}
			if n > 1 && ofData > 0 {
				balances[k] = append(balances[k], largest*n/ofData)
			}
			for _, f := range files {
				if total > 0 && say.Known(f.Shares[k]) {
					shares[f.Name][k] = append(shares[f.Name][k], f.Shares[k]/total)
				}
			}
		}
	}
	for i, f := range l.Files {
		l.Files[i].Shares = medians(shares[f.Name])
	}
	l.Balance = medians(balances)
	return l
}

func medians(all [][]float64) []float64 {
	return filewise.Each(all, median)
}

// dataFiles counts the data files.
func (l layoutFiles) dataFiles() (n int) {
	for _, f := range l.Files {
		if f.Data {
			n++
		}
	}
	return n
}

// loadsOf returns the files of a trial that have counters, with the counts of each kind. Observed files come first, in
// their order.
func loadsOf(t trial) []fileLoad {
	loads := map[string][]float64{} // of each kind, by path
	writes := inserting(t.Measure.Operation)
	var paths []string
	for _, d := range t.Measure.Deltas {
		if d.Probe != filewise.ProbeFiles || d.File == "" {
			continue
		}
		if loads[d.File] == nil {
			loads[d.File] = slices.Repeat([]float64{math.NaN()}, len(ioKinds))
			paths = append(paths, d.File)
		}
		for k, kind := range ioKinds {
			if say.Known(d.Value) && slices.Contains(kind.Counters, d.Name) && !(writes && slices.Contains(ofReading, d.Name)) {
				if !say.Known(loads[d.File][k]) {
					loads[d.File][k] = 0
				}
				loads[d.File][k] += d.Value
			}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	var out []fileLoad
	seen, numbers := map[string]bool{}, map[filewise.Role]int{}
	for _, f := range slices.Concat(t.Files, t.Final) {
		if seen[f.Path] {
			continue
		}
		seen[f.Path] = true
		numbers[f.Role]++
		if loads[f.Path] != nil {
			out = append(out, fileLoad{fmt.Sprintf("%s %d", f.Role, numbers[f.Role]), f.Role == filewise.RoleData, loads[f.Path]})
		}
	}
	for _, p := range paths {
		if !seen[p] {
			out = append(out, fileLoad{Name: path.Base(p), Shares: loads[p]})
		}
	}
	return out
}

func times(x float64) string { return say.Sig3(x) + " ×" }

// spreadLine describes in one line how evenly the files are loaded. It is empty if that is not known. Counted rows
// suffice, since they are the work itself, whatever caches do. Otherwise bytes and requests can differ much, so both
// are shown.
func (v view) spreadLine() string {
	for _, f := range v.parts {
		loads, _ := f.fileLoads()
		var lines []string
		for _, kind := range []string{"rows", "bytes", "requests"} {
			k := slices.Index(loads.Kinds, kind)
			if k < 0 {
				continue
			}
			var parts []string
			for _, l := range loads.Layouts {
				if say.Known(l.Balance[k]) {
					parts = append(parts, l.Layout+" "+say.Sig3(l.Balance[k]))
				}
			}
			if len(parts) > 0 {
				lines = append(lines, "by "+kind+" "+strings.Join(parts, ", "))
			}
			if kind == "rows" && len(lines) > 0 {
				break
			}
		}
		if len(lines) > 0 {
			return fmt.Sprintf("Busiest data file against the average%s (1 = even): %s.", say.InBrackets(f.Name), strings.Join(lines, "; "))
		}
	}
	return ""
}

// boolCompare sorts true before false.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
