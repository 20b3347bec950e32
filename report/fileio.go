package report

import (
	"fmt"
	"path"
	"slices"

	"filewise"
)

const (
	mostBars      = 48 // up to so many files are drawn one by one
	mostFileLines = 40 // and so many of a layout listed
)

// ioKinds are what is compared between files, in the order in which they are
// shown, each with the counters that it adds up.
var ioKinds = []struct {
	Name     string
	Counters []string
}{
	{"bytes", []string{filewise.FileBytesRead, filewise.FileBytes}},
	{"requests", []string{filewise.FileReads, filewise.FileWrites, filewise.FileSyncs}},
	{"time", []string{filewise.FileReadTime, filewise.FileWriteTime, filewise.FileSyncTime}},
	{"rows", []string{filewise.FileRows}},
}

// fileLoads are how the I/O of one family was spread over the files.
type fileLoads struct {
	Family  string   // empty: the run has one
	Kinds   []string // those that some layout has
	Layouts []layoutFiles
}

// layoutFiles are medians over a layout's trials.
type layoutFiles struct {
	Layout string
	Files  []fileLoad // in the order in which they were observed
	// Balance is, of each kind, the largest data file's part against the mean; NaN:
	// there is one file, or nothing was counted.
	Balance []float64
}

// fileLoad is one file's part of each kind; NaN: not counted.
type fileLoad struct {
	Name   string
	Data   bool // it is one of those that the layout spreads
	Shares []float64
}

// FileLoads of all families; none where no I/O of single files was read.
func (v view) FileLoads() []fileLoads {
	families := v.Families()
	if len(families) == 0 {
		families = []view{v}
	}
	var out []fileLoads
	for _, f := range families {
		if l, ok := f.fileLoads(); ok {
			out = append(out, l)
		}
	}
	return out
}

func (v view) fileLoads() (fileLoads, bool) {
	out := fileLoads{Family: v.Name}
	found := make([]bool, len(ioKinds))
	for _, r := range v.Rows {
		if l := v.filesOf(r.Name); len(l.Files) > 0 {
			out.Layouts = append(out.Layouts, l)
			for _, f := range l.Files {
				for k, x := range f.Shares {
					found[k] = found[k] || known(x)
				}
			}
		}
	}
	keep := func(xs []float64) []float64 {
		var kept []float64
		for k, x := range xs {
			if found[k] {
				kept = append(kept, x)
			}
		}
		return kept
	}
	for k := range ioKinds {
		if found[k] {
			out.Kinds = append(out.Kinds, ioKinds[k].Name)
		}
	}
	for i := range out.Layouts {
		l := &out.Layouts[i]
		l.Balance = keep(l.Balance)
		for j := range l.Files {
			l.Files[j].Shares = keep(l.Files[j].Shares)
		}
	}
	return out, len(out.Kinds) > 0
}

// filesOf are the parts of one layout's files. Files have other paths in each
// trial: they are told apart by their role and their place among those of it.
func (v view) filesOf(layout string) layoutFiles {
	l := layoutFiles{Layout: layout}
	shares := map[string][][]float64{} // of a file, of each kind, by trial
	balances := make([][]float64, len(ioKinds))
	for _, t := range v.Trials {
		if t.Cell.Layout != layout || t.Cell.Pilot || t.State != filewise.Done {
			continue
		}
		names, loads := loadsOf(t)
		for k := range ioKinds {
			total, largest, n := 0.0, 0.0, 0.0
			ofData := 0.0
			for _, f := range names {
				x := loads[f.path][k]
				total += x
				if f.data {
					n, ofData, largest = n+1, ofData+x, max(largest, x)
				}
			}
			if n > 1 && ofData > 0 {
				balances[k] = append(balances[k], largest*n/ofData)
			}
			for _, f := range names {
				if shares[f.name] == nil {
					shares[f.name] = make([][]float64, len(ioKinds))
					l.Files = append(l.Files, fileLoad{Name: f.name, Data: f.data})
				}
				if total > 0 {
					shares[f.name][k] = append(shares[f.name][k], loads[f.path][k]/total)
				}
			}
		}
	}
	for i := range l.Files {
		for _, xs := range shares[l.Files[i].Name] {
			l.Files[i].Shares = append(l.Files[i].Shares, median(xs))
		}
	}
	for _, xs := range balances {
		l.Balance = append(l.Balance, median(xs))
	}
	return l
}

// counted is a file with counters of its own.
type counted struct {
	path, name string
	data       bool
}

// loadsOf are the files of a trial that have counters, those observed first in
// their order, and what was counted of each kind by path.
func loadsOf(t trial) ([]counted, map[string][]float64) {
	loads := map[string][]float64{}
	var paths []string
	for _, d := range t.Measure.Deltas {
		if d.Probe != filewise.ProbeFiles || d.File == "" {
			continue
		}
		if loads[d.File] == nil {
			loads[d.File] = make([]float64, len(ioKinds))
			paths = append(paths, d.File)
		}
		for k, kind := range ioKinds {
			if known(d.Value) && slices.Contains(kind.Counters, d.Name) {
				loads[d.File][k] += d.Value
			}
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	var out []counted
	seen, numbers := map[string]bool{}, map[filewise.Role]int{}
	for _, f := range slices.Concat(t.Files, t.Final) {
		if seen[f.Path] {
			continue
		}
		seen[f.Path] = true
		numbers[f.Role]++
		if loads[f.Path] != nil {
			out = append(out, counted{f.Path, fmt.Sprintf("%s %d", f.Role, numbers[f.Role]), f.Role == filewise.RoleData})
		}
	}
	for _, p := range paths {
		if !seen[p] {
			out = append(out, counted{path: p, name: path.Base(p)})
		}
	}
	return out, loads
}

func times(x float64) string { return sig3(x) + " ×" }

// BalanceTexts are those of all kinds for a table.
func (l layoutFiles) BalanceTexts() []string {
	var out []string
	for _, x := range l.Balance {
		if known(x) {
			out = append(out, times(x))
		} else {
			out = append(out, absent)
		}
	}
	return out
}

// Listed are the files of the table; Unlisted says how many more there are.
func (l layoutFiles) Listed() []fileLoad { return l.Files[:min(mostFileLines, len(l.Files))] }

// Unlisted says how many files the table leaves out; empty: none.
func (l layoutFiles) Unlisted() string {
	if n := len(l.Files) - mostFileLines; n > 0 {
		return count(n, "more file")
	}
	return ""
}

// Texts are a file's parts.
func (f fileLoad) Texts() []string {
	var out []string
	for _, x := range f.Shares {
		out = append(out, shareOf(x))
	}
	return out
}
