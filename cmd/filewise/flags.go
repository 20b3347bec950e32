package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"filewise/run/plan"
)

// optionFlag is the flag of an option. Setting it marks the option as given.
type optionFlag struct {
	pflag.Value
	row plan.Option
}

// Set implements pflag.Value.
func (f optionFlag) Set(text string) error {
	err := f.Value.Set(text)
	if err == nil {
		f.row.To.SetSource(plan.Given)
	}
	return err
}

// rowOf returns the option that a flag sets, or nil if it sets none.
func rowOf(fl *pflag.Flag) *plan.Option {
	if f, ok := fl.Value.(optionFlag); ok {
		return &f.row
	}
	return nil
}

// registerOptions registers a flag for every option.
func registerOptions(fs *pflag.FlagSet, table ...plan.Option) {
	for _, row := range table {
		fl := plainFlag(row)
		fl.Value = optionFlag{fl.Value, row}
		fl.DefValue = row.Default
		if fl.DefValue == "0s" { // a default of 0s is not shown
			fl.DefValue = "0"
		}
		if row.Alone != "" {
			fl.NoOptDefVal = row.Alone
		}
		fs.AddFlag(fl)
	}
}

// filled returns an error for flags without a value. A script whose variable is empty, for example, must not do what is
// done without the flag.
func filled(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(fl *pflag.Flag) {
		value, row := fl.Value, rowOf(fl)
		if row != nil {
			value = value.(optionFlag).Value
		}
		list, isList := value.(pflag.SliceValue)
		empty := isList && (len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")) ||
			value.Type() == "string" && value.String() == ""
		if empty && (row == nil || row.Choices == nil) { // for options with choices, another error lists them
			err = cmp.Or(err, plan.BadValue(fl.Name, `""`, "give a value, or leave the flag out"))
		}
	})
	return err
}

// plainFlag returns a flag of the option's type.
func plainFlag(row plan.Option) *pflag.Flag {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	switch v := row.To.Pointer().(type) {
	case *string:
		fs.StringVar(v, row.Name, *v, row.Usage)
	case *bool:
		fs.BoolVar(v, row.Name, *v, row.Usage)
	case *int:
		fs.IntVar(v, row.Name, *v, row.Usage)
	case *int64:
		fs.Int64Var(v, row.Name, *v, row.Usage)
	case *float64:
		fs.Float64Var(v, row.Name, *v, row.Usage)
	case *time.Duration:
		fs.DurationVar(v, row.Name, *v, row.Usage)
	case *[]int:
		fs.Var(&plan.Numbers{To: v, Cores: row.Cores}, row.Name, row.Usage)
	case *[]string:
		fs.StringArrayVar(v, row.Name, *v, row.Usage)
	case *[]plan.Pair:
		fs.Var(&parsed[plan.Pair]{v, func(text string) (plan.Pair, error) { return plan.ParsePair(text), nil }}, row.Name, row.Usage)
	case *[]plan.LayoutSpec:
		fs.Var(&parsed[plan.LayoutSpec]{v, plan.ParseLayout}, row.Name, row.Usage)
	default:
		panic(fmt.Sprintf("option %s is of type %T, of which there is no flag", row.Name, v)) // a mistake in this program
	}
	return fs.Lookup(row.Name)
}

// parsed is a repeatable flag whose values are parsed one by one.
type parsed[T any] struct {
	to    *[]T
	parse func(string) (T, error)
}

// Set implements pflag.Value.
func (p *parsed[T]) Set(text string) error {
	if text == "" {
		return errors.New("there is no value")
	}
	v, err := p.parse(text)
	if err == nil {
		*p.to = append(*p.to, v)
	}
	return err
}

// String implements pflag.Value.
func (p *parsed[T]) String() string { return "" }

// Type implements pflag.Value.
func (p *parsed[T]) Type() string { return "stringArray" }
