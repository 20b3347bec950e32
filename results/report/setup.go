package report

import (
	"slices"
	"strconv"

	"filewise"
	"filewise/internal/say"
	"filewise/results/report/document"
)

// setup returns the machine and server of the run, its parameters, and its layouts with their files.
func (v view) setup() []document.Block {
	parameters := facts("Plan", v.planFacts())
	parts := document.Group{parameters}
	if len(v.Machine)+len(v.Server) > 0 {
		parts = document.Group{onPaper(facts("Machine", v.Machine), facts("Engine and effective settings", v.Server)), parameters}
	}
	layouts := v.spreads()
	columns := append([]document.Of[spreadLayout]{
		document.Name("layout", func(s spreadLayout) string { return s.Name }),
		document.Num("data files", func(s spreadLayout) string { return strconv.Itoa(s.Data.Files) }),
		document.Num("total", func(s spreadLayout) string { return say.Size(s.Data.Bytes) }),
		document.Words("allocation", spreadLayout.allocation).As("nb"),
		document.Words("placement", func(s spreadLayout) string { return string(s.Data.Placement) }),
		document.Words("kind", func(s spreadLayout) string { return string(s.Kind) }),
		document.Words("observed", spreadLayout.observedText).As("nb"),
	}, usedColumns(layouts)...)
	out := []document.Block{parts, document.Heading("Layouts"),
		document.Tabulate(document.Table{Caption: "As asked for, and as observed after building"}, layouts, columns...)}
	for _, s := range layouts {
		if len(s.observed) > 0 {
			out = append(out, document.Fold{Summary: "Files of " + s.Name + ", in its last finished trial", Blocks: []document.Block{s.fileTable()}})
		}
	}
	return out
}

// facts returns a table of names and values. It is not shown if there are no facts.
func facts(caption string, all []filewise.Fact) document.Table {
	return document.Tabulate(document.Table{Caption: caption, Class: "facts"}, all,
		document.Name("", func(f filewise.Fact) string { return f.Name }),
		document.Words("", func(f filewise.Fact) string { return f.Value }).As("words"))
}

// spreadLayout holds a layout of the plan and its files as observed.
type spreadLayout struct {
	filewise.Layout
	observed []filewise.File // of the last finished trial, after building
	final    []filewise.File // of that trial, after the work
	most     int64           // of all its files: the largest of any trial, before or after the work
}

func (v view) spreads() []spreadLayout {
	var out []spreadLayout
	for _, l := range v.Plan.Layouts {
		s := spreadLayout{Layout: l}
		for _, t := range v.Trials {
			if t.Cell.Layout == l.Name && t.State == filewise.Done {
				s.observed, s.final = t.Files, t.Final
				s.most = max(s.most, sizeOf(t.Files), sizeOf(t.Final))
			}
		}
		out = append(out, s)
	}
	return out
}

// sizeOf returns the total size of the files, in bytes, including backups and logs.
func sizeOf(files []filewise.File) (sum int64) {
	for _, f := range files {
		if f.Allocated != nil {
			sum += *f.Allocated
		} else {
			sum += f.Bytes
		}
	}
	return sum
}

// extents counts the extents of the data files after the work. −1 means not known.
func (s spreadLayout) extents() int {
	n := -1
	for _, f := range s.final {
		if f.Role == filewise.RoleData && f.Extents != nil {
			n = max(n, 0) + *f.Extents
		}
	}
	return n
}

// usedColumns returns columns with the storage that layouts took and the number of its pieces, if known.
func usedColumns(layouts []spreadLayout) (out []document.Of[spreadLayout]) {
	if slices.ContainsFunc(layouts, func(s spreadLayout) bool { return s.most > 0 }) {
		out = append(out, document.Num("most space", func(s spreadLayout) string {
			if s.most == 0 {
				return say.Absent
			}
			return say.Size(s.most)
		}))
	}
	if slices.ContainsFunc(layouts, func(s spreadLayout) bool { return s.extents() >= 0 }) {
		out = append(out, document.Num("extents", func(s spreadLayout) string {
			if s.extents() < 0 {
				return say.Absent
			}
			return strconv.Itoa(s.extents())
		}))
	}
	return out
}

func (s spreadLayout) allocation() string {
	if s.Data.Allocation == filewise.Growing && s.Data.Growth > 0 {
		return string(s.Data.Allocation) + " by " + say.Size(s.Data.Growth)
	}
	return string(s.Data.Allocation)
}

// observedText sums up the data files that were found after building.
func (s spreadLayout) observedText() string {
	n, total := 0, int64(0)
	for _, f := range s.observed {
		if f.Role == filewise.RoleData {
			n, total = n+1, total+f.Bytes
		}
	}
	if n == 0 {
		return say.Absent
	}
	return say.Count(n, "data file") + ", " + say.Size(total)
}

// fileRow is one file of a layout before and after the work. Nil means the file did not exist.
type fileRow struct{ built, final *filewise.File }

func (r fileRow) file() filewise.File {
	if r.built != nil {
		return *r.built
	}
	return *r.final
}

// fileTable compares a layout's files after building with the files after the work.
func (s spreadLayout) fileTable() document.Table {
	var rows []fileRow
	place := map[string]int{}
	for i, f := range s.observed {
		place[f.Path] = i
		rows = append(rows, fileRow{built: &s.observed[i]})
	}
	for i, f := range s.final {
		if k, ok := place[f.Path]; ok {
			rows[k].final = &s.final[i]
		} else { // it was created during the work
			rows = append(rows, fileRow{final: &s.final[i]})
		}
	}
	return document.Tabulate(document.Table{Caption: "Files of " + s.Name}, rows,
		document.Name("path", func(r fileRow) string { return r.file().Path }).As("path"),
		document.Words("role", func(r fileRow) string { return string(r.file().Role) }),
		document.Words("volume", func(r fileRow) string { return r.file().Volume }),
		document.Num("built", func(r fileRow) string {
			if r.built == nil {
				return say.Absent
			}
			return say.Size(r.built.Bytes)
		}),
		document.Num("on the storage", func(r fileRow) string {
			if n := r.file().Allocated; n != nil {
				return say.Size(*n)
			}
			return say.Absent
		}),
		document.Num("after the work", func(r fileRow) string { return afterWork(r.final) }))
}

// afterWork returns a file's size after the work, and the used part if the engine reports it.
func afterWork(f *filewise.File) string {
	switch {
	case f == nil:
		return say.Absent
	case f.Used == nil:
		return say.Size(f.Bytes)
	}
	return say.Size(f.Bytes) + ", " + say.Size(*f.Used) + " used"
}
