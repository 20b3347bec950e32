package inspect

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
)

func size(n int64) string      { return humanize.IBytes(uint64(max(n, 0))) }
func count(n float64) string   { return humanize.Comma(int64(math.Round(n))) }
func percent(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }
func exact(x float64) string   { return fmt.Sprintf("%.2f %%", math.Floor(10000*x)/100) }
func join(all []string) string { return strings.Join(all, "; ") }

// seconds returns a time in a unit that suits its size.
func seconds(s float64) string {
	switch {
	case s < 100:
		return fmt.Sprintf("%.3g s", s)
	case s < 2*3600:
		return fmt.Sprintf("%.0f min", s/60)
	case s < 72*3600:
		return fmt.Sprintf("%.0f h", s/3600)
	}
	return fmt.Sprintf("%.0f days", s/86400)
}

// millis returns a request's time in a unit that suits its size.
func millis(s float64) string {
	if s < 0.0001 {
		return fmt.Sprintf("%.2g µs", 1e6*s)
	}
	return fmt.Sprintf("%.3g ms", 1000*s)
}

// parts returns the number of a group's files in words, or the file's name for a log of one file.
func parts(g filewise.FileGroup) string {
	switch {
	case g.Fill == filewise.FillPartitions:
		return filewise.Counted(len(g.Files), "partition")
	case g.Use == filewise.UseLog && len(g.Files) == 1:
		return base(g.Files[0].Path)
	}
	return filewise.FilesName(len(g.Files))
}

// summary is the sentence at the top.
func (j *judge) summary() string {
	n := map[Worth]int{}
	for _, f := range j.found {
		n[f.Worth]++
	}
	var first string
	switch s := j.signals; {
	case len(j.data()) == 0 && len(j.Gaps) > 0:
		first = "Whether an experiment is worth running is unknown: no files of tables are seen"
	case len(j.data()) == 0:
		first = "There are no data of yours here to spread over files"
	case n[Experiment] > 0:
		first = "An experiment is worth running here: " + join(s.pro)
		if len(s.pro) == 0 {
			first = "An experiment is worth running here"
		}
	case s.quiet:
		first = "It is too early to say: the counters have counted for " + seconds(j.Since.Seconds()) + " only"
	case !s.known && j.target.Embedded:
		first = "Whether an experiment is worth running is unknown from files alone: SQLite counts neither waits nor latency, and the " +
			"command takes a minute"
	case !s.known:
		first = "Whether an experiment is worth running is unknown: " + j.unknowns()
	case len(s.pro) > 0:
		first = "An experiment may be worth running here: " + join(s.pro)
		if len(s.con) > 0 {
			first += ". Against it: " + join(s.con)
		}
	case n[Not] > 0 && len(s.con) > 0:
		first = "The number of files hardly matters here: " + join(s.con)
	default:
		first = "Nothing speaks strongly for an experiment here"
	}
	first += "."
	if n[Mend] > 0 {
		first += " " + filewise.Counted(n[Mend], "setting") + " should be mended first, or it would be measured instead of the files."
	}
	if n[Unknown] > 0 {
		first += fmt.Sprintf(" %s not answered: see the end.", map[bool]string{true: "1 question was",
			false: fmt.Sprintf("%d questions were", n[Unknown])}[n[Unknown] == 1])
	}
	return first
}
