package store

import (
	"fmt"
	"math"
	"strconv"

	"filewise"
)

// A number that is none (0/0 of a probe) must not cost a trial: neither SQLite's
// REAL nor JSON can hold it, so it is kept as text.

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

// delta is filewise.Delta with a value that may be no number.
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
