package plan_test

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/all"
	"filewise/run/plan"
)

// What is refused, or warned of, by URL.
var given = []map[string]string{
	{}, {"as-published": "true"}, {"cache": "buffer-cold"}, {"cache": "storage-cold"}, {"durability": "off"}, {"row-bytes": "9000"},
	{"rows": "1000"}, {"rows": "1000", "files": "1,2"}, {"files": "1,130"}, {"log-volume": "a"},
	{"size": "1MiB"}, {"size": "100GiB", "files": "1,2"}, {"builds": "3"},
}

// flagged is a flag in a remedy, with the word before it and its value.
var flagged = regexp.MustCompile(`(?:(more|fewer|larger|smaller|leave) )?--([a-z][a-z0-9-]*)(?: ([a-z0-9][A-Za-z0-9.-]*))?`)

// Remedies never lead to a refusal: following an error's or a warning's advice gives a plan.
func TestRemediesArePlanned(t *testing.T) {
	engines := plan.Engines(slices.DeleteFunc(all.Engines(), func(e filewise.Engine) bool { // others look for their programs
		return e.Name() != "oracle" && e.Name() != "sqlserver"
	}))
	followed, tried := map[string]bool{}, map[string]bool{}
	for _, url := range []string{"oracle://u@h/s", "sqlserver://u@h"} {
		for _, scenario := range []string{"inserts", "orders", "dml", "scan", "backup"} {
			for _, flags := range given {
				o := engines.New()
				o.Scenario, o.Target = scenario, plan.Of(url)
				o.Budget = plan.Of(time.Hour) // what a longer window takes is another question
				o.Volumes = plan.Of([]plan.Pair{{Name: "a", Value: "/u01"}, {Name: "b", Value: "/u02"}})
				for name, value := range flags {
					set(t, o, name, value)
				}
				for _, remedy := range remedies(t, engines, o) {
					if tried[url+scenario+remedy] {
						continue
					}
					tried[url+scenario+remedy] = true
					if published, is := strings.CutPrefix(remedy, "with --as-published, "); is {
						as, other, _ := strings.Cut(published, "; else ")
						remedy = map[bool]string{true: as, false: other}[o.AsPublished.Value]
					}
					for _, m := range flagged.FindAllStringSubmatch(remedy, -1) {
						if again := o.Clone(); follow(t, again, m) {
							followed[m[0]] = true
							if _, err := planned(t, engines, again); err != nil {
								t.Errorf("%s %s %v: %q leads to %v; %s", url, scenario, flags, m[0], err, filewise.RemedyOf(err))
							}
						}
					}
				}
			}
		}
	}
	if len(followed) < 8 {
		t.Errorf("only %v were tried", followed)
	}
	t.Logf("%d remedies", len(followed))
}

// A size that is too small is refused with the size that works for all layouts, rather than for the first.
func TestLeastSize(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for _, engine := range []string{"sqlite", "mariadb"} {
		o := engines.New()
		o.Engine, o.Volumes = plan.Of(engine), plan.Of([]plan.Pair{{Name: "here", Value: t.TempDir()}})
		set(t, o, "size", "1")
		_, err := planned(t, engines, o)
		least := regexp.MustCompile(`^use --size (\S+) or more`).FindStringSubmatch(filewise.RemedyOf(err))
		if least == nil {
			t.Errorf("%s: %v; %s", engine, err, filewise.RemedyOf(err))
			continue
		}
		set(t, o, "size", least[1])
		if _, err := planned(t, engines, o); err != nil {
			t.Errorf("%s, %s: %v; %s", engine, least[1], err, filewise.RemedyOf(err))
		}
		if p, err := engines.Make(o); err != nil || len(p.Plan.LeftOut) > 0 {
			t.Errorf("%s, %s: %v left out, %v", engine, least[1], p.Plan.LeftOut, err)
		}
	}
}

// planned are the warnings of a plan and of its scripts.
func planned(t *testing.T, engines plan.Engines, o *plan.Options) ([]filewise.Warning, error) {
	t.Helper()
	p, err := engines.Make(o)
	if err != nil {
		return nil, err
	}
	all, err := plan.Scripts(p.Engine, p.Plan, program(t, p))
	if err != nil {
		return nil, err
	}
	return all[len(all)-1].Warnings, nil
}

// remedies returns the advice of the error, or of each warning.
func remedies(t *testing.T, engines plan.Engines, o *plan.Options) (out []string) {
	t.Helper()
	warnings, err := planned(t, engines, o)
	if err != nil {
		return []string{filewise.RemedyOf(err)}
	}
	for _, w := range warnings {
		if !slices.Contains(out, w.Remedy) {
			out = append(out, w.Remedy)
		}
	}
	return out
}

// follow applies a remedy. False means it names no value.
func follow(t *testing.T, o *plan.Options, m []string) bool {
	t.Helper()
	word, name, value := m[1], m[2], m[3]
	row := plan.Find(o.Table(), name)
	switch {
	case row == nil:
		return false
	case word == "leave":
		row.To.Forget()
		return true
	case word == "fewer" && name == "files":
		value = "1,2"
	case word != "" || value == "" || slices.Contains([]string{"or", "and", "to", "of", "with", "out", "where", "every", "a"}, value):
		return false
	case strings.Contains(name, "volume"): // NAME=DIR
		return false
	}
	set(t, o, name, value)
	return true
}

// set gives an option a value as a flag takes it.
func set(t *testing.T, o *plan.Options, name, value string) {
	t.Helper()
	row := plan.Find(o.Table(), name)
	if row == nil {
		t.Fatalf("there is no option --%s", name)
	}
	n, err := strconv.ParseFloat(value, 64)
	switch p := row.To.Pointer().(type) {
	case *string:
		*p, err = value, nil
	case *bool:
		*p, err = true, nil
	case *int:
		*p = int(n)
	case *int64:
		*p = int64(n)
	case *float64:
		*p = n
	case *[]string:
		*p, err = strings.Split(value, ","), nil
	case *[]int:
		*p = nil
		for text := range strings.SplitSeq(value, ",") {
			one, wrong := strconv.Atoi(text)
			*p, err = append(*p, one), wrong
		}
	case *time.Duration:
		*p, err = time.ParseDuration(value)
	default:
		t.Fatalf("--%s is a %T", name, p)
	}
	if err != nil {
		t.Fatalf("--%s %s: %v", name, value, err)
	}
	row.To.SetSource(plan.Given)
}

// Temporary files are compared elsewhere if an engine has none to choose, and by the flags that its remedy names.
func TestTemporaryFilesElsewhere(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for flag, value := range map[string]string{"engine": "sqlite", "target": "mariadb://u@h/"} {
		o := engines.New()
		o.Scenario = "temp"
		set(t, o, flag, value)
		_, err := engines.Make(o)
		for _, want := range []string{"--engine mariadb or postgres", "--target sqlserver://USER@HOST"} {
			if remedy := filewise.RemedyOf(err); !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(remedy, want) {
				t.Errorf("temp on %s: %v → %s: no %s", value, err, remedy, want)
			}
		}
	}
	o := engines.New()
	o.Scenario, o.Target = "temp", plan.Of("sqlserver://u@h")
	if p, err := engines.Make(o); err != nil || p.AA == "" {
		t.Errorf("temp on sqlserver: %v, %+v", err, p.Layouts)
	}
}
