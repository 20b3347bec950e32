package main

import (
	"slices"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/nearest"
)

// choice returns the value of an enumerated flag, or a usage error that names
// the nearest known one.
func choice[T ~string](flag, value string, known ...T) (T, error) {
	if i := slices.Index(known, T(value)); i >= 0 {
		return known[i], nil
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	return "", nearest.Unknown("--"+flag, value, names)
}

// bytesOf parses a size such as 64MiB, 64M or 1.5 GB.
func bytesOf(flag, value string) (int64, error) {
	const remedy = "give a size above 0 such as 512KiB, 64MiB or 1.5GB"
	n, err := humanize.ParseBytes(value)
	switch {
	case err != nil:
		return 0, filewise.Errorf(filewise.CodeUsage, remedy, "--%s %q is not a size", flag, value)
	case n == 0 || n > uint64(maxBytes):
		return 0, filewise.Errorf(filewise.CodeUsage, remedy+", at most "+humanize.IBytes(uint64(maxBytes)), "--%s %q is not possible", flag, value)
	}
	return int64(n), nil
}

func badValue(flag string, value any, remedy string) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "--%s %v is not possible", flag, value)
}

// notFor is the error of a flag that what is asked for has no use for. Given by a
// variable of the environment it is no mistake: that may be for other runs.
type notFor struct{ flag, or string } // or: what it does not go with; empty: nothing

func (notFor) Error() string { return "" }

// badUse is the error of a flag that does not go with the others.
func badUse(flag string, value any, remedy string) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "--%s %v is not possible%w", flag, value, notFor{flag: flag})
}
