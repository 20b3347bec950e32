package study

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/run/plan"
)

// numbersText matches several numbers in the form of a flag: 1,4,8.
var numbersText = regexp.MustCompile(`^\s*[0-9]+(\s*,\s*[0-9]+)*\s*$`)

var coresText = regexp.MustCompile(`^cores$`)

var countsText = regexp.MustCompile(`^\s*([0-9]+|cores)(\s*,\s*([0-9]+|cores))*\s*$`)

// specOf returns the specification of an option's key, from the type of its value.
func specOf(o plan.Option) *spec {
	switch v := o.To.Pointer().(type) {
	case *string:
		return &spec{Type: typeText, choices: o.Choices}
	case *int, *int64:
		return wholeOf(o)
	case *float64:
		return &spec{Type: typeNumber}
	case *bool:
		return &spec{Type: typeSwitch}
	case *time.Duration:
		return &spec{Type: typeTime}
	case *[]int:
		if o.Cores {
			return several("give them as [1, 4, 8] or [1, cores]", &spec{Type: either, how: "a number, or cores", either: []*spec{wholeOf(o),
				{Type: typeText, pattern: coresText}}}, &spec{Type: typeText, pattern: countsText})
		}
		return several("give them as [1, 4, 8]", wholeOf(o), &spec{Type: typeText, pattern: numbersText})
	case *[]string:
		return several("give them as a list, each behind a -", &spec{Type: typeText})
	case *[]plan.Pair:
		s := several("give them as NAME: VALUE, one in a line", &spec{Type: typeText})
		s.either = append(s.either, &spec{Type: named, of: &spec{Type: typeText}})
		return s
	case *[]plan.LayoutSpec:
		keys := &spec{Type: object}
		for _, name := range o.Keys {
			keys.fields = append(keys.fields, member{name, &spec{Type: typeText}})
		}
		const how = "give them as a list of mappings, such as - {files: 8, name: mine}"
		return several(how, &spec{Type: either, how: how, either: []*spec{{Type: typeText}, keys}})
	default:
		panic(fmt.Sprintf("option %s is of type %T, of which there is no key", o.Name, v)) // a mistake of this program
	}
}

func wholeOf(o plan.Option) *spec {
	s := &spec{Type: typeWhole}
	if o.Bounds != [2]float64{} {
		s.least, s.most = &o.Bounds[0], &o.Bounds[1]
	}
	return s
}

// several returns the specification of a value: a list of one, a single one, or one of the other forms.
func several(how string, one *spec, or ...*spec) *spec {
	return &spec{Type: either, how: how, either: append([]*spec{{Type: items, of: one}, one}, or...)}
}

// put sets an option to the value of a node, which was already checked.
func put(o plan.Option, n *node) (err error) {
	switch v := o.To.Pointer().(type) {
	case *string:
		*v = n.text
	case *int:
		*v = int(n.whole())
	case *int64:
		*v = n.whole()
	case *float64:
		*v, err = strconv.ParseFloat(n.text, 64)
	case *bool:
		*v = n.text == "true"
	case *time.Duration:
		*v, err = time.ParseDuration(n.text)
	case *[]int:
		*v = n.numbers()
	case *[]string:
		*v = n.texts()
	case *[]plan.Pair:
		*v, err = n.pairs()
	case *[]plan.LayoutSpec:
		*v, err = n.layouts()
	}
	if err == nil {
		o.To.SetSource(plan.File)
	}
	return err
}

// several returns the items of a list, or the single value.
func (n *node) several() []*node {
	if n.kind == kindList {
		return n.items
	}
	return []*node{n}
}

// numbers reads numbers from a list, a single number, or the form of a flag: 1,4,8.
func (n *node) numbers() []int {
	var all []int
	for _, item := range n.several() {
		for part := range strings.SplitSeq(item.text, ",") {
			v, _ := plan.ParseNumber(part) // checked already
			all = append(all, v)
		}
	}
	return all
}

func (n *node) texts() []string {
	return filewise.Each(n.several(), func(item *node) string { return item.text })
}

// pairs reads pairs from a mapping, or from texts NAME=VALUE.
func (n *node) pairs() ([]plan.Pair, error) {
	var all []plan.Pair
	for _, x := range n.fields {
		if strings.Contains(x.name, "=") {
			return nil, filewise.Errorf(filewise.CodeUsage, "give it as NAME: VALUE", "the name %q is not allowed", x.name)
		}
		all = append(all, plan.Pair{Name: x.name, Value: x.value.text})
	}
	if n.kind != kindMapping {
		for _, text := range n.texts() {
			all = append(all, plan.ParsePair(text))
		}
	}
	return all, nil
}

// layouts reads layouts from mappings, or from texts KEY=VALUE,…
func (n *node) layouts() (all []plan.LayoutSpec, err error) {
	for _, item := range n.several() {
		var spec plan.LayoutSpec
		if item.kind == kindMapping {
			spec = layoutOf(item.fields)
		} else if spec, err = plan.ParseLayout(item.text); err != nil {
			return nil, err
		}
		all = append(all, spec)
	}
	return all, nil
}

// layoutOf returns a layout from keys, with the name last. In a text the name must be last, since it may hold commas.
func layoutOf(keys []field) plan.LayoutSpec {
	var spec, name plan.LayoutSpec
	for _, x := range keys {
		p := plan.Pair{Name: x.name, Value: x.value.text}
		if p.Name == "name" {
			name = append(name, p)
		} else {
			spec = append(spec, p)
		}
	}
	return append(spec, name...)
}
