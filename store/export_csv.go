package store

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"filewise"
)

// CSVHeader names the columns of ExportCSV. Throughput is in units a second;
// window_s is the length of the measured window; times are in seconds; started
// is RFC 3339 in UTC. An empty field is an absent value, never zero.
func CSVHeader() []string {
	return []string{"run", "block", "position", "layout", "attempt", "pilot", "state", "reason",
		"family", "throughput", "unit", "work", "window_s", "tail_s", "sync_s", "elapsed_s", "instance", "started"}
}

// ExportCSV writes one line for each trial and family, by RFC 4180 (lines end in
// CRLF). A trial that measured nothing has one line with these fields empty.
func ExportCSV(w io.Writer, run Run, trials []filewise.Trial) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(CSVHeader()); err != nil {
		return err
	}
	for _, t := range trials {
		if len(t.Measures) == 0 {
			if err := out.Write(csvLine(run, t, make([]string, 7))); err != nil {
				return err
			}
		}
		for _, m := range t.Measures {
			if err := out.Write(csvLine(run, t, csvMeasure(t, m))); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func csvLine(run Run, t filewise.Trial, measure []string) []string {
	c := t.Cell
	line := []string{strconv.FormatInt(run.ID, 10), strconv.Itoa(c.Block), strconv.Itoa(c.Position), c.Layout,
		strconv.Itoa(c.Attempt), strconv.FormatBool(c.Pilot), string(t.State), t.Reason}
	line = append(line, measure...)
	return append(line, seconds(t.Elapsed), t.Instance, t.Started.UTC().Format(time.RFC3339Nano))
}

func csvMeasure(t filewise.Trial, m filewise.Measure) []string {
	rate := ""
	if x, ok := throughput(t, m); ok {
		rate = number(x)
	}
	return []string{m.Family, rate, m.Unit, number(m.Work), seconds(m.Window[1] - m.Window[0]), seconds(m.Tail), seconds(m.Sync)}
}

// number is the shortest text that reads back as x; empty for what is no number.
func number(x float64) string {
	if finite(x) == nil {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func seconds(d time.Duration) string { return number(d.Seconds()) }
