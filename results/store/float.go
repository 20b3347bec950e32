package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"filewise"
)

// A number that is NaN or infinite, such as a probe's 0/0, must not cost a trial. Neither SQLite's REAL nor JSON can
// hold it, so it is stored as text.

func floatColumn(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return x
}

func parseFloatColumn(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case string:
		return strconv.ParseFloat(v, 64)
	case []byte:
		return strconv.ParseFloat(string(v), 64)
	}
	return 0, fmt.Errorf("%v is not a number", v)
}

// delta is filewise.Delta with a value that may be NaN or infinite.
type delta struct {
	Probe string             `json:"probe"`
	Name  string             `json:"name"`
	Unit  string             `json:"unit"`
	Value any                `json:"value"`
	Class filewise.WaitClass `json:"class,omitempty"`
	File  string             `json:"file,omitempty"`
}

func packDeltas(ds []filewise.Delta) (string, error) {
	if ds == nil {
		return "null", nil
	}
	packed := make([]delta, len(ds))
	for i, d := range ds {
		packed[i] = delta{d.Probe, d.Name, d.Unit, floatColumn(d.Value), d.Class, d.File}
	}
	return toJSON(packed, "deltas")
}

func unpackDeltas(b *budget, text string) ([]filewise.Delta, error) {
	if ds, ok := scanDeltas(text); ok {
		return ds, b.take(4 * int64(len(text)))
	}
	var packed []delta
	if err := b.unmarshal(text, &packed); err != nil || packed == nil {
		return nil, err
	}
	ds := make([]filewise.Delta, len(packed))
	for i, d := range packed {
		value, err := parseFloatColumn(d.Value)
		if err != nil {
			return nil, err
		}
		ds[i] = filewise.Delta{Probe: d.Probe, Name: d.Name, Unit: d.Unit, Value: value, Class: d.Class, File: d.File}
	}
	return ds, nil
}

// Slices are stored as one blob of zigzag varints per measure, not as rows: a trial has hundreds of slices, and they
// are only read together. A slice of 50 ms takes two or three bytes instead of some twenty for a row. A nil slice is
// NULL.

func packSlices(values []int64) []byte {
	if values == nil {
		return nil
	}
	b := make([]byte, 0, 3*len(values))
	for _, v := range values {
		b = binary.AppendVarint(b, v)
	}
	return b
}

var errSlices = errors.New("the slices are damaged")

func unpackSlices(b []byte) ([]int64, error) {
	if b == nil {
		return nil, nil
	}
	values := make([]int64, 0, len(b)/2)
	for len(b) > 0 {
		v, n := binary.Varint(b)
		if n <= 0 {
			return nil, errSlices
		}
		values, b = append(values, v), b[n:]
	}
	return values, nil
}
