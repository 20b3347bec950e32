package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

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

// variable is the name of a flag's variable.
func variable(flag string) string {
	return "FILEWISE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// instead are flags that exclude each other: what the command line gives goes
// before the other's variable.
var instead = map[string]string{"engine": "target", "target": "engine", "files": "layout", "layout": "files", "window": "work", "work": "window"}

// fromEnvironment sets every flag that the command line leaves open from
// FILEWISE_NAME, where there is one; an empty one is none.
func fromEnvironment(fs *pflag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(fl *pflag.Flag) { given[fl.Name] = true })
	var err error
	fs.VisitAll(func(fl *pflag.Flag) {
		name := variable(fl.Name)
		value := os.Getenv(name)
		if value == "" || fl.Changed || err != nil || fl.Name == "help" || given[instead[fl.Name]] {
			return
		}
		if serr := fs.Set(fl.Name, value); serr != nil {
			err = wrongType(fmt.Sprintf("%s=%q in the environment", name, value), fl, serr)
		}
	})
	return err
}
