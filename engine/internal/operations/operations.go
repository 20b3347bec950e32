// Package operations has what all engines do with the operations of one worker,
// which are executed, and committed, one after the other.
package operations

import (
	"slices"
	"strconv"
	"strings"

	"filewise"
)

// Committed finds how many of n operations are committed. They are a beginning of
// them, whose end is found by halving: is reports it for one operation, counted from 0.
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

// Parameters returns how many of at most so many arguments a statement takes, by the
// number after the sign of its last parameter (":", "@p", "$").
func Parameters(statement, sign string, most int) int {
	for n := most; n > 0; n-- {
		if strings.Contains(statement, sign+strconv.Itoa(n)) {
			return n
		}
	}
	return 0
}

// Section returns the name of the SQL by which a phase executes a section: a statement of
// the client's, or a call of the server's.
func Section(p filewise.Phase, section string) string {
	if p.Client {
		return "statement-" + section
	}
	return "call-" + section
}

// SectionsOf returns the sections of a phase's operations, by their types.
func SectionsOf(p filewise.Phase) []string {
	if len(p.Types) == 0 {
		return []string{p.Section}
	}
	return p.Sections
}

// Missing returns the first section of SQL that sessions would execute, and that is not
// there. If empty, all are.
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

// Procedures returns the sections that create what phases call, each once.
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
