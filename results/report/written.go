package report

import (
	"fmt"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/cause"
	"filewise/results/report/document"
)

// writtenKinds lists the places that are written to, in the order shown, and the report's name for each.
var writtenKinds = [][2]string{
	{filewise.WrittenData, "data files"}, {filewise.WrittenIndex, "index files"}, {filewise.WrittenLog, "log"},
	{filewise.WrittenTemp, "temporary files"},
	{filewise.WrittenBackup, "backup files"}, {filewise.WrittenRest, "other files of the server"},
	{filewise.WrittenCalls, "all write calls of the server"},
	{filewise.WrittenDevices, "devices, by all writers"},
}

// written returns the writes by operation, and the number of checkpoints. It returns nothing if neither was counted.
func (v view) written() []document.Block {
	blocks := v.eachOperation(view.writtenBlocks)
	if len(blocks) == 0 {
		return nil
	}
	if s := v.writtenLine(); s != "" {
		blocks = append(blocks, document.OnTerminal(document.Text(s)))
	}
	return append(blocks, document.Note("Medians over the trials, of the measured part: pages changed in it can be written later, and "+
		"pages written in it can have been changed before. Bytes of files are counted by the server. Devices count all writers; "+
		"write calls leave out asynchronous requests (io_uring, libaio)."))
}

func (v view) writtenBlocks() []document.Block {
	var lines []layoutLine
	add := func(name string, cell func(ms []filewise.Measure) (document.Cell, bool)) {
		l, ok := v.line(func(layout string) (document.Cell, bool) { return cell(v.measuresOf(layout, ofWriting)) }, name)
		if ok {
			lines = append(lines, l)
		}
	}
	for _, kind := range writtenKinds {
		add(kind[1], func(ms []filewise.Measure) (document.Cell, bool) {
			c, ok := numberCell(ofUnit(kind[0], "B").perWork().median(ms), say.Bytes)
			if x := ofUnit(kind[0], filewise.UnitPerByte).median(ms); say.Known(x) {
				c.Small = []string{times(x)}
			}
			return c, ok
		})
	}
	add("checkpoint cycles in the window", func(ms []filewise.Measure) (document.Cell, bool) {
		return numberCell(cycles.median(ms),
			say.Sig3)
	})
	if len(lines) == 0 {
		return nil
	}
	caption := say.Joined(": ", v.Name, "bytes written per "+cause.Singular(v.Unit)+"; below it, relative to the data of the work, if known")
	return []document.Block{v.byLayout(say.Sentence(caption), lines, 0, "to")}
}

// ofWriting reports whether a counter is about writes or checkpoints.
func ofWriting(d filewise.Delta) bool {
	return d.Probe == filewise.ProbeWritten || d.Probe == filewise.ProbeCheckpoints
}

// cycles reads the number of checkpoint cycles in a measured window.
var cycles = counterOf(filewise.ProbeCheckpoints, filewise.CheckpointCycles)

// ofUnit returns a reading of the writes to a place, as an amount or per byte.
func ofUnit(name, unit string) reading {
	return func(m filewise.Measure) float64 {
		for _, d := range m.Deltas {
			if d.Probe == filewise.ProbeWritten && d.Name == name && d.Unit == unit {
				return d.Value
			}
		}
		return nan
	}
}

// writtenLine describes the write amplification in a line. It takes the server's writes, by files or by calls,
// whichever is more, since each may miss some. If these are not known, it takes the devices' writes. It is empty if
// neither is known.
func (v view) writtenLine() string {
	for _, of := range []struct {
		words string
		x     reading
	}{{"by the engine", byServer}, {"to the devices, by anybody", ofUnit(filewise.WrittenDevices, filewise.UnitPerByte)}} {
		var parts []string
		for _, r := range v.Rows {
			if x := of.x.median(v.measuresOf(r.Name, ofWriting)); say.Known(x) {
				parts = append(parts, r.Name+" "+say.Sig3(x))
			}
		}
		if len(parts) > 0 {
			return fmt.Sprintf("Write amplification%s (written %s per byte of data; 1 = once): %s.", say.InBrackets(v.Name), of.words,
				strings.Join(parts, ", "))
		}
	}
	return ""
}

// byServer returns the server's writes per byte of data. It is not known if neither the server's calls nor its log are
// known: data files are written only when a checkpoint comes.
func byServer(m filewise.Measure) float64 {
	files, calls, found := 0.0, nan, false
	for _, kind := range writtenKinds {
		x := ofUnit(kind[0], filewise.UnitPerByte)(m)
		switch {
		case !say.Known(x) || kind[0] == filewise.WrittenDevices:
			continue
		case kind[0] == filewise.WrittenCalls:
			calls = x
		default:
			files, found = files+x, found || kind[0] == filewise.WrittenLog
		}
	}
	switch {
	case say.Known(calls):
		return max(files, calls)
	case found:
		return files
	}
	return nan
}

// grown reports the growth of each layout's files in its trials, including log files, if the design compares growing
// files. If no file grew, it reports that the run does not fit that design.
func (v view) grown() []string {
	var out []string
	for _, l := range v.Plan.Layouts {
		if l.Data.Allocation != filewise.Growing || len(v.Scenario.Design.Allocations) == 0 {
			continue
		}
		var data, log []float64
		for _, t := range v.whole.Trials {
			if t.Cell.Layout != l.Name || t.State != filewise.Done || len(t.Final) == 0 {
				continue
			}
			d, w := growth(t)
			data, log = append(data, float64(d)), append(log, float64(w))
		}
		if len(data) == 0 {
			continue
		}
		words := fmt.Sprintf("%s: data files grew by %s in the typical trial, log files by %s.", l.Name, say.Size(int64(median(data))),
			say.Size(int64(median(log))))
		if median(data) == 0 {
			words += " The rows fitted into the files as the engine makes them, so that this layout shows nothing about growing data files: " +
				"give a larger --scale."
		}
		out = append(out, words)
	}
	return out
}

// growth returns by how many bytes data and log files grew during a trial's work, including new files.
func growth(t filewise.Trial) (data, log int64) {
	before := map[string]int64{}
	for _, f := range t.Files {
		before[f.Path] = f.Bytes
	}
	for _, f := range t.Final {
		switch more := max(f.Bytes-before[f.Path], 0); f.Role {
		case filewise.RoleData:
			data += more
		case filewise.RoleLog:
			log += more
		}
	}
	return data, log
}
