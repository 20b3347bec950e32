package report

import (
	"html/template"
	"math"
	"slices"
	"strings"
)

// Drawing are small columns, one for each file, kind below kind; the line is the
// mean of the data files.
func (l layoutFiles) Drawing(kinds []string) template.HTML {
	const pitch, tall = 66, 40
	d := drawing{height: float64(pitch * len(kinds))}
	for k, kind := range kinds {
		y := float64(k*pitch) + 18
		d.textAt("axis", "start", 0, y-6, kind)
		d.textAt("axis", "end", 100, y-6, l.balanceText(k))
		d.columns(l.columns(k), y, tall)
	}
	return d.html(l.Layout + ": each file’s part of " + strings.Join(kinds, ", ") + "; the table below has the numbers.")
}

// columns are the files' parts of a kind; of many files the largest first.
func (l layoutFiles) columns(k int) []fileLoad {
	var out []fileLoad
	for _, f := range l.Files {
		if known(f.Shares[k]) {
			out = append(out, fileLoad{f.Name, f.Data, []float64{f.Shares[k]}})
		}
	}
	if len(out) > mostBars {
		slices.SortStableFunc(out, func(a, b fileLoad) int { return -cmpFloat(a.Shares[0], b.Shares[0]) })
		out = out[:mostBars]
	}
	return out
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// columns stand from y down to y+tall.
func (d *drawing) columns(files []fileLoad, y, tall float64) {
	d.line("base", 0, y+tall, 100, y+tall, "")
	most, mean, n := 0.0, 0.0, 0.0
	for _, f := range files {
		most = max(most, f.Shares[0])
		if f.Data {
			mean, n = mean+f.Shares[0], n+1
		}
	}
	if most == 0 {
		return
	}
	pitch := math.Min(100/float64(len(files)), 25)
	for i, f := range files {
		class, high := "column", tall*f.Shares[0]/most
		if !f.Data {
			class = "column other"
		}
		d.rect(class, float64(i)*pitch+pitch*0.08, y+tall-high, pitch*0.84, high, f.Name+": "+shareOf(f.Shares[0]))
	}
	if n > 1 {
		d.line("mean", 0, y+tall*(1-mean/n/most), pitch*float64(len(files)), y+tall*(1-mean/n/most), "mean of the data files")
	}
}

// balanceText is the largest data file against the mean: "largest 1.3 × mean".
func (l layoutFiles) balanceText(k int) string {
	if !known(l.Balance[k]) {
		return ""
	}
	return "largest " + times(l.Balance[k]) + " mean"
}
