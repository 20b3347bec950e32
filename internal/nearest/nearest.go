// Package nearest finds the known name that a mistyped one probably means.
package nearest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Name is the known name with the smallest edit distance to the given one,
// letter case ignored; the first of several equally near. It is empty when
// nothing is known.
func Name(given string, known []string) string {
	best, distance := "", -1
	for _, k := range known {
		d := levenshtein.ComputeDistance(strings.ToLower(given), strings.ToLower(k))
		if distance < 0 || d < distance {
			best, distance = k, d
		}
	}
	return best
}

// Remedy is what to tell somebody who gave an unknown name.
func Remedy(given string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	if len(known) == 1 {
		return `use "` + known[0] + `", the only one there is`
	}
	return `did you mean "` + Name(given, known) + `"? Known: ` + strings.Join(known, ", ")
}
