package tablecsv

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"filewise/lab/verdict"
)

// Limits of what can be judged. There are no boundaries for more layouts or blocks.
const (
	maxLayouts    = 64
	MaxBlocks     = 500
	maxOperations = 64
	maxName       = 200 // bytes of a layout's or block's name
	maxBytes      = 64 << 20
	maxLine       = 1 << 20 // in bytes, including read-ahead: each field of a line takes memory
)

// Input is the content of a file for one operation.
type Input struct {
	Operation string        // empty if the file names none
	Layouts   []string      // in order of first appearance
	Blocks    []string      // in the order in which they ran: by number if all are numbers, otherwise by first appearance
	Table     verdict.Table // [block][layout]
	// P99 is the same table with the inverse of each trial's p99 instead of throughput. A cell is OK if its p99 is from
	// enough operations. Nil means there is no such column.
	P99    verdict.Table
	Notes  []string      // what was left out, in sentences
	Times  bool          // the file has times, and Table holds their inverse
	Design Design        // rules named in the file, as in files that Filewise exported
	arms   []verdict.Arm // layouts with more than names. Nil means only names are known
	others []string      // other operations in the file
}

// Error is a fault in a file, with its place. Line and column count from 1; column is the first byte of the field. Line
// 0 means the file as a whole.
type Error struct {
	Line, Column int
	What         string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.What
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
}

func failf(line, column int, format string, args ...any) error {
	return &Error{line, column, fmt.Sprintf(format, args...)}
}

// bounded is a reader that limits the bytes in total, and the bytes per line.
type bounded struct {
	io.Reader
	all, line int
}

func (b *bounded) Read(to []byte) (int, error) {
	switch {
	case b.all <= 0:
		return 0, failf(0, 0, "it is larger than %d MiB", maxBytes>>20)
	case b.line <= 0:
		return 0, failf(0, 0, "a line of it is longer than %d KiB", maxLine>>10)
	}
	n, err := b.Reader.Read(to[:min(len(to), b.all, b.line)])
	b.all, b.line = b.all-n, b.line-n
	return n, err
}

// separator returns the separator used in the first line, outside of quotes.
func separator(r *bufio.Reader) rune {
	head, _ := r.Peek(r.Size()) // what is available; short files have less
	quoted := false
	for _, b := range head {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == ',' || b == ';' || b == '\t':
			return rune(b)
		case b == '\n':
			return ','
		}
	}
	return ','
}

// explain converts the CSV reader's errors to this package's.
func explain(err error) error {
	var bad *csv.ParseError
	if !errors.As(err, &bad) {
		return err
	}
	switch {
	case errors.Is(bad.Err, csv.ErrFieldCount):
		return failf(bad.Line, 1, "the line has another number of fields than the first line")
	case errors.Is(bad.Err, csv.ErrQuote), errors.Is(bad.Err, csv.ErrBareQuote):
		return failf(bad.Line, bad.Column, "a quotation mark is not closed, or stands in the middle of a field")
	}
	return failf(bad.Line, bad.Column, "%v", bad.Err)
}

// parser collects the cells of a table.
type parser struct {
	csv             *csv.Reader
	at              columns
	blocks, layouts map[string]int
	order           []string // blocks, in order of first appearance
	names           []string // layouts, in order of first appearance
	cells           map[[2]int]cell
	wanted          string
	first           bool               // the operation to read is the file's first one
	probes          map[[2]int]float64 // from lines of the operation of calibrations
	pilots, outside int
	others          []string // operations that are not judged
	design          Design
	designed        bool
	arms            map[string]designedArm
	runs            map[string]int // lines per layout, if no column names blocks
	notes           []string

	decimal           rune          // as --decimal sets it. 0 means a point, and refuses what could be another form
	forms             map[int]*form // by column
	allNames, ignored []string      // names in the first line, and the unused ones
	durations         bool          // the column is named duration, so growing values are no clock
	times             []stamp
}

type cell struct {
	verdict.Cell
	line int
	time float64 // Throughput is its inverse. 0 means there is none
	p99  verdict.Cell
}

// line reads one trial.
func (p *parser) line(fields []string) error {
	if err := p.planned(fields); err != nil {
		return err
	}
	if flag := p.at.field(fields, p.at.pilot); flag == "1" || strings.EqualFold(flag, "true") {
		p.pilots++
		return nil
	}
	if strings.EqualFold(p.at.field(fields, p.at.judged), "false") {
		p.outside++
		return nil
	}
	probe := strings.EqualFold(p.at.field(fields, p.at.operation), calibration)
	if !probe {
		if other, err := p.otherOperation(fields); other || err != nil {
			return err
		}
		if err := p.rules(fields); err != nil {
			return err
		}
	}
	name := p.at.field(fields, p.at.block)
	if p.at.block < 0 && !probe {
		p.runs[p.at.field(fields, p.at.layout)]++
	}
	if p.at.block < 0 {
		name = strconv.Itoa(p.runs[p.at.field(fields, p.at.layout)])
	}
	block, err := p.number(name, max(p.at.block, 0), "block", p.blocks, &p.order, MaxBlocks)
	if err != nil {
		return err
	}
	layout, err := p.number(p.at.field(fields, p.at.layout), p.at.layout, "layout", p.layouts, &p.names, maxLayouts)
	if err != nil {
		return err
	}
	c, err := p.cell(fields)
	if err != nil {
		return err
	}
	if c.time > 0 && !probe && !p.durations {
		_, column := p.csv.FieldPos(p.at.time)
		p.times = append(p.times, stamp{line: c.line, column: column, block: block, layout: layout, value: c.time})
	}
	key := [2]int{block, layout}
	if probe {
		p.probes[key] = c.Throughput
		return nil
	}
	if before, twice := p.cells[key]; twice && before.OK && c.OK {
		line, column := p.csv.FieldPos(p.at.layout)
		return failf(line, column, "layout %q in block %q a second time (first in line %d): a layout is measured once in a block",
			fields[p.at.layout], name, before.line)
	} else if !twice || c.OK { // a failed attempt may precede or follow the one that counts
		p.cells[key] = c
	}
	return nil
}

// number returns the index of a block or layout by its name. A new name gets a new index.
func (p *parser) number(name string, i int, what string, known map[string]int, names *[]string, most int) (int, error) {
	line, column := p.csv.FieldPos(i)
	switch n, ok := known[name]; {
	case ok:
		return n, nil
	case name == "":
		return 0, failf(line, column, "the %s is empty", what)
	case len(name) > maxName:
		return 0, failf(line, column, "the %s's name is longer than %d bytes", what, maxName)
	case len(*names) >= most:
		return 0, failf(line, column, "%s %q is one more than the %d that can be judged", what, name, most)
	}
	known[name] = len(*names)
	*names = append(*names, name)
	return known[name], nil
}

// cell reads the numbers in a line.
func (p *parser) cell(fields []string) (c cell, err error) {
	i, what := p.at.throughput, "throughput"
	if p.at.time >= 0 {
		i, what = p.at.time, "time"
	}
	c.line, _ = p.csv.FieldPos(i)
	if c.Throughput, c.OK, err = p.positive(fields, i, what); err != nil {
		return c, err
	}
	if p.at.time >= 0 && c.OK {
		c.time, c.Throughput = c.Throughput, 1/c.Throughput
	}
	if c.Calibration, _, err = p.positive(fields, p.at.calibration, "calibration"); err != nil {
		return c, err
	}
	if c.p99, err = p.p99(fields); err != nil {
		return c, err
	}
	c.Build = p.at.field(fields, p.at.build)
	c.Order, err = p.whole(fields, p.at.order, "order")
	return c, err
}

// leastForP99 is the number of operations from which a 99th percentile differs from the maximum.
const leastForP99 = 100

// p99 reads the 99th percentile of latency as a cell of Input.P99.
func (p *parser) p99(fields []string) (verdict.Cell, error) {
	x, known, err := p.positive(fields, p.at.p99, "p99_s")
	if err != nil || !known {
		return verdict.Cell{}, err
	}
	n, _, err := p.positive(fields, p.at.operations, "operations")
	return verdict.Cell{Throughput: 1 / x, OK: p.at.operations < 0 || n >= leastForP99}, err
}

// positive reads a number above 0. It returns false if the number is missing.
func (p *parser) positive(fields []string, i int, what string) (x float64, ok bool, err error) {
	text := p.at.field(fields, i)
	if text == "" || strings.EqualFold(text, "NA") {
		return 0, false, nil
	}
	line, column := p.csv.FieldPos(i)
	x, why, err := p.parseNumber(text, i)
	switch {
	case i == p.at.time && timeOfDay.MatchString(text):
		return 0, false, failf(line, column, "%s", p.noDuration(fmt.Sprintf("%q is a time of day or a date", text)))
	case why != "":
		return 0, false, failf(line, column, "%s %q is not a number (such as 4151.7): %s", what, text, why)
	case errors.Is(err, strconv.ErrRange):
		return 0, false, failf(line, column, "%s %s is too large or too small", what, text)
	case err != nil:
		return 0, false, failf(line, column, "%s %q is not a number (such as 4151.7); leave it empty when the trial is missing", what, text)
	case x > 0 && (x > maxThroughput || x < 1/maxThroughput) && !math.IsInf(x, 0):
		return 0, false, failf(line, column, "%s %s is too large or too small", what, text)
	case !(x > 0) || math.IsInf(x, 0):
		return 0, false, failf(line, column, "%s %s is not a positive number; leave it empty when the trial failed", what, text)
	}
	return x, true, nil
}

// maxThroughput and its inverse keep ratios and their sums finite.
const maxThroughput = 1e100

// calibration is the operation of probes in a file that Filewise exported.
const calibration = "calibration"

// otherOperation reports whether a line belongs to another operation than the present one. Operations are judged one by one.
func (p *parser) otherOperation(fields []string) (bool, error) {
	operation := p.at.field(fields, p.at.operation)
	switch {
	case p.wanted == "":
		p.wanted = operation
		return false, nil
	case operation == p.wanted, operation == "" && p.first:
		return false, nil
	case operation == "" || slices.Contains(p.others, operation):
		return true, nil
	case len(p.others) == maxOperations:
		line, column := p.csv.FieldPos(p.at.operation)
		return true, failf(line, column, "there are more than %d operations", maxOperations)
	}
	p.others = append(p.others, operation)
	return true, nil
}

// input returns the table that was read, in order.
func (p *parser) input() (Input, error) {
	if err := p.ambiguous(); err != nil {
		return Input{}, err
	}
	if err := p.clock(); err != nil {
		return Input{}, err
	}
	in := Input{Operation: p.wanted, Layouts: p.names, Notes: p.notes, Times: p.at.time >= 0, others: p.others}
	if p.pilots > 0 {
		in.Notes = append(in.Notes, fmt.Sprintf("Pilots left out: %d.", p.pilots))
	}
	if p.outside > 0 {
		in.Notes = append(in.Notes, fmt.Sprintf("Trials left out, which the stored verdict does not use: %d.", p.outside))
	}
	p.asPlanned(&in)
	switch {
	case len(p.cells) == 0 && len(p.others) > 0:
		return in, failf(0, 0, "it has no operation %q; it has %s", p.wanted, quoted(p.others))
	case len(p.cells) == 0:
		return in, failf(0, 0, "there are no trials in it, only the line that names the columns")
	case len(p.names) == 1:
		return in, failf(0, 0, "there is only one layout, %q: a comparison needs two", p.names[0])
	}
	for _, block := range inOrder(p.order) {
		row, tails := make([]verdict.Cell, len(p.names)), make([]verdict.Cell, len(p.names))
		for j, name := range in.Layouts {
			key := [2]int{p.blocks[block], p.layouts[name]}
			row[j] = p.cells[key].Cell
			if row[j].OK {
				tails[j] = p.cells[key].p99
			}
			if row[j].OK && row[j].Calibration == 0 {
				row[j].Calibration = p.probes[key]
			}
		}
		in.Blocks, in.Table = append(in.Blocks, block), append(in.Table, row)
		if p.at.p99 >= 0 {
			in.P99 = append(in.P99, tails)
		}
	}
	return in, p.trials(&in)
}

// inOrder returns the blocks sorted by number, if all are numbers.
func inOrder(blocks []string) []string {
	number := make(map[string]int64, len(blocks))
	for _, b := range blocks {
		n, err := strconv.ParseInt(b, 10, 64)
		if err != nil {
			return blocks
		}
		number[b] = n
	}
	sorted := slices.Clone(blocks)
	slices.SortStableFunc(sorted, func(a, b string) int {
		switch {
		case number[a] < number[b]:
			return -1
		case number[a] > number[b]:
			return 1
		}
		return 0
	})
	return sorted
}
