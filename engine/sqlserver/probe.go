package sqlserver

import (
	"context"
	"fmt"

	"filewise"
)

// fileProbe reads what the server counts of each file of our database
// (sys.dm_io_virtual_file_stats; cumulative since the database came about).
type fileProbe struct{ build *build }

// Name is the probe's name in the report.
func (fileProbe) Name() string { return engineName }

// Read returns reads, writes, bytes and stalls: those of all data files together,
// those of the log, and for the balance the bytes written to each data file.
func (p fileProbe) Read(ctx context.Context) ([]filewise.Counter, error) {
	text, err := fixed("file-io", nil)
	if err != nil {
		return nil, err
	}
	rows, err := query(ctx, p.build.inside, text)
	if err != nil {
		return nil, p.build.server.login.explain(fmt.Errorf("I/O per file: %w", err))
	}
	sums := map[string]map[string]int64{"data": {}, "log": {}}
	var all []filewise.Counter
	for _, r := range rows {
		class := "data"
		if r.text("type") == "LOG" {
			class = "log"
		}
		for _, c := range counted {
			n, _ := r.number(c.column)
			sums[class][c.column] += n
		}
		if n, ok := r.number("written_bytes"); ok && class == "data" {
			all = append(all, filewise.Counter{Name: "written to " + r.text("logical"), Unit: "bytes", Value: float64(n)})
		}
	}
	if len(rows) == 0 {
		return nil, nil // absent, not zero
	}
	for _, class := range []string{"data", "log"} {
		for _, c := range counted {
			all = append(all, filewise.Counter{Name: class + " " + c.name, Unit: c.unit, Value: float64(sums[class][c.column])})
		}
	}
	return all, nil
}

var counted = []struct{ column, name, unit string }{
	{"reads", "reads", "reads"}, {"read_bytes", "bytes read", "bytes"}, {"read_stall", "stalled reading", "ms"},
	{"writes", "writes", "writes"}, {"written_bytes", "bytes written", "bytes"}, {"write_stall", "stalled writing", "ms"},
}
