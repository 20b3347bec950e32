package workload

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"filewise"
)

// customName matches allowed names of types and parameters.
var customName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,39}$`)

// tableName matches allowed names of tables and keys: any text on one line.
var tableName = regexp.MustCompile(`^[^\x00-\x1f\x7f]{1,64}$`)

// validate returns an error with CodeUsage if parts of the workload contradict each other. The error names things as a
// study file does.
func (c Custom) validate() error {
	usage := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "custom: "+format, args...)
	}
	const named = "begin with a letter, go on with letters, digits, _ or -, up to 40 in all"
	switch {
	case len(c.Transactions) == 0:
		return usage("add transactions: {NAME: {sql: …}}", "there are no transactions")
	case len(c.Transactions) > maxTypes:
		return usage(fmt.Sprintf("give at most %d", maxTypes), "there are %d transactions", len(c.Transactions))
	case c.From != "" && len(c.Setup) > 0:
		return usage("leave setup out, or --from", "there are a set-up and a dump, and each makes the tables")
	case c.Think.Mean < 0 || c.Think.Mean > time.Hour:
		return usage("give a time such as 10ms", "think %v is not from 0 to an hour", c.Think.Mean)
	}
	total := 0
	var types []string
	for _, t := range c.Transactions {
		if !customName.MatchString(t.Name) {
			return usage(named, "transaction %q: invalid name", t.Name)
		}
		if len(t.SQL[""]) == 0 {
			return usage("add sql: …", "transaction %s has no SQL", t.Name)
		}
		if t.Weight < 0 || t.Weight > 1_000_000 {
			return usage("give 0 to 1000000", "transaction %s: weight %d: out of range", t.Name, t.Weight)
		}
		total += t.Weight
		types = append(types, t.Name)
	}
	if total == 0 {
		return usage("give one a weight above 0", "no transaction has a weight")
	}
	var params []string
	for _, p := range c.Parameters {
		if !customName.MatchString(p.Name) {
			return usage(named, "parameter %q: invalid name", p.Name)
		}
		params = append(params, p.Name)
	}
	if c.ShardBy != "" {
		if err := oneOf("custom: shard_by", c.ShardBy, params...); err != nil {
			return err
		}
	}
	for _, t := range c.Tables {
		if !tableName.MatchString(t.Name) || !tableName.MatchString(t.Key) {
			return usage("give them as the server has them, without quotes of SQL", "table %q with key %q: invalid name", t.Name, t.Key)
		}
	}
	for i, x := range c.Checks {
		if len(x.Query[""]) != 1 {
			return usage("give one query for each check", "check %d has %d queries", i+1, len(x.Query[""]))
		}
		if x.Committed != "" {
			if err := oneOf(fmt.Sprintf("custom: check %d: committed", i+1), x.Committed, types...); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameNumber reports whether two texts are the same number, such as 10 and 10.00.
func sameNumber(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err == nil && err2 == nil && x == y
}

// The load that runs during a backup. Connections update single rows of frag4 by key, at a fixed rate, so that the load
// is the same on every layout. They change val5, which no check and no index covers. So the backup can be verified at
// whatever moment it was taken. Before the backup the load runs alone, for the duration alone.
const (
	OperationForeground = "foreground"
	// besideRate is the number of updates per second and connection. It is far below what any engine can do here.
	besideRate = 25
	alone      = 2 * time.Second
	// besideStep is a prime larger than any number of rows, so it has no factor in common with one.
	besideStep = 2_147_483_647
)

func (w *backup) foreground() filewise.Phase {
	n := w.params.ConcurrentLoad
	return filewise.Phase{
		Operation: OperationForeground, Unit: "updates", Section: "beside", Connections: n, CommitEvery: 1, Client: true,
		Rate: float64(n) * besideRate, Window: alone, ByLatency: []string{filewise.MeanLatency},
		Args: besideArgs{w.params.Rows, int64(n)},
	}
}

// besideArgs generates the key of a row and its new value.
type besideArgs struct{ rows, connections int64 }

func (b besideArgs) Args(dst []any, worker int, i int64) []any {
	op := i*b.connections + int64(worker)
	return append(dst, op%b.rows*(besideStep%b.rows)%b.rows+1, op%fragValues)
}

// Pool returns "", because the client sends every statement.
func (besideArgs) Pool() string { return "" }
