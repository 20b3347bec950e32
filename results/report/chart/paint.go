package chart

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Attributes paint charts, not a style sheet: Jenkins, and others that serve reports under a strict policy, drop style
// sheets. Each colour is visible on white and on black. Grey parts have the text's own colour, thinned.

// colours maps the classes of marks and layouts, such as best and l3, to their colours.
var colours = map[string]string{
	"best": "#1f77d4", "good": "#0d8a72", "same": "#6e7c8f", "worse": "#c8590a", "open": "#8f67c2", "event": "#b07000",
	"l0": "#1f77d4", "l1": "#c8590a", "l2": "#0d8a72", "l3": "#8f67c2", "l4": "#94700f", "l5": "#cc4488", "l6": "#15869f", "l7": "#6e7c8f",
}

// paints maps classes to attributes. A value that is the name of a colour stands for that colour.
var paints = map[string]string{
	"band": "fill=currentColor fill-opacity=.1", "trough": "fill=currentColor fill-opacity=.1",
	"stripe": "fill=currentColor fill-opacity=.045",
	"frame":  "fill=currentColor fill-opacity=.05 stroke=currentColor stroke-opacity=.25",
	"grid":   "stroke=currentColor stroke-opacity=.12", "base": "stroke=currentColor stroke-opacity=.4",
	"zero":   "stroke=currentColor stroke-opacity=.3",
	"mean":   "stroke=currentColor stroke-opacity=.6 stroke-dasharray=4,3",
	"raw":    "stroke=currentColor stroke-opacity=.65 stroke-width=1.5",
	"limit":  "stroke=currentColor stroke-width=1.5",
	"event":  "stroke=event stroke-width=2",
	"column": "fill=best", "other": "fill=same fill-opacity=.5", "used": "fill=best", "over": "fill=worse",
	"outer": "fill=best fill-opacity=.16", "inner": "fill=best fill-opacity=.26",
	"thin": "fill=none stroke=best stroke-opacity=.3", "strong": "fill=none stroke=best stroke-width=2",
	"drift":    "fill=none stroke=currentColor stroke-opacity=.6 stroke-width=1.3",
	"interval": "stroke-width=7 stroke-linecap=round stroke-opacity=.4",
	"whisker":  "stroke-width=5 stroke-linecap=round stroke-opacity=.35",
	"curve":    "stroke-width=1.8", "fit": "stroke-width=1.4", "discard": "stroke-dasharray=5,4",
	"hatch1": "fill=url(#h1) pointer-events=none", "hatch2": "fill=url(#h2) pointer-events=none",
	"hollow": "fill=none stroke=l0 stroke-width=1.6",
	"done":   "fill=best", "pilot": "fill=none stroke=same stroke-width=1.6",
	"down-weighted": "fill=none stroke=worse stroke-width=1.8",
	"failed":        "fill=none stroke=worse stroke-width=2.4 stroke-linecap=round",
	"name":          "font-weight=600", "said": "font-size=12.5", "axis": "font-size=12 fill-opacity=.75",
}

// paint returns the attributes of an element with these classes. Later classes take precedence. An element drawn as a
// line has its colour as a stroke, any other element as a fill.
func paint(element, classes string) string {
	property := "fill"
	if element == "line" {
		property = "stroke"
	}
	var names []string
	values := map[string]string{}
	for class := range strings.FieldsSeq(classes) {
		attributes := paints[class]
		if c := strings.TrimPrefix(class, "c-"); attributes == "" && colours[c] != "" {
			attributes = property + "=" + c
		}
		if class == "hollow" && element == "line" {
			attributes = "stroke=l0"
		}
		for a := range strings.FieldsSeq(attributes) {
			name, value, _ := strings.Cut(a, "=")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			values[name] = value
		}
	}
	var out strings.Builder
	for _, name := range names {
		value := values[name]
		if name == "fill" || name == "stroke" {
			value = cmp.Or(colours[value], value)
		}
		fmt.Fprintf(&out, ` %s="%s"`, name, value)
	}
	return out.String()
}

// Swatch returns a shape of the page's definitions as a small picture next to its name.
func Swatch(class, shape string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">`+
		`<use class="%s"%s href="#%s"/></svg>`,
		class, paint("use", class), shape))
}
