package report

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"filewise/internal/say"
	"filewise/results/report/chart"
)

// drawing returns small columns, one for each file, in a row for each kind of I/O. A line marks the mean of the data
// files. If there are many files, only the largest columns are drawn.
func (l layoutFiles) drawing(kinds []string) template.HTML {
	var rows []chart.Columns
	for k, kind := range kinds {
		row := chart.Columns{Name: kind, Label: l.balanceText(k), MeanTip: "mean of the data files"}
		for _, f := range l.Files {
			if say.Known(f.Shares[k]) {
				row.All = append(row.All, chart.Column{Length: f.Shares[k], Pale: !f.Data, Tip: f.Name + ": " + shareOf(f.Shares[k])})
			}
		}
		if len(row.All) > mostBars {
			slices.SortStableFunc(row.All, func(a, b chart.Column) int { return cmp.Compare(b.Length, a.Length) })
			row.All = row.All[:mostBars]
		}
		rows = append(rows, row)
	}
	return chart.Rows(rows, l.Layout+": each file’s part of "+strings.Join(kinds, ", ")+"; the table below has the numbers.")
}

// balanceText compares the largest column of a data file with the mean: "largest 1.3 × mean".
func (l layoutFiles) balanceText(k int) string {
	most, sum, n := 0.0, 0.0, 0.0
	for _, f := range l.Files {
		if f.Data && say.Known(f.Shares[k]) {
			most, sum, n = max(most, f.Shares[k]), sum+f.Shares[k], n+1
		}
	}
	if n < 2 || sum == 0 {
		return ""
	}
	return "largest " + times(most*n/sum) + " mean"
}
