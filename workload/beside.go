package workload

import (
	"time"

	"filewise"
)

// The load that runs beside a backup: connections that update single rows of frag4
// by their keys, at a fixed rate, so that it is the same on every layout. What they
// change is val5, which no check and no index has: what is backed up can be verified
// whatever the moment that it was taken at. It runs alone first, for alone.
const (
	FamilyForeground = "foreground"
	// besideRate is of each connection, in updates a second: far below what any
	// engine can do here.
	besideRate = 25
	alone      = 2 * time.Second
	// besideStep has no factor in common with any number of rows, but itself: it is
	// a prime above them all.
	besideStep = 2_147_483_647
)

func (w *backup) foreground() filewise.Phase {
	n := w.params.Beside
	return filewise.Phase{
		Family: FamilyForeground, Unit: "updates", Section: "beside", Connections: n, CommitEvery: 1, Client: true,
		Rate: float64(n) * besideRate, Window: alone, ByLatency: []string{filewise.MeanLatency},
		Args: besideArgs{w.params.Rows, int64(n)},
	}
}

// besideArgs are the key of a row and its new value.
type besideArgs struct{ rows, connections int64 }

func (b besideArgs) Args(dst []any, worker int, i int64) []any {
	op := i*b.connections + int64(worker)
	return append(dst, op%b.rows*(besideStep%b.rows)%b.rows+1, op%fragValues)
}

// Pool is empty: the client sends every statement.
func (besideArgs) Pool() string { return "" }
