package workload

import (
	"fmt"
	"slices"

	"filewise"
	"filewise/internal/nearest"
)

// The limits of Params.
const (
	MaxConnections = 2000
	MaxRowBytes    = 1 << 20
	MaxCommitEvery = 1_000_000_000
)

// Validate says which parameter is wrong, naming its flag, its value and what
// is allowed. The error has CodeUsage.
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
	return oneOf("--key", p.Key, KeySequential, KeyRandom, KeyIdentity)
}

// validateLevels checks what says how much is done at the same time.
func (p Params) validateLevels() error {
	usage := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, format, args...)
	}
	switch {
	case p.Connections < 1 || p.Connections > MaxConnections:
		return usage(within("--connections", p.Connections, MaxConnections), "--connections %d is not between 1 and %d", p.Connections,
			MaxConnections)
	case !(p.Rate >= 0 && p.Rate <= maxRate):
		return usage("give transactions a second, 0 for a closed loop", "--rate %v is not between 0 and %v", p.Rate, maxRate)
	case len(p.Users) > maxLevels:
		return usage(fmt.Sprintf("give at most %d", maxLevels), "--users has %d levels", len(p.Users))
	case p.Rate > 0 && len(p.Users) > 0:
		return usage("leave one of them out; --connections says how many serve what arrives",
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
	return nil
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
