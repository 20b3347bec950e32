package report

import (
	"fmt"
	"strings"
)

// SpreadLine says how even the files' load is, in a line; empty: not known.
func (v view) SpreadLine() string {
	for _, loads := range v.FileLoads() {
		for _, k := range loads.telling() {
			kind := loads.Kinds[k]
			var parts []string
			for _, l := range loads.Layouts {
				if known(l.Balance[k]) {
					parts = append(parts, l.Layout+" "+times(l.Balance[k]))
				}
			}
			if len(parts) > 0 {
				return fmt.Sprintf("Spread: the busiest data file has, of the mean file's %s%s: %s.", kind, ofFamilyText(loads.Family), strings.Join(parts, ", "))
			}
		}
	}
	return ""
}

// telling are the kinds, rows first: they are the work itself, whatever caches do.
func (l fileLoads) telling() []int {
	var first, rest []int
	for k, kind := range l.Kinds {
		if kind == "rows" {
			first = append(first, k)
		} else {
			rest = append(rest, k)
		}
	}
	return append(first, rest...)
}

func ofFamilyText(family string) string {
	if family == "" {
		return ""
	}
	return " (" + family + ")"
}

// spread says how even the files' load is.
func (p *page) spread(v view) {
	if s := v.SpreadLine(); s != "" {
		p.para(s, "  ")
		p.line("")
	}
}

// files writes how even the files' load is, by family and layout.
func (m *md) files(v view) {
	all := v.FileLoads()
	if len(all) == 0 {
		return
	}
	m.para("## How the files share the load")
	for _, f := range all {
		var rows [][]string
		for _, l := range f.Layouts {
			rows = append(rows, append([]string{l.Layout, fmt.Sprint(len(l.Files))}, l.BalanceTexts()...))
		}
		head := []string{joined(": ", f.Family, "layout"), "files"}
		for _, k := range f.Kinds {
			head = append(head, k+": busiest data file against the mean")
		}
		m.rows(head, rows)
	}
}
