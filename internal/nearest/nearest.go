// Package nearest finds the known name that a mistyped one probably means.
package nearest

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"filewise"
)

// Former maps names of options from before 0.9.0 to today's.
var Former = map[string]string{"beside": "concurrent-load", "cells": "rounds", "instances": "builds", "sessions": "interleave"}

// Name returns today's name of a former one. Else it returns the known name with the smallest edit distance to the given
// one, ignoring case. Among equally near names, the longest common beginning wins, then the nearest length, then the
// first. The result is empty if no name is near enough. A near name is within two edits or half of the given name, and
// fewer edits than it has letters. Or it begins with the given name, of at least three letters.
func Name(given string, known []string) string {
	word := strings.ToLower(given)
	if now := Former[word]; slices.Contains(known, now) {
		return now
	}
	length := utf8.RuneCountInString(word)
	var near []candidate
	for _, k := range known {
		lower := strings.ToLower(k)
		distance := levenshtein.ComputeDistance(word, lower)
		begun := length >= 3 && strings.HasPrefix(lower, word)
		if !begun && (distance > max(2, length/2) || distance >= length) {
			continue
		}
		apart := utf8.RuneCountInString(lower) - length
		near = append(near, candidate{name: k, distance: distance, prefix: commonPrefix(word, lower), apart: max(apart, -apart)})
	}
	if len(near) == 0 {
		return ""
	}
	return slices.MinFunc(near, candidate.compare).name
}

// candidate is a known name that may be meant.
type candidate struct {
	name                    string
	distance, prefix, apart int // edits, bytes at the start in common, difference in length
}

func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(c.distance, d.distance), cmp.Compare(d.prefix, c.prefix), cmp.Compare(c.apart, d.apart))
}

// commonPrefix returns the number of bytes in the common beginning of two words.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Remedy returns the advice for an unknown name.
func Remedy(given string, known []string) string {
	switch len(known) {
	case 0:
		return ""
	case 1:
		return `use "` + known[0] + `", the only one there is`
	}
	list := "known: " + strings.Join(known, ", ")
	if name := Name(given, known); name != "" {
		return `did you mean "` + name + `"? K` + list[1:]
	}
	return list
}

// Unknown returns the usage error for a name that is not among the known ones.
func Unknown(what, given string, known []string) error {
	return filewise.Errorf(filewise.CodeUsage, Remedy(given, known), "%s %q is unknown", what, given)
}
