package tablecsv

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
)

// Options sets how a file is read. The zero value reads the first operation, and refuses ambiguous numbers.
type Options struct {
	Operation string
	// Decimal is the character before fractions, a comma or a point; the other one separates thousands. If it is 0, a
	// point starts fractions, and commas are refused.
	Decimal rune
}

// ReadAll reads the tables of all operations in a file, in order of first appearance.
func (o Options) ReadAll(r io.Reader) ([]Input, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	o.Operation = ""
	first, err := o.Read(bytes.NewReader(text))
	all := []Input{first}
	for _, operation := range first.others {
		var in Input
		if err == nil {
			o.Operation = operation
			in, err = o.Read(bytes.NewReader(text))
		}
		all = append(all, in)
	}
	return all, err
}

// Read reads the table of the options' operation, or of the first operation if there is none. Its errors are *Error, or
// the reader's.
func (o Options) Read(r io.Reader) (Input, error) {
	within := &bounded{Reader: r, all: maxBytes, line: maxLine}
	buffered := bufio.NewReaderSize(within, 1<<16)
	if bom, _ := buffered.Peek(3); bytes.Equal(bom, []byte("\xef\xbb\xbf")) {
		if _, err := buffered.Discard(3); err != nil {
			return Input{}, err
		}
	}
	p := &parser{csv: csv.NewReader(buffered), wanted: o.Operation, first: o.Operation == "", decimal: o.Decimal,
		blocks: map[string]int{}, layouts: map[string]int{}}
	p.csv.Comma = separator(buffered)
	p.csv.ReuseRecord = true
	if err := p.header(); err != nil {
		return Input{}, err
	}
	for {
		within.line = maxLine
		fields, err := p.csv.Read()
		if errors.Is(err, io.EOF) {
			return p.input()
		}
		if err == nil {
			err = p.line(fields)
		}
		if err != nil {
			return Input{}, explain(err)
		}
	}
}
