package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"filewise"
	"filewise/internal/nearest"
)

// Limits of Params.
const (
	MaxConnections = 2000
	MaxRowBytes    = 1 << 20
	MaxCommitEvery = 1_000_000_000
)

// Validate returns an error with CodeUsage if a parameter is invalid. The error names its flag, its value and what is
// allowed.
func (p Params) Validate() error {
	for _, n := range []struct {
		flag       string
		value, max int
	}{
		{"--connections", p.Connections, MaxConnections},
		{"--row-bytes", p.RowBytes, MaxRowBytes},
		{"--commit-every", p.CommitEvery, MaxCommitEvery},
	} {
		if n.value < 1 || n.value > n.max {
			return filewise.Errorf(filewise.CodeUsage, within(n.flag, n.value, n.max),
				"%s %d is not between 1 and %d", n.flag, n.value, n.max)
		}
	}
	if err := oneOf("--table", p.Table, TableShared, TablePerConnection); err != nil {
		return err
	}
	if err := oneOf("--key", p.Key, KeySequential, KeyRandom, KeyIdentity); err != nil {
		return err
	}
	return p.validateRate()
}

// validateLevels checks the parameters of concurrency: connections, users and rate.
func (p Params) validateLevels() error {
	usage := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, format, args...)
	}
	switch {
	case p.Connections < 1 || p.Connections > MaxConnections:
		return usage(within("--connections", p.Connections, MaxConnections), "--connections %d is not between 1 and %d", p.Connections,
			MaxConnections)
	case len(p.Users) > maxLevels:
		return usage(fmt.Sprintf("give at most %d", maxLevels), "--users has %d levels", len(p.Users))
	case p.Rate > 0 && len(p.Users) > 0:
		return usage("leave one of them out; --connections sets how many serve what arrives",
			"--rate %v and --users: an open loop has its load from the rate", p.Rate)
	}
	for i, n := range p.Users {
		if n < 1 || n > MaxConnections {
			return usage(within("--users", n, MaxConnections), "--users %d is not between 1 and %d", n, MaxConnections)
		}
		if slices.Index(p.Users, n) != i {
			return usage("name each level once", "--users names %d twice", n)
		}
	}
	return p.validateRate()
}

func (p Params) validateRate() error {
	if !(p.Rate >= 0 && p.Rate <= maxRate) {
		return filewise.Errorf(filewise.CodeUsage, "give operations a second, 0 for a closed loop", "--rate %v is not between 0 and %v", p.Rate,
			maxRate)
	}
	return nil
}

// paced makes a phase an open loop if there is a rate. Below what the server can do, all layouts do equally much work,
// so the phase is judged by the named figures of latency.
func (p Params) paced(phase filewise.Phase, figures ...string) filewise.Phase {
	if p.Rate > 0 {
		phase.Rate, phase.ByLatency = p.Rate, figures
	}
	return phase
}

func within(flag string, value, limit int) string {
	nearest := 1
	if value > limit {
		nearest = limit
	}
	return fmt.Sprintf("the nearest that is allowed is %s %d", flag, nearest)
}

func oneOf(flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return filewise.Errorf(filewise.CodeUsage, nearest.Remedy(value, known), "%s %q is unknown", flag, value)
}

// onePhase returns an error if a check is for anything but the workload's only phase.
func onePhase(phase int, ledgers []filewise.Ledger) error { return phaseOf(phase, 1, ledgers) }

// phaseOf returns an error if a workload of n phases does not have the phase, or if its ledger is missing.
func phaseOf(phase, n int, ledgers []filewise.Ledger) error {
	if phase < 0 || phase >= n || phase >= len(ledgers) {
		return fmt.Errorf("phase %d of %d, with %d ledgers", phase, n, len(ledgers))
	}
	return nil
}

// answer describes a section's result: rows with one whole number per name. From column sums on, numbers are sums over
// rows. The column before holds the number of these rows, if there is one. Sums over no rows are NULL, which counts as
// 0.
type answer struct {
	section string
	names   []string
	sums    int
	read    func(any) (int64, error) // nil means whole, which rejects negative numbers
}

func (a answer) ask(ctx context.Context, q filewise.Querier) ([][]int64, error) {
	result, err := q.Query(ctx, a.section)
	if err == nil && len(result) == 0 {
		err = errors.New("it returned nothing")
	}
	if err != nil {
		return nil, fmt.Errorf("section %q: %w", a.section, err)
	}
	read := a.read
	if read == nil {
		read = whole
	}
	all := make([][]int64, len(result))
	for i, row := range result {
		if len(row) != len(a.names) {
			return nil, fmt.Errorf("section %q returned %d columns, expected %q", a.section, len(row), a.names)
		}
		v := make([]int64, len(row))
		for k, x := range row {
			if x == nil && k >= a.sums && (a.sums == 0 || v[a.sums-1] == 0) {
				continue
			}
			if v[k], err = read(x); err != nil {
				return nil, fmt.Errorf("section %q, %s: %w", a.section, a.names[k], err)
			}
		}
		all[i] = v
	}
	return all, nil
}
