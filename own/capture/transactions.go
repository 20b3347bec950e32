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

// Parameter is a parameter of a study, with its generator.
type Parameter struct {
	Name string `json:"name"`
	Draw string `json:"draw"` // as the study writes it
	Of   string `json:"of"`   // the column
	Note string `json:"note,omitempty"`
}

// write makes the study's transactions from the observed kinds.
func (t *taking) write(kinds []kind) {
	t.drawn = map[string]string{}
	names := map[string]int{}
	var calls, seconds float64
	var kept []kind
	for _, k := range kinds {
		x := Transaction{}
		why := ""
		linked, inserted, fill := map[at]link{}, map[string]int{}, len(t.Fill)
		for i := range k.shapes {
			text, problem := t.statement(&k, i, linked, inserted)
			x.SQL, why = append(x.SQL, text), cmp.Or(why, problem)
		}
		if why != "" {
			t.leave(k, why)
			t.Fill = t.Fill[:fill] // nothing of it is in the study
			continue
		}
		x.Name = t.nameOf(k)
		if names[x.Name]++; names[x.Name] > 1 {
			x.Name = fmt.Sprintf("%s_%d", x.Name, names[x.Name])
		}
		t.Transactions, kept = append(t.Transactions, x), append(kept, k)
		calls, seconds = calls+k.calls, seconds+k.seconds
	}
	for i, k := range kept {
		x := &t.Transactions[i]
		x.Share, x.TimeShare = share(k.calls, calls), share(k.seconds, t.Time)
		x.Weight = max(int(math.Round(10000*x.Share)), 1)
	}
	if t.Covered = share(seconds, t.Time-t.controlTime); t.Time == 0 {
		t.Covered = share(calls, t.Calls-t.controls)
	}
}

// nameOf returns a transaction's name, made of its statements' actions and tables.
func (t *taking) nameOf(k kind) string {
	var parts []string
	for i, s := range k.shapes {
		part := strings.ToLower(strings.Trim(firstWord(k.texts[i]), "("))
		if len(s.Tables) > 0 {
			part += "_" + s.Tables[0]
		}
		if n := len(parts); n == 0 || parts[n-1] != part {
			parts = append(parts, part)
		}
	}
	return plain(strings.Join(parts, "_"))
}

var notPlain = regexp.MustCompile(`[^A-Za-z0-9]+`)

// plain reduces a name to plain letters, digits and _.
func plain(name string) string {
	name = strings.Trim(notPlain.ReplaceAllString(name, "_"), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "x_" + name
	}
	return strings.TrimRight(name[:min(len(name), 30)], "_")
}

// statement returns the text of statement i of a kind, with parameters in the place of values. problem is the reason if
// that is not possible.
func (t *taking) statement(k *kind, i int, linked map[at]link, inserted map[string]int) (text, problem string) {
	s := k.shapes[i]
	limited := false
	for _, v := range s.Values {
		limited = limited || v.Use == filewise.UseLimit
	}
	of := statement{taking: t, Shape: s, kind: k, rows: k.rows / max(k.calls, 1), limited: limited, times: map[string]int{},
		numbers: map[int]string{}, together: map[string][]string{}, linked: linked, inserted: inserted}
	for n, v := range s.Values {
		of.ranged = v.Use == filewise.UseLower && slices.ContainsFunc(s.Values[n+1:], func(u filewise.ValueUse) bool {
			return u.Use == filewise.UseUpper && u.Column == v.Column && u.Table == v.Table
		})
		of.at = at{i, n}
		said, err := of.value(v)
		if err != "" {
			return "", err
		}
		text += s.Pieces[n] + said
	}
	return text + s.Pieces[len(s.Values)], ""
}

// statement is a statement whose values are being replaced by parameters.
type statement struct {
	*taking
	filewise.Shape
	kind    *kind
	at      at      // the place of the present value
	rows    float64 // rows that a call returns or changes on average
	limited bool
	ranged  bool           // the value is the lower bound of a range
	times   map[string]int // how often a parameter was used
	numbers map[int]string // texts in the place of values, by the values' numbers
	// together holds the conditions that find the parent's row for a foreign key of several columns, by these columns.
	together map[string][]string
	linked   map[at]link
	inserted map[string]int // how often a parameter was used for new rows of the transaction, as no two may have the same key
	lower    string         // the parameter of the preceding lower bound
	lowerOf  string
}

// column returns the table and the column that a value belongs to.
func (s *statement) column(v filewise.ValueUse) (filewise.TableFacts, filewise.ColumnFacts, bool) {
	tables := s.Tables
	if v.Table != "" {
		tables = []string{v.Table}
	}
	for _, name := range tables {
		for _, c := range s.tables[name].Columns {
			if strings.EqualFold(c.Name, v.Column) {
				return s.tables[name], c, true
			}
		}
	}
	return filewise.TableFacts{}, filewise.ColumnFacts{Type: v.Type}, false
}

// fixed returns the text in place of a value that is not drawn, or an empty text if the value is drawn.
func (s *statement) fixed(v filewise.ValueUse) string {
	switch {
	case v.Use == filewise.UseOther && v.Text == "" && v.Literal == "1" && s.rows == 0 && strings.HasPrefix(s.Pieces[0], "SELECT"):
		return "0" // nothing was found: an empty set of an ORM, as in WHERE 1=0
	case v.Literal != "":
		return v.Literal
	case v.Use == filewise.UseLimit:
		return fmt.Sprint(int64(max(math.Ceil(s.rows), 1)))
	case v.Use == filewise.UseOffset:
		return "0"
	case v.Use == filewise.UseSpan:
		return "'1 day'"
	}
	return ""
}

// assumedLength is the number of values in a generated array if the server does not report the array's length.
const assumedLength = 5

// assumed notes that the statement has an assumed constant, which the server does not report. The statement runs with
// it, but may do something else.
func (s *statement) assumed(v filewise.ValueUse, text string) {
	span, compared := v.Use == filewise.UseSpan, v.Use == filewise.UseOther // with another constant
	if v.Text != "" || v.Constant != "" || !span && !compared && !strings.HasPrefix(text, "'") {
		return
	}
	if span {
		text = "INTERVAL " + text
	}
	if compared {
		text = "1 = " + text
	}
	s.Fill = append(s.Fill, Column{Name: text, Why: "a constant in " + brief(strings.Join(s.Pieces, "?"))})
}

// array returns an array of generated values for the column that it is compared with.
func (s *statement) array(v filewise.ValueUse) (text, problem string) {
	kind, number := v.Said, v.Number
	v.Said, v.Constant, v.Number = "", "", 0 // each element is a separate value
	all := make([]string, strings.Count(v.Text, ",")+1)
	if v.Text == "" {
		all = make([]string, assumedLength)
	}
	for i := range all {
		if all[i], problem = s.value(v); problem != "" {
			return "", problem
		}
	}
	text = "ARRAY[" + strings.Join(all, ", ") + "]::" + kind
	if number > 0 {
		s.numbers[number] = text
	}
	return text, ""
}

// settled returns the text in the place of a value that need not be drawn. ok is false if the value has to be drawn.
func (s *statement) settled(v filewise.ValueUse) (text string, ok bool) {
	if printed := s.numbers[v.Number]; v.Number > 0 && printed != "" {
		return printed, true
	}
	if text, ok := s.partOfKey(v); ok {
		return text, true
	}
	if text = s.fixed(v); text != "" {
		s.assumed(v, text)
		return text, true
	}
	table, c, known := s.column(v)
	if ok = v.Constant != "" && (!known || s.constant(v, c, table)); ok && known && v.Use == filewise.UseInsert {
		for _, f := range table.Foreign {
			if n := slices.Index(f.Columns, c.Name); n >= 0 {
				s.join(f, n, func([]string) string { return v.Constant })
			}
		}
	}
	return v.Constant, ok
}

// value returns the text in the place of a value.
func (s *statement) value(v filewise.ValueUse) (text, problem string) {
	if text, ok := s.settled(v); ok {
		return text, ""
	}
	table, c, known := s.column(v)
	if known && strings.HasSuffix(v.Said, "[]") && c.Type != filewise.TypeUnknown {
		return s.array(v)
	}
	number := v.Type == filewise.TypeNumber && c.Type == filewise.TypeWhole && wholeNumeric.MatchString(c.Said)
	if v.Type != filewise.TypeUnknown && (v.Type != c.Type || !known) && !number {
		c = filewise.ColumnFacts{Type: v.Type} // the value is compared with something else
		known = false
	}
	if problem = s.undrawable(v, table, c, known); problem != "" {
		return "", problem
	}
	of := table.Name + "." + c.Name
	if !known {
		of = cmp.Or(string(c.Type), "value")
	}
	if v.Use == filewise.UseUpper && s.lower != "" && s.lowerOf == of && c.Type == filewise.TypeWhole {
		return fmt.Sprintf(":%s + %d", s.lower, s.width(table, c)), ""
	}
	fresh := v.Use == filewise.UseInsert && c.Unique && c.Parent == ""
	if fresh && c.Fresh != "" && (c.Type != filewise.TypeUUID || !s.referred()) {
		return c.Fresh, ""
	}
	if text, ok := s.again(v, table, c, known); ok {
		return text, ""
	}
	if known && v.Use == filewise.UseInsert {
		c = s.keyed(c)
		c.Composite = c.Composite && !s.of().once()
	}
	d := drawing{ColumnFacts: c, use: v.Use, known: known, part: s.part(table)}
	if known {
		d.withheld = s.why[table.Name+"."+c.Name]
	}
	if _, is := s.logged(d); d.breaks() && !is {
		return "", d.broken(of)
	}
	if d.paired = s.ranged || v.Use == filewise.UseUpper && s.lowerOf == of; d.paired {
		d.part = 1
	}
	name := s.parameter(table, of, v.Use, d)
	if v.Use == filewise.UseLower {
		s.lower, s.lowerOf = name, of
	}
	text = ":" + name
	s.linked[s.at] = link{text, c.Type, fresh}
	if v.Use == filewise.UseInsert || v.Use == filewise.UseSet {
		text = s.existing(table, c, text)
	}
	if v.Number > 0 {
		s.numbers[v.Number] = text
	}
	return text, ""
}

// undrawable returns why no value can be drawn, or an empty text if one can.
func (s *statement) undrawable(v filewise.ValueUse, table filewise.TableFacts, c filewise.ColumnFacts, known bool) string {
	_, is := s.of().draw(v.Type)
	if !known && v.Said != "" && !is {
		return "a value is of type " + v.Said + ", for which a study draws none"
	}
	if known && c.Type == filewise.TypeUnknown && (!is || s.why[table.Name+"."+c.Name] != "") {
		return fmt.Sprintf("column %s.%s is of type %s, for which a study draws no values", table.Name, c.Name, c.Said)
	}
	return ""
}

// part returns the share of a table's rows that a one-sided bound may leave. It is 1 if a LIMIT ends the result anyway.
func (s *statement) part(t filewise.TableFacts) float64 {
	if s.limited || t.Rows <= 0 {
		return 1
	}
	return min(max(2*max(s.rows, 50)/t.Rows, 0.0001), 0.05)
}

// width returns the length of a range of whole numbers that holds as many rows as the statement returned. If the
// statement returned one row, it may be a sum over several: 100 rows are assumed.
func (s *statement) width(t filewise.TableFacts, c filewise.ColumnFacts) int64 {
	rows := s.rows
	if rows <= 1 {
		rows = 100
	}
	low, high, ok := whole(c)
	if !ok || t.Rows <= 0 {
		return int64(rows)
	}
	return int64(max(rows*float64(high-low+1)/t.Rows-1, 1))
}

// suffixes holds the ends of parameter names that distinguish the uses of one column's values.
var suffixes = map[filewise.Use]string{filewise.UseLower: "from", filewise.UseUpper: "to", filewise.UseSet: "new",
	filewise.UseInsert: "insert", filewise.UseAdd: "add", filewise.UsePattern: "like", filewise.UseWords: "search"}

// parameter returns the name of the parameter for a column and use, and makes the parameter if it is new.
func (s *statement) parameter(table filewise.TableFacts, of string, use filewise.Use, d drawing) string {
	base := of
	logged, ok := s.logged(d)
	if d.known {
		base = table.Name[strings.LastIndex(table.Name, ".")+1:] + "_" + d.Name
	}
	key := of + " " + suffixes[use]
	if use == filewise.UseLower || use == filewise.UseUpper {
		key = fmt.Sprintf("%s %v %.4f", key, d.paired, d.part)
	}
	times := s.times
	if use == filewise.UseInsert {
		times = s.inserted
	}
	times[key]++
	if n := times[key]; n > 1 {
		key = fmt.Sprint(key, " ", n)
	}
	own := ok || !d.known // the parameter is for this value alone
	if name, is := s.drawn[key]; is && !own {
		return name
	}
	base = plain(base)
	if suffixes[use] != "" {
		base += "_" + suffixes[use]
	}
	p := Parameter{Of: of}
	if p.Draw, p.Note = d.draw(); ok {
		p.Draw, p.Note = logged, "what the log has there"
	}
	name := s.made(base, p)
	if !own {
		s.drawn[key] = name
	}
	if s.noted(table, d); !d.known && !ok {
		s.Fill = append(s.Fill, Column{Name: name, Why: "a " + of + " in " + brief(strings.Join(s.Pieces, "?"))})
	}
	return name
}

// noted adds a parameter's column to the lists in the study's head.
func (s *statement) noted(table filewise.TableFacts, d drawing) {
	list := &s.Disclosed
	switch _, listed := d.chosen(); {
	case !d.known:
		return
	case d.withheld != "":
		list = &s.Withheld
	case d.Type != filewise.TypeText || !listed || d.Closed:
		return
	}
	c := Column{Name: table.Table + "." + d.Name, Why: d.withheld}
	if !slices.Contains(*list, c) {
		*list = append(*list, c)
	}
}

func (s *statement) taken(name string) bool {
	for _, p := range s.Parameters {
		if p.Name == name {
			return true
		}
	}
	return false
}
