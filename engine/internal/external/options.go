package external

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/internal/operations"
	"filewise/internal/nearest"
)

// Options describes the options in a URL's query that set a driver's configuration C.
type Options[C any] struct {
	Driver string // the driver in messages: "SQL Server's driver"
	// Known maps the driver's option names to functions that set them. If a function is nil, the engine sets the option
	// itself.
	Known map[string]func(*C, string) error
	// Unwanted maps options that would break what Filewise promises to what to do instead.
	Unwanted map[string]string
	// Secret lists options that are only accepted as secrets, so that they are not stored.
	Secret map[string]bool
	// Synonyms maps other names that the driver accepts for an option to the option's name.
	Synonyms map[string]string
	// Fold returns the same text for names that the driver treats as equal.
	Fold func(name string) string
}

// name returns the driver's name of an option; an unknown name is returned unchanged.
func (o Options[C]) name(given string) string {
	is := func(name string) bool { return o.Fold(name) == o.Fold(given) }
	for other, name := range o.Synonyms {
		if is(other) {
			return name
		}
	}
	for name := range o.Known {
		if is(name) {
			return name
		}
	}
	for name := range o.Unwanted {
		if is(name) {
			return name
		}
	}
	return given
}

// Apply sets the options of an address, in the order of their names, and returns them.
// Errors have CodeUsage and show no value of a secret.
func (o Options[C]) Apply(c *C, a filewise.Address) (map[string]string, error) {
	given, err := o.checked(a)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		set := o.Known[name]
		if set == nil {
			continue
		}
		if err := set(c, given[name]); err != nil {
			return nil, filewise.Errorf(filewise.CodeUsage, "correct it, or leave it out", "option %s: %w", name, err)
		}
	}
	return given, nil
}

// Check refuses a name that is no option of the driver, and an option that cannot be used here.
func (o Options[C]) Check(a filewise.Address) error {
	_, err := o.checked(a)
	return err
}

func (o Options[C]) checked(a filewise.Address) (map[string]string, error) {
	given, err := o.given(a)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if remedy := o.Unwanted[name]; remedy != "" {
			return nil, filewise.Errorf(filewise.CodeUsage, "leave it out: "+remedy, "option %s of %s cannot be used here", name, o.Driver)
		}
		if _, known := o.Known[name]; !known {
			return nil, filewise.Errorf(filewise.CodeUsage, nearest.Remedy(name, slices.Sorted(maps.Keys(o.Known))),
				"option %q is not known to %s", strings.ToLower(name), o.Driver)
		}
	}
	return given, nil
}

// given returns the address's options and secrets by the driver's names.
func (o Options[C]) given(a filewise.Address) (map[string]string, error) {
	all := map[string]string{}
	add := func(name, value string) error {
		full := o.name(name)
		if _, twice := all[full]; twice {
			return filewise.Errorf(filewise.CodeUsage, "give it once", "option %s is given twice", full)
		}
		all[full] = value
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(a.Options)) {
		if full := o.name(name); o.Secret[full] {
			return nil, filewise.Errorf(filewise.CodeUsage, "write its name as the driver does: "+full,
				"option %q is a secret and was not given as one", name)
		}
		if err := add(name, a.Options[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Secrets)) {
		if err := add(name, a.Secrets[name].Reveal()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Truth reads true or false. It refuses any other word, because a driver would take it for false.
func Truth(into *bool, value string) error {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "enable", "enabled", "t", "1":
		*into = true
	case "false", "no", "off", "disable", "disabled", "f", "0":
		*into = false
	default:
		return errors.New("it is neither true nor false")
	}
	return nil
}

// Seconds reads a whole number of seconds.
func Seconds(into *time.Duration, value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return errors.New("it is not a whole number of seconds")
	}
	*into = time.Duration(n) * time.Second
	return nil
}

// CheckPhases refuses what a workload of several phases cannot do on an existing server. has reports whether the
// engine's SQL has a section.
func CheckPhases(engine string, l filewise.Layout, p filewise.Program, has func(section string) bool) error {
	refuse := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "%s on %s: %w", fmt.Sprintf(format, args...), engine, filewise.ErrUnsupported)
	}
	missing := operations.Missing(p, has)
	switch {
	case p.Appends():
		return nil
	case l.AddedLater != "":
		return refuse("use scenario inserts", "files added later in workload %s", p.Workload)
	case l.Indexes != "" && p.Unindexed():
		return refuse("add --index key", "indexes %s in workload %s, which has no index", l.Indexes, p.Workload)
	case missing != "":
		return refuse("choose another scenario", "section %q of workload %s", missing, p.Workload)
	}
	for _, phase := range p.Phases {
		if phase.Cache != filewise.CacheAsIs && phase.Cache != filewise.CacheBufferCold {
			return refuse("use --cache warm", "cache %s (an existing server's caches serve all of its users, and Filewise empties none of them)",
				phase.Cache)
		}
	}
	return nil
}

// Classes maps each error class to the numbers under which a server reports such errors.
type Classes map[filewise.Class][]int

// Of returns the class of an error with these numbers. An error with no known number is of ClassConnection if the
// connection broke, else of ClassOther.
func (c Classes) Of(err error, numbers []int) filewise.Class {
	for class, known := range c {
		if slices.ContainsFunc(numbers, func(n int) bool { return slices.Contains(known, n) }) {
			return class
		}
	}
	if Broken(err) {
		return filewise.ClassConnection
	}
	return filewise.ClassOther
}

// Broken reports whether an error shows that the connection is lost, as far as all drivers show it.
func Broken(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, driver.ErrBadConn)
}

// Classed returns the error with its class attached; of ClassOther, the error unchanged.
func Classed(class filewise.Class, err error) error {
	if class == filewise.ClassOther {
		return err
	}
	return &filewise.Classed{Class: class, Err: err}
}
