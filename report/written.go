package report

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/cause"
	"filewise/probe"
)

// written is what one family wrote.
type written struct {
	Family string // empty: the run has one
	Unit   string // of one piece of work: "row"
	Rows   []writtenRow
	Cycles []string // checkpoint cycles in the window, by layout; none: not counted
}

// writtenRow is one place that was written to, by layout.
type writtenRow struct {
	Name  string
	Cells []writtenCell
}

// writtenCell is what was written on one layout.
type writtenCell struct {
	PerWork string // per unit of work
	PerByte string // per byte of the work's data; empty: it has none
}

// writtenKinds are the places, in the order in which they are shown, each with what
// the report calls it.
var writtenKinds = [][2]string{
	{filewise.WrittenData, "data files"}, {filewise.WrittenIndex, "index files"}, {filewise.WrittenLog, "log"}, {filewise.WrittenTemp, "temporary files"},
	{filewise.WrittenBackup, "backup files"}, {filewise.WrittenRest, "other files of the server"}, {filewise.WrittenCalls, "all write calls of the server"},
	{filewise.WrittenDevices, "devices, by anybody"},
}

// Written of all families; none where nothing was counted.
func (v view) Written() []written {
	families := v.Families()
	if len(families) == 0 {
		families = []view{v}
	}
	var out []written
	for _, f := range families {
		if w, ok := f.written(); ok {
			out = append(out, w)
		}
	}
	return out
}

func (v view) written() (written, bool) {
	w := written{Family: v.Name, Unit: cause.Singular(v.Unit)}
	measures := make([][]filewise.Measure, len(v.Rows))
	for i, r := range v.Rows {
		measures[i] = v.measuresOf(r.Name, ofWriting)
	}
	for _, kind := range writtenKinds {
		row, found := writtenRow{Name: kind[1]}, false
		for _, ms := range measures {
			perWork := medianOf(ms, func(m filewise.Measure) (float64, bool) {
				x, ok := ofUnit(m, kind[0], "B")
				return x / m.Work, ok
			})
			perByte := medianOf(ms, func(m filewise.Measure) (float64, bool) { return ofUnit(m, kind[0], filewise.UnitPerByte) })
			c := writtenCell{PerWork: absent}
			if known(perWork) {
				c.PerWork, found = byteText(perWork), true
			}
			if known(perByte) {
				c.PerByte = times(perByte)
			}
			row.Cells = append(row.Cells, c)
		}
		if found {
			w.Rows = append(w.Rows, row)
		}
	}
	all, counted := []string{}, false
	for _, ms := range measures {
		x := medianOf(ms, cycles)
		all, counted = append(all, sig3(x)), counted || known(x)
	}
	if counted {
		w.Cycles = all
	}
	return w, len(w.Rows) > 0 || counted
}

// ofWriting tells of counters of what was written, and of checkpoints.
func ofWriting(d filewise.Delta) bool {
	return d.Probe == filewise.ProbeWritten || d.Probe == filewise.ProbeCheckpoints
}

// cycles are the checkpoint cycles of a measured window.
func cycles(m filewise.Measure) (float64, bool) {
	return probe.Find(m.Deltas, filewise.ProbeCheckpoints, filewise.CheckpointCycles)
}

func medianOf(ms []filewise.Measure, of func(filewise.Measure) (float64, bool)) float64 {
	var xs []float64
	for _, m := range ms {
		if x, ok := of(m); ok && known(x) {
			xs = append(xs, x)
		}
	}
	return median(xs)
}

// ofUnit is what was written to a place, as an amount or per byte.
func ofUnit(m filewise.Measure, name, unit string) (float64, bool) {
	i := slices.IndexFunc(m.Deltas, func(d filewise.Delta) bool {
		return d.Probe == filewise.ProbeWritten && d.Name == name && d.Unit == unit
	})
	if i < 0 {
		return 0, false
	}
	return m.Deltas[i].Value, true
}

// WrittenLine is the write amplification in a line: by the server, as its files or
// its calls say, whichever is more, for each may miss some; or else by the devices.
// Empty: not known.
func (v view) WrittenLine() string {
	server := "by the server"
	if v.Plan.Target.Mode == filewise.Embedded {
		server = "by Filewise, in which the engine runs"
	}
	for _, of := range []struct {
		words string
		x     func(filewise.Measure) (float64, bool)
	}{{server, byServer}, {"to the devices, by anybody", func(m filewise.Measure) (float64, bool) {
		return ofUnit(m, filewise.WrittenDevices, filewise.UnitPerByte)
	}}} {
		var parts []string
		for _, r := range v.Rows {
			ms := v.measuresOf(r.Name, func(d filewise.Delta) bool { return d.Probe == filewise.ProbeWritten })
			if x := medianOf(ms, of.x); known(x) {
				parts = append(parts, r.Name+" "+times(x))
			}
		}
		if len(parts) > 0 {
			return fmt.Sprintf("Written %s, against the data of the work%s: %s.", of.words, ofFamilyText(v.Name), strings.Join(parts, ", "))
		}
	}
	return ""
}

// byServer is what the server wrote per byte of data; not known where neither its
// calls nor its log are: data files alone are written whenever a checkpoint comes.
func byServer(m filewise.Measure) (float64, bool) {
	files, calls, found := 0.0, 0.0, false
	for _, kind := range writtenKinds {
		x, known := ofUnit(m, kind[0], filewise.UnitPerByte)
		switch {
		case !known || kind[0] == filewise.WrittenDevices:
			continue
		case kind[0] == filewise.WrittenCalls:
			calls, found = x, true
		default:
			files, found = files+x, found || kind[0] == filewise.WrittenLog
		}
	}
	return max(files, calls), found
}

// writes says what was written per byte of data.
func (p *page) writes(v view) {
	if s := v.WrittenLine(); s != "" {
		p.para(s, "  ")
		p.line("")
	}
}

// written writes what was written, by family.
func (m *md) written(v view) {
	all := v.Written()
	if len(all) == 0 {
		return
	}
	m.para("## What was written")
	for _, w := range all {
		var rows [][]string
		for _, r := range w.Rows {
			line := []string{r.Name}
			for _, c := range r.Cells {
				line = append(line, joined("; ", c.PerWork, c.PerByte))
			}
			rows = append(rows, line)
		}
		if w.Cycles != nil {
			rows = append(rows, append([]string{"checkpoint cycles in the window"}, w.Cycles...))
		}
		m.rows(append([]string{joined(": ", w.Family, "bytes per "+w.Unit+"; of the data written")}, v.layoutNames()...), rows)
	}
}
