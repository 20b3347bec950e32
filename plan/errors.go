package plan

import (
	"slices"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/nearest"
)

// Choice returns the value of an option that has a few, or a usage error that
// names the nearest known one.
func Choice[T ~string](name, value string, known ...T) (T, error) {
	if i := slices.Index(known, T(value)); i >= 0 {
		return known[i], nil
	}
	return "", nearest.Unknown("--"+name, value, filewise.Each(known, func(k T) string { return string(k) }))
}

// checkChoices refuses what is given of options that have a few values, and is none of
// them.
func checkChoices(table []Option) error {
	for _, o := range table {
		if len(o.Choices) > 0 && o.To.Given() {
			if _, err := Choice(o.Name, o.To.Texts()[0], o.Choices...); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxBytes keeps sums of sizes far from overflow.
const maxBytes = int64(1) << 60

// bytesOf parses a size such as 64MiB, 64M or 1.5 GB.
func bytesOf(name, value string) (int64, error) {
	const remedy = "give a size above 0 such as 512KiB, 64MiB or 1.5GB"
	n, err := humanize.ParseBytes(value)
	switch {
	case err != nil:
		return 0, filewise.Errorf(filewise.CodeUsage, remedy, "--%s %q is not a size", name, value)
	case n == 0 || n > uint64(maxBytes):
		return 0, filewise.Errorf(filewise.CodeUsage, remedy+", at most "+humanize.IBytes(uint64(maxBytes)), "--%s %q is not possible", name,
			value)
	}
	return int64(n), nil
}

// BadValue refuses the value of an option.
func BadValue(name string, value any, remedy string) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "--%s %v is not possible", name, value)
}

// unfit is the error of an option that what is asked for has no use for. Given by a
// variable of the environment it is no mistake: that may be for other runs.
type unfit struct{ name, or string } // or: what it does not go with; empty: nothing

func (unfit) Error() string { return "" }

// badUse is the error of an option that does not go with the others.
func badUse(name string, value any, remedy string) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "--%s %v is not possible%w", name, value, unfit{name: name})
}
