// Package operations holds what all engines do with the operations of one worker, which are executed and committed one
// after the other.
package operations

import (
	"slices"
	"strconv"
	"strings"

	"filewise"
)

// Committed returns how many of n operations are committed. The committed ones come first, so halving finds the last of
// them. is reports whether an operation, counted from 0, is committed. If is fails, Committed returns the number known
// so far with the error.
func Committed(n int64, is func(i int64) (bool, error)) (int64, error) {
	low, high := int64(0), n // operations before low are committed; high is the most that can be
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

// Parameters returns how many arguments a statement takes, at most most. It looks for the highest number after the
// parameter sign (":", "@p", "$").
func Parameters(statement, sign string, most int) int {
	for n := most; n > 0; n-- {
		if strings.Contains(statement, sign+strconv.Itoa(n)) {
			return n
		}
	}
	return 0
}

// Section returns the name of the SQL with which a phase executes a section: "statement-" if the client executes it,
// "call-" if the server loops.
func Section(p filewise.Phase, section string) string {
	if p.Client {
		return "statement-" + section
	}
	return "call-" + section
}

// SectionsOf returns the sections of a phase's operations, ordered by operation type.
func SectionsOf(p filewise.Phase) []string {
	if len(p.Types) == 0 {
		return []string{p.Section}
	}
	return p.Sections
}

// Missing returns the first SQL section that sessions would execute and the engine lacks, or "" if none is missing.
func Missing(p filewise.Program, has func(section string) bool) string {
	for _, phase := range p.Phases {
		if phase.Act != filewise.ActWork {
			continue
		}
		for _, s := range SectionsOf(phase) {
			if name := Section(phase, s); !has(name) {
				return name
			}
		}
	}
	return ""
}

// Procedures returns the sections that create the procedures called by the phases, each section once.
func Procedures(p filewise.Program, has func(section string) bool) []string {
	var all []string
	for _, phase := range p.Phases {
		for _, s := range SectionsOf(phase) {
			if name := "procedure-" + s; has(name) && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
