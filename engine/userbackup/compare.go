package userbackup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
)

// Work returns a probe of the work of the database's clients: statements and the time that they took, as the server
// counts them, without backups.
func Work(read func(context.Context) (calls, seconds float64, err error)) filewise.Probe {
	return filewise.ProbeOf(filewise.ProbeOwnWork, func(ctx context.Context) ([]filewise.Counter, error) {
		calls, seconds, err := read(ctx)
		if err != nil {
			return nil, err
		}
		return []filewise.Counter{{Name: filewise.OwnStatements, Unit: "statements", Value: calls},
			{Name: filewise.OwnTime, Unit: "s", Value: seconds}}, nil
	})
}

// watched is the time for which the database's own work is watched before the first backup.
const watched = 2 * time.Second

// Facts returns facts about the database, its size and what backs it up, and how long a statement takes while no backup
// runs. bytes is the database's size.
func Facts(ctx context.Context, database string, bytes int64, by string, probes []filewise.Probe) ([]filewise.Fact, error) {
	work, err := alone(ctx, probes)
	return append([]filewise.Fact{{Name: "database", Value: database + ", " + humanize.IBytes(uint64(bytes))},
		{Name: "backups by", Value: by}}, work...), err
}

// alone measures how many statements the database executes and how long they take while no backup runs.
func alone(ctx context.Context, probes []filewise.Probe) ([]filewise.Fact, error) {
	if len(probes) == 0 {
		return []filewise.Fact{{Name: filewise.ProbeOwnWork, Value: "the server counts no statements (PostgreSQL: pg_stat_statements; " +
			"MariaDB and MySQL: performance_schema)"}}, nil
	}
	before, err := probes[0].Read(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(watched):
	}
	after, err := probes[0].Read(ctx)
	if err != nil {
		return nil, err
	}
	calls, seconds := after[0].Value-before[0].Value, after[1].Value-before[1].Value
	text := fmt.Sprintf("%.0f statements a second", calls/watched.Seconds())
	if calls > 0 {
		text += fmt.Sprintf(", %.3g ms each, without a backup", 1000*seconds/calls)
	}
	return []filewise.Fact{{Name: filewise.ProbeOwnWork, Value: text}}, nil
}

// Same compares the restored tables with the original, each given as lines. It returns an ErrCheck if they differ.
func Same(want, got []string) error {
	slices.Sort(want)
	slices.Sort(got)
	for _, line := range want {
		if !slices.Contains(got, line) {
			return fmt.Errorf("%w: the original has %q, and what was restored has not", filewise.ErrCheck, line)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%w: %d lines of tables were restored, of %d", filewise.ErrCheck, len(got), len(want))
	}
	return nil
}
