package capture

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"filewise"
)

// leastCalls is the number of calls from which a value that never varied is taken for a constant of the program, even
// if its column is known. leastWords is the number for a text, which may be personal.
const leastCalls, leastWords = 5, 2

// constant returns the constants in text number of. A constant that may be personal, or is too long, is left empty.
func (k *kind) constant(of int) []string {
	if of >= len(k.values) {
		return nil
	}
	all := make([]string, len(k.values[of].of))
	for i, l := range k.values[of].of {
		c := l.text
		all[i] = c
		text := strings.HasSuffix(c, "'") || strings.HasSuffix(c, `"`)
		if text && (k.calls < leastWords || personalValue.MatchString(c) || len(c) > 2*longest) {
			all[i] = ""
		}
	}
	return all
}

// constant reports whether a value that never varied appears in the study although its column is known.
func (s *statement) constant(v filewise.ValueUse, c filewise.ColumnFacts, t filewise.TableFacts) bool {
	fresh := v.Use == filewise.UseInsert && (c.Unique && !(c.Composite && s.renewed()) || c.Parent != "")
	why := s.why[t.Name+"."+c.Name]
	code := s.kind.calls >= leastCode && (why == rare || why == single) && programCode.MatchString(v.Constant)
	return s.kind.calls >= leastCalls && !fresh && (why == "" || code)
}

// programCode matches a text that, if many calls share it, comes from a program and not from a person: a client's number, or a name as
// programs give them. leastCode is the number of these calls.
var programCode = regexp.MustCompile(`^'(?:[^'@]{0,4}|[A-Z0-9]+(?:_[A-Z0-9]+)+ *)'$`)

const leastCode = 20

// mostDays limits the days that are added to a moment in a key.
const mostDays = 20_000

// partOfKey draws the value that an expression adds to the last column of a new row's unique key. A constant would make
// a key that exists already.
func (s *statement) partOfKey(v filewise.ValueUse) (text string, ok bool) {
	if v.Part == "" || v.Constant != "" {
		return "", false
	}
	of := v
	of.Column = v.Part
	table, c, known := s.column(of)
	whole := v.Type == filewise.TypeUnknown || v.Type == filewise.TypeWhole
	word := v.Type == filewise.TypeText && s.of().words() && c.Type != filewise.TypeTime
	if !known || !c.Unique || v.Use != filewise.UseSpan && !whole && !word {
		return "", false
	}
	drawn := fmt.Sprintf("{int: {from: 1, to: %d}}", mostDays)
	switch most := cmp.Or(c.Most, 16); {
	case word:
		drawn = fmt.Sprintf("{text: {from: %d, to: %[1]d}}", min(most, 16))
	case c.Type == filewise.TypeWhole:
		c.Composite = true
		drawn, _ = drawing{ColumnFacts: c, use: filewise.UseInsert, known: true}.number()
	case c.Type != filewise.TypeTime: // digits of a text, or what a function makes of them
		drawn = fmt.Sprintf("{int: {from: 1, to: %.0f}}", math.Pow10(min(most, 15))-1)
	}
	name := s.made(plain(table.Table+"_"+c.Name)+"_part", Parameter{Of: table.Name + "." + c.Name,
		Draw: drawn, Note: "added, so that the key is new"})
	if v.Use == filewise.UseSpan && (v.Literal == "" || v.Literal[0] == '\'') { // a text with its unit
		return "'1 day' * :" + name, true
	}
	return ":" + name, true
}

// made adds a parameter named base. If the name is taken, it gets a number.
func (s *statement) made(base string, p Parameter) string {
	p.Name = base
	for n := 2; s.taken(p.Name); n++ {
		p.Name = fmt.Sprintf("%s_%d", base, n)
	}
	s.Parameters = append(s.Parameters, p)
	return p.Name
}

// keyed returns the facts of a column whose new values must all be keys of its parent table: they are drawn from the
// parent's range.
func (s *statement) keyed(c filewise.ColumnFacts) filewise.ColumnFacts {
	if !c.Unique || c.Parent == "" {
		return c
	}
	c.Unique, c.Fresh = false, ""
	c.Common, c.Shares = nil, nil
	for _, of := range s.parents[c.ParentTable].Columns {
		if of.Name == c.ParentColumn && of.Low != "" {
			c.Low, c.High, c.From, c.To = of.Low, of.High, of.From, of.To
		}
	}
	return c
}

// existing returns the SQL of a value that the parent table has: the first from the drawn value on, as keys have gaps.
// In a key of several columns, it is from the parent's row that the columns before it have chosen.
func (s *statement) existing(t filewise.TableFacts, c filewise.ColumnFacts, drawn string) string {
	own := func(parent string) bool { return strings.NewReplacer("`", "", `"`, "").Replace(parent) == t.Table }
	for _, f := range t.Foreign {
		n := slices.Index(f.Columns, c.Name)
		if n < 0 {
			continue
		}
		return s.join(f, n, func(where []string) string { return next(f.Parent, f.Keys[n], drawn, where, c.Type, own(f.Parent)) })
	}
	if c.Parent == "" {
		return drawn
	}
	return next(c.Parent, c.ParentKey, drawn, nil, c.Type, own(c.Parent))
}

// join makes a part of a foreign key of several columns, which the parts after it follow. If the row has that part
// already, it is another row.
func (s *statement) join(f filewise.ForeignKey, n int, part func(where []string) string) string {
	of := strings.Join(f.Columns, "\x00")
	if slices.ContainsFunc(s.together[of], func(where string) bool { return strings.HasPrefix(where, f.Keys[n]+" = ") }) {
		s.together[of] = nil
	}
	text := part(s.together[of])
	s.together[of] = append(s.together[of], f.Keys[n]+" = "+text)
	return text
}

// next returns the SQL of a table's least key from a drawn one on. If there is none, it is the greatest key. If own is set, the
// row goes into the same table, which MySQL reads only within a table of its own.
func next(table, key, drawn string, where []string, kind filewise.ColumnType, own bool) string {
	rest := ""
	if len(where) > 0 {
		rest = " WHERE " + strings.Join(where, " AND ")
	}
	all := strings.Join(append(slices.Clone(where), key+" >= "+drawn), " AND ")
	form := "COALESCE((SELECT MIN(%[1]s) FROM %[2]s WHERE %[3]s), (SELECT MAX(%[1]s) FROM %[2]s%[4]s))"
	if kind == filewise.TypeUUID { // servers have no MIN of UUIDs
		form = "COALESCE((SELECT %[1]s FROM %[2]s WHERE %[3]s ORDER BY %[1]s LIMIT 1), " +
			"(SELECT %[1]s FROM %[2]s%[4]s ORDER BY %[1]s DESC LIMIT 1))"
	}
	if own {
		form = "COALESCE((SELECT k FROM (SELECT %[1]s AS k FROM %[2]s WHERE %[3]s ORDER BY %[1]s LIMIT 1) x), " +
			"(SELECT k FROM (SELECT %[1]s AS k FROM %[2]s%[4]s ORDER BY %[1]s DESC LIMIT 1) x))"
	}
	return fmt.Sprintf(form, key, table, all, rest)
}
