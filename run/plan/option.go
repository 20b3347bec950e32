package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/nearest"
)

// Source is the origin of an option's value.
type Source int

// The sources, the weakest first: each takes precedence over the ones above it.
const (
	Usual    Source = iota // not set by anyone
	File                   // a study file
	Variable               // environment variable, which may be for other runs
	Given                  // flag, or code that fills the struct
)

// Opt is the value of an option. Until a value is given, it is the default.
type Opt[T any] struct {
	Value T
	From  Source
	usual T
}

// Of returns a given value.
func Of[T any](v T) Opt[T] { return Opt[T]{Value: v, From: Given} }

// Given reports whether anyone has set the value.
func (o *Opt[T]) Given() bool { return o.From != Usual }

// Holder is an *Opt of any type.
type Holder interface {
	Given() bool
	// Pointer returns a pointer to the value: a *string, *int, *[]Pair, …
	Pointer() any
	// Texts returns the value as flags take it, one text for each time that the flag is given.
	Texts() []string
	Source() Source
	SetSource(Source)
	// Forget resets the value to the default.
	Forget()
}

// Pointer implements Holder.
func (o *Opt[T]) Pointer() any { return &o.Value }

// Texts implements Holder.
func (o *Opt[T]) Texts() []string { return texts(o.Value) }

// Source implements Holder.
func (o *Opt[T]) Source() Source { return o.From }

// SetSource implements Holder.
func (o *Opt[T]) SetSource(s Source) { o.From = s }

// Forget implements Holder.
func (o *Opt[T]) Forget() { o.Value, o.From = o.usual, Usual }

// Option is a row of the table of options.
type Option struct {
	Name  string
	Usage string // a word in backquotes is the placeholder for the value
	To    Holder
	// Default is the default in words. It is empty if there is none.
	Default string
	// Alone is the value of the flag if it is given without one. If Alone is empty, the flag needs a value.
	Alone   string
	Choices []string   // all allowed values. None means any
	Bounds  [2]float64 // least and most of a number. Zero means no bounds here
	Keys    []string   // keys that mappings may have. None means any
	// Cores reports that "cores" (PerCore) is allowed as a number.
	Cores bool
	// Instead is the option that this one excludes. If both are given, the stronger source takes precedence.
	Instead string
	// Unrepeated reports that the command that repeats a plan leaves the option out, or adds it separately.
	Unrepeated bool
}

// Row returns an option's row, and sets the option to its default.
func Row[T any](to *Opt[T], name string, usual T, usage string) Option {
	to.usual = usual
	if to.From == Usual {
		to.Value = usual
	}
	return Option{Name: name, Usage: usage, To: to, Default: strings.Join(texts(usual), ",")}
}

func (o Option) oneOf(choices ...string) Option     { o.Choices = choices; return o }
func (o Option) between(least, most float64) Option { o.Bounds = [2]float64{least, most}; return o }
func (o Option) alone(value string) Option          { o.Alone = value; return o }
func (o Option) shownAs(usual string) Option        { o.Default = usual; return o }
func (o Option) withKeys(keys ...string) Option     { o.Keys = keys; return o }
func (o Option) insteadOf(name string) Option       { o.Instead = name; return o }
func (o Option) orCores() Option                    { o.Cores = true; return o }
func (o Option) unrepeated() Option                 { o.Unrepeated = true; return o }

// texts returns a value in the form that flags take.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case bool:
		return []string{strconv.FormatBool(v)}
	case float64:
		return []string{strconv.FormatFloat(v, 'g', -1, 64)}
	case time.Duration:
		return []string{v.String()}
	case []int:
		return []string{joined(v, ",")}
	case []string:
		return slices.Clone(v)
	case []Pair:
		return filewise.Each(v, Pair.String)
	case []LayoutSpec:
		return filewise.Each(v, LayoutSpec.String)
	}
	return []string{fmt.Sprint(v)}
}

func joined(numbers []int, between string) string {
	return strings.Join(filewise.Each(numbers, func(n int) string {
		if n == PerCore {
			return coresWord
		}
		return strconv.Itoa(n)
	}), between)
}

// Pair is NAME=VALUE.
type Pair struct {
	Name, Value string
	// Bare reports that there was no =, and Name is the whole argument.
	Bare bool
}

// ParsePair splits NAME=VALUE.
func ParsePair(text string) Pair {
	name, value, ok := strings.Cut(text, "=")
	return Pair{name, value, !ok}
}

func (p Pair) String() string {
	if p.Bare {
		return p.Name
	}
	return p.Name + "=" + p.Value
}

// Find returns the row of an option, or nil if there is none.
func Find(table []Option, name string) *Option {
	if i := slices.IndexFunc(table, func(o Option) bool { return o.Name == name }); i >= 0 {
		return &table[i]
	}
	return nil
}

// Choice returns the value of an option that has a few allowed values. Otherwise it returns a usage error that names
// the nearest one.
func Choice[T ~string](name, value string, known ...T) (T, error) {
	if i := slices.Index(known, T(value)); i >= 0 {
		return known[i], nil
	}
	return "", nearest.Unknown("--"+name, value, filewise.Each(known, func(k T) string { return string(k) }))
}

// checkChoices refuses given values that are not among an option's allowed values.
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

// maxBytes limits sizes, so that sums of sizes stay far from overflow.
const maxBytes = int64(1) << 60

// bytesOf parses a size such as 64MiB, 64M or 1.5 GB.
func bytesOf(name, value string) (int64, error) {
	const remedy = "give a size above 0 such as 512KiB, 64MiB or 1.5GB"
	n, err := humanize.ParseBytes(value)
	switch {
	case err != nil:
		return 0, filewise.Errorf(filewise.CodeUsage, remedy, "--%s %q is not a size", name, value)
	case n == 0 || n > uint64(maxBytes):
		return 0, filewise.Errorf(filewise.CodeUsage, remedy+", at most "+humanize.IBytes(uint64(maxBytes)), "--%s %q: out of range", name, value)
	}
	return int64(n), nil
}

// growthOf parses the step by which files grow. 0 means the server's own step, if it has one.
func (m *maker) growthOf(name, value string) (int64, error) {
	if n, err := humanize.ParseBytes(value); err == nil && n == 0 && m.About.OwnGrowth {
		return 0, nil
	}
	return bytesOf(name, value)
}

// BadValue refuses the value of an option.
func BadValue(name string, value any, remedy string) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "%s: invalid value", written(name, value))
}

// OutOfRange refuses a number, time or size that is too small or too large.
func OutOfRange(name string, value any, remedy string) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "%s: out of range", written(name, value))
}

// written returns an option with its value as a user types it.
func written(name string, value any) string {
	switch value {
	case true:
		return "--" + name
	case false:
		return "--" + name + "=false"
	}
	return fmt.Sprintf("--%s %v", name, value)
}

// value returns an option's value in the form that BadValue needs.
func (o Option) value() any {
	if on, is := o.To.Pointer().(*bool); is {
		return *on
	}
	return strings.Join(o.To.Texts(), ",")
}

// unfit marks the error of an option that the request cannot use. If the value comes from an environment variable, this
// is no mistake, since the variable may be for other runs.
type unfit struct{ name, or string } // or names what it does not go with; empty means nothing

func (unfit) Error() string { return "" }

// badUse returns the error for an option that does not go with the others.
func badUse(name string, value any, remedy string) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "%s: not possible here%w", written(name, value), unfit{name: name})
}
