// Package limit reads the limits that others' activity on a server must not
// pass while Filewise measures there: "active>5".
package limit

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/nearest"
)

// Limit compares a gauge with a number. If the comparison holds, the run stops.
type Limit struct {
	Gauge string
	Op    string // > >= < <=
	Value float64
}

const form = "give it as GAUGE>NUMBER, such as active>5 or sessions>=100"

var limitForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9 ._/-]*?) *(>=|<=|>|<) *([0-9.][0-9.eE+-]*)$`)

// Parse parses a limit. Errors have CodeUsage.
func Parse(text string) (Limit, error) {
	m := limitForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Limit{}, filewise.Errorf(filewise.CodeUsage, form, "--abort-if %q is not a limit", text)
	}
	v, err := strconv.ParseFloat(m[3], 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return Limit{}, filewise.Errorf(filewise.CodeUsage, form, "--abort-if %q: %s is not a number", text, m[3])
	}
	return Limit{Gauge: m[1], Op: m[2], Value: v}, nil
}

// ParseAll parses several limits.
func ParseAll(texts []string) ([]Limit, error) {
	var all []Limit
	for _, text := range texts {
		l, err := Parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// String returns the limit as it was given.
func (l Limit) String() string {
	return l.Gauge + l.Op + strconv.FormatFloat(l.Value, 'g', -1, 64)
}

// passed reports whether a value of the gauge passes the limit.
func (l Limit) passed(v float64) bool {
	switch l.Op {
	case ">":
		return v > l.Value
	case ">=":
		return v >= l.Value
	case "<":
		return v < l.Value
	}
	return v <= l.Value
}

// Known returns an error with CodeUsage if a limit is on an unknown gauge. It names the known ones.
func Known(limits []Limit, gauges []filewise.Gauge) error {
	names := filewise.Each(gauges, func(g filewise.Gauge) string { return g.Name })
	for _, l := range limits {
		if _, ok := find(gauges, l.Gauge); !ok {
			remedy := nearest.Remedy(l.Gauge, names)
			if remedy == "" {
				remedy = "leave --abort-if out: this server shows no gauges to the account"
			}
			return filewise.Errorf(filewise.CodeUsage, remedy, "--abort-if %s: there is no gauge %q here", l, l.Gauge)
		}
	}
	return nil
}

func find(gauges []filewise.Gauge, name string) (filewise.Gauge, bool) {
	for _, g := range gauges {
		if strings.EqualFold(g.Name, name) {
			return g, true
		}
	}
	return filewise.Gauge{}, false
}

// Passed reports which limit is passed, and by how much, or returns an empty text. It returns an error if a gauge can
// no longer be read.
func Passed(limits []Limit, gauges []filewise.Gauge) (string, error) {
	for _, l := range limits {
		g, ok := find(gauges, l.Gauge)
		if !ok {
			return "", fmt.Errorf("gauge %q cannot be read any more", l.Gauge)
		}
		if l.passed(g.Value) {
			return fmt.Sprintf("%s is %s (limit: %s)", g.Name, strings.TrimSpace(strconv.FormatFloat(g.Value, 'g', 6, 64)+" "+g.Unit), l), nil
		}
	}
	return "", nil
}
