package tablecsv

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// columns holds the indexes of the columns that are used. −1 means absent.
type columns struct {
	block, layout, throughput     int
	time                          int // used instead of throughput
	build, calibration, operation int
	pilot, judged, order          int
	p99, operations               int // of latency, and the number of operations it is from
	design                        [designColumns]int
}

// field returns the text of a column, or "" if there is no such column.
func (columns) field(fields []string, i int) string {
	if i < 0 {
		return ""
	}
	text := strings.TrimSpace(fields[i])
	// Exported text has an apostrophe before characters that would start a formula.
	if bare := strings.TrimLeft(text, "'"); bare != "" && bare != text && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(bare)[0]) {
		return text[1:]
	}
	return text
}

// header finds the columns by their names in the first line. It returns an error if a required column is missing or one
// is repeated.
func (p *parser) header() error {
	p.cells, p.probes, p.runs = map[[2]int]cell{}, map[[2]int]float64{}, map[string]int{}
	names, err := p.csv.Read()
	if errors.Is(err, io.EOF) {
		return failf(0, 0, "it is empty: the first line has to name the columns %s", wanted)
	}
	if err != nil {
		return explain(err)
	}
	p.at = columns{block: -1, layout: -1, throughput: -1, time: -1, build: -1, calibration: -1, operation: -1, pilot: -1, judged: -1,
		order: -1, p99: -1, operations: -1}
	p.allNames = slices.Clone(names)
	use := map[string]*int{
		"block": &p.at.block, "layout": &p.at.layout, "throughput": &p.at.throughput, "time": &p.at.time,
		"instance": &p.at.build, "calibration": &p.at.calibration, "family": &p.at.operation, "pilot": &p.at.pilot,
		"judged": &p.at.judged, "order": &p.at.order, "p99_s": &p.at.p99, "operations": &p.at.operations,
	}
	for i, name := range designNames {
		p.at.design[i], use[name] = -1, &p.at.design[i]
	}
	var ignored []string
	for i, name := range names {
		line, column := p.csv.FieldPos(i)
		place, known := use[strings.ToLower(strings.TrimSpace(name))]
		if strings.EqualFold(strings.TrimSpace(name), "duration") && !hasColumn(names, "time") {
			place, known, p.durations = &p.at.time, true, true
		}
		switch {
		case !known:
			ignored = append(ignored, name)
		case *place >= 0:
			return failf(line, column, "a second column %q", name)
		default:
			*place = i
		}
	}
	p.ignored = ignored
	switch {
	case p.at.layout < 0:
		return failf(1, 1, "no column \"layout\": the first line has to name the columns %s; it names %s", wanted, quoted(names))
	case p.at.throughput < 0 && p.at.time < 0:
		return failf(1, 1, "no column \"throughput\" or \"time\": the first line has to name the columns %s; it "+
			"names %s. %s", wanted,
			quoted(names), p.judgeable("Rename the one that holds work per time, or the time of each trial"))
	case p.at.throughput >= 0 && p.at.time >= 0:
		p.at.time = -1
		ignored = append(ignored, "time")
	case p.at.time >= 0:
		p.notes = append(p.notes, "Times are judged as work per time: of two layouts the one with less time is the faster.")
	}
	if p.at.p99 < 0 && p.at.operations >= 0 {
		ignored, p.at.operations = append(ignored, names[p.at.operations]), -1
	}
	if p.at.block < 0 {
		p.notes = append(p.notes, "There is no column block: the k-th line of each layout is taken for its trial in block k. Where the layouts "+
			"ran one after the other, whatever changed on the machine between them looks like a difference between layouts.")
	}
	if len(ignored) > 0 {
		p.notes = append(p.notes, fmt.Sprintf("Columns that are not used: %s.", quoted(ignored)))
	}
	return nil
}

// hasColumn reports whether a header contains a column, ignoring case.
func hasColumn(names []string, column string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(strings.TrimSpace(n), column) })
}

const wanted = "block, layout and throughput (or time)"

// quoted lists the first few names in quotes.
func quoted(names []string) string {
	const most = 20
	var out []string
	for i, n := range names {
		if i == most {
			out = append(out, "…")
			break
		}
		out = append(out, fmt.Sprintf("%q", n[:min(len(n), maxName)]))
	}
	return strings.Join(out, ", ")
}
