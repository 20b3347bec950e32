// Package operations has what engines do alike with the operations of one worker,
// which are executed, and committed, one after the other.
package operations

import (
	"context"
	"strconv"
	"strings"

	"filewise"
)

// Each does operations first … first+n−1 until one fails or the context ends. When the
// one after done operations failed, broken says how many are committed and why; when
// the context ended between two, its cause is the error.
func Each(ctx context.Context, first, n int64, do func(ctx context.Context, i int64) error,
	broken func(ctx context.Context, first, done int64, err error) (int64, error),
) (int64, error) {
	for done := range n {
		if ctx.Err() != nil {
			return done, context.Cause(ctx)
		}
		if err := do(ctx, first+done); err != nil {
			return broken(ctx, first, done, err)
		}
	}
	return n, nil
}

// Committed finds how many of n operations are committed. They are a beginning of
// them, whose end is found by halving: is tells it of one operation, counted from 0.
// With an error, that many are known to be.
func Committed(n int64, is func(i int64) (bool, error)) (int64, error) {
	low, high := int64(0), n // low are committed, high are not known to be
	for low < high {
		mid := low + (high-low+1)/2
		found, err := is(mid - 1)
		if err != nil {
			return low, err
		}
		if found {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low, nil
}

// Parameters is how many of at most so many arguments a statement takes, by the
// number after the sign of its last parameter (":", "@p", "$").
func Parameters(statement, sign string, most int) int {
	for n := most; n > 0; n-- {
		if strings.Contains(statement, sign+strconv.Itoa(n)) {
			return n
		}
	}
	return 0
}

// Section is the name of the SQL by which a phase executes a section: a statement of
// the client's, or a call of the server's.
func Section(p filewise.Phase, section string) string {
	if p.Client {
		return "statement-" + section
	}
	return "call-" + section
}

// SectionsOf are the sections of a phase's operations, by their types.
func SectionsOf(p filewise.Phase) []string {
	if len(p.Types) == 0 {
		return []string{p.Section}
	}
	return p.Sections
}
