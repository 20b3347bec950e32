package workload

import (
	"fmt"

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
	return oneOf("--key", p.Key, KeySequential, KeyRandom)
}

func within(flag string, value, limit int) string {
	nearest := 1
	if value > limit {
		nearest = limit
	}
	return fmt.Sprintf("the nearest that is allowed is %s %d", flag, nearest)
}

func oneOf(flag, value string, known ...string) error {
	for _, k := range known {
		if value == k {
			return nil
		}
	}
	return filewise.Errorf(filewise.CodeUsage, nearest.Remedy(value, known), "%s %q is unknown", flag, value)
}
