package customsql

import (
	"slices"
	"strings"

	"filewise"
)

// use sets the use of each value.
func (s *shaper) use() {
	setting := false
	s.pair()
	for i := range s.tokens {
		t := &s.tokens[i]
		switch {
		case t.is("SET"), t.is("UPDATE") && i > 0 && s.tokens[i-1].is("KEY"):
			setting = true
		case t.is("WHERE", "FROM", "RETURNING", "VALUES"):
			setting = false
		case t.kind == tokenValue && !s.transact && !s.upper && s.constant(i) != "":
			t.use = filewise.ValueUse{Literal: s.constant(i)}
			if !t.literal() && s.at(i-1).is("=") && s.at(i-2).kind == tokenValue && !s.among(i-2) {
				t.use.Use = filewise.UseOther
			}
		case t.kind == tokenValue:
			if t.use = s.useOf(i, setting); strings.EqualFold(t.use.Column, "ROWNUM") {
				t.use = filewise.ValueUse{Use: filewise.UseLimit}
			}
			u := t.use.Use
			constant := (s.transact || s.upper) && u == filewise.UseNone && len(t.text) < 6 && t.text[0] >= '0' && t.text[0] <= '9'
			if t.literal() && (u == filewise.UseLimit || u == filewise.UseSpan || u == filewise.UseOffset || constant) {
				t.use.Literal = t.text
			}
			s.partOf(i)
		}
	}
}

// partOf notes the column that an expression with the value makes, in a row that is inserted.
func (s *shaper) partOf(i int) {
	if t := &s.tokens[i]; t.use.Column == "" && len(s.into) > 0 {
		for open := s.opening(i); open > 0; open = s.opening(open) {
			if s.at(open-1).is("VALUES", "VALUE", ",") {
				if n := s.items(open+1, i) - 1; n < len(s.into) && s.opening(open) < 0 {
					t.use.Table, t.use.Part = s.intoOf, s.into[n]
				}
				return
			}
		}
	}
}

// literal reports whether the token is the text of a value.
func (t token) literal() bool {
	return t.kind == tokenValue && strings.IndexByte("?$@:", t.text[0]) < 0
}

// at returns token i, or an empty one beyond the ends.
func (s *shaper) at(i int) token {
	if i < 0 || i >= len(s.tokens) {
		return token{kind: tokenSign}
	}
	return s.tokens[i]
}

var comparing = []string{"=", "<", ">", "<=", ">=", "<>", "!=", "LIKE", "ILIKE", "REGEXP", "~", "~*"}

func (s *shaper) useOf(i int, setting bool) filewise.ValueUse {
	if u, ok := s.inRow(i, setting); ok {
		return u
	}
	if s.at(i+1).is("+", "-") && s.at(i+2).is("INTERVAL") {
		return filewise.ValueUse{Type: filewise.TypeTime}
	}
	before := i - 1
	for s.at(before).is("-", "(") && s.at(before-1).is(append(comparing, "BETWEEN", "-", "(")...) {
		before--
	}
	switch t := s.at(before); {
	case t.is("LIMIT", "TOP"), t.is("(") && s.at(before-1).is("TOP"), t.is("NEXT", "FIRST") && s.at(before-1).is("FETCH"):
		return filewise.ValueUse{Use: filewise.UseLimit}
	case t.is(",") && s.at(before-1).use.Use == filewise.UseLimit: // LIMIT offset, rows
		s.tokens[before-1].use.Use = filewise.UseOffset
		return filewise.ValueUse{Use: filewise.UseLimit}
	case t.is("OFFSET"):
		return filewise.ValueUse{Use: filewise.UseOffset}
	case t.is("INTERVAL"):
		return filewise.ValueUse{Use: filewise.UseSpan, Literal: s.span}
	case t.is("(") && s.at(before-1).is("AGAINST"): // words to search for
		return filewise.ValueUse{Use: filewise.UseWords, Type: filewise.TypeText}
	case t.is("(") && s.at(before-1).is("UUID_TO_BIN"):
		return filewise.ValueUse{Type: filewise.TypeUUID}
	case t.is("BETWEEN"):
		return s.column(s.skipNot(before-1), filewise.UseLower)
	case t.is("AND") && s.at(before-2).is("BETWEEN") && s.at(before-1).kind == tokenValue:
		u := s.at(before - 1).use
		u.Use = filewise.UseUpper
		return u
	case s.transact && t.is("=") && s.at(before-1).is("+", "-"):
		return s.column(before-2, filewise.UseAdd)
	case t.is(comparing...):
		return s.compared(before, setting)
	case t.is("+", "-") && (s.at(before-1).name() != "" || s.at(before-1).is(")") && s.column(before-1, "").Column != ""):
		return s.column(before-1, filewise.UseAdd)
	}
	if s.at(i + 1).is(comparing...) {
		if u := s.column(s.forward(i+2), mirrored(s.at(i+1).text)); u.Column != "" {
			return u
		}
	}
	return s.inList(i)
}

// compared returns the use of a value after an operator.
func (s *shaper) compared(operator int, setting bool) filewise.ValueUse {
	t := s.at(operator)
	use := filewise.UseOther
	switch strings.ToUpper(t.text) {
	case "=":
		use = filewise.UseEqual
		if setting {
			use = filewise.UseSet
		}
	case "<", "<=":
		use = filewise.UseUpper
	case ">", ">=":
		use = filewise.UseLower
	case "LIKE", "ILIKE", "REGEXP", "~", "~*":
		use = filewise.UsePattern
	}
	return s.column(s.skipNot(operator-1), use)
}

// mirrored returns the use of a value before an operator.
func mirrored(operator string) filewise.Use {
	switch operator {
	case "=":
		return filewise.UseEqual
	case "<", "<=":
		return filewise.UseLower
	case ">", ">=":
		return filewise.UseUpper
	}
	return filewise.UseOther
}

func (s *shaper) skipNot(i int) int {
	if s.at(i).is("NOT") {
		return i - 1
	}
	return i
}

// forward returns the end of a path that begins at i.
func (s *shaper) forward(i int) int {
	if s.at(i).name() != "" && s.at(i+1).is(".") {
		return i + 2
	}
	return i
}

// sameValue lists the functions whose values are like their argument's.
var sameValue = []string{"LOWER", "UPPER", "LCASE", "UCASE", "TRIM", "LTRIM", "RTRIM", "BTRIM", "UNACCENT", "BINARY", "COALESCE", "IFNULL",
	"ISNULL", "NVL", "MIN", "MAX", "AVG", "ABS", "TRUNC", "DATE"}

// instead lists the functions of these that have a value for NULL.
var instead = []string{"COALESCE", "IFNULL", "ISNULL", "NVL"}

// column reads the column that ends at a place: a, t.a, lower(a). The value of another function is no column's.
func (s *shaper) column(end int, use filewise.Use) filewise.ValueUse {
	u := filewise.ValueUse{Use: use}
	end = s.uncast(end)
	if s.at(end).is(")") {
		open := s.opening(end)
		if f := s.at(open - 1).name(); f != "" && !slices.Contains(sameValue, strings.ToUpper(f)) {
			return u
		}
		if end--; s.at(end).kind == tokenValue && s.at(open-1).is(instead...) {
			end = s.forward(open + 1)
		}
	}
	u.Column = s.at(end).name()
	if u.Column == "" {
		return u
	}
	if s.at(end - 1).is(".") {
		u.Table = s.aliases[s.called(s.at(end-2).name())]
	} else if len(s.tables) == 1 {
		u.Table = s.tables[0]
	}
	return u
}

// uncast returns the end of what is cast to another type by an expression that ends at a place: of a.b in a.b::text.
func (s *shaper) uncast(end int) int {
	last := end
	if s.at(last).is("]") && s.at(last-1).is("[") {
		last -= 2
	}
	if s.at(last).is(")") {
		last = s.opening(last) - 1
	}
	switch t := s.at(last); {
	case t.is("ZONE"): // TIMESTAMP WITH TIME ZONE
		last -= 3
	case t.is("VARYING", "PRECISION"):
		last--
	case s.at(last - 1).is("."):
		last -= 2
	}
	if last > 1 && s.at(last-1).is("::") {
		return s.uncast(last - 2)
	}
	return end
}

// inList returns the use of a value in IN (…), or in an inserted row.
func (s *shaper) inList(i int) filewise.ValueUse {
	open := s.opening(i)
	before := s.at(open - 1)
	switch {
	case open < 0:
	case before.is("IN", "ANY", "ALL"):
		end := s.skipNot(open - 2)
		if s.at(end).is(comparing...) {
			end = s.skipNot(end - 1)
		}
		return s.column(end, filewise.UseOther)
	case before.is(instead...) && s.at(i-1).is(",") && s.at(i-2).name() != "":
		return s.column(i-2, filewise.UseOther)
	case before.is("VALUES", "VALUE", ",") && (s.at(i-1).is("(", ",", "-") && s.at(i+1).is(")", ",", "::")):
		if n := s.items(open+1, i) - 1; n < len(s.into) {
			return filewise.ValueUse{Table: s.intoOf, Column: s.into[n], Use: filewise.UseInsert}
		}
		if s.transact {
			return filewise.ValueUse{Use: filewise.UseInsert}
		}
	}
	return filewise.ValueUse{}
}

// inRow returns the use of a value in a row that is compared with a row of columns: (a, b) > (1, 2), (a, b) IN ((1, 2)).
func (s *shaper) inRow(i int, setting bool) (u filewise.ValueUse, ok bool) {
	open := s.opening(i)
	ends, use := s.row(open, setting)
	if len(ends) == 0 {
		return u, false
	}
	n := s.items(open+1, i) - 1
	if n >= len(ends) || !s.at(i-1).is("(", ",", "-") || !s.at(i+1).is(")", ",", "::") {
		return u, false
	}
	if n > 0 && (use == filewise.UseLower || use == filewise.UseUpper) {
		use = filewise.UseOther // the first column bounds the rows
	}
	return s.column(ends[n], use), true
}

// row returns the ends of the columns with which the row in a bracket is compared, and the use of its values. It
// returns no columns if the bracket holds no such row.
func (s *shaper) row(open int, setting bool) (ends []int, use filewise.Use) {
	if open <= 0 {
		return nil, ""
	}
	operator := open - 1
	if s.at(operator).is("ROW") {
		operator--
	}
	switch {
	case s.at(operator).is("(", ","):
		if list := s.listOf(open); list > 0 && s.at(list-1).is("IN") {
			left := s.skipNot(list - 2)
			ends, use = s.columns(s.opening(left), left), filewise.UseOther
		}
	case s.at(operator).is(comparing...):
		ends, use = s.columns(s.opening(operator-1), operator-1), s.compared(operator, setting).Use
	default:
		next := s.closing(open) + 1
		first := next + 1
		if s.at(first).is("ROW") {
			first++
		}
		if s.at(next).is(comparing...) && s.at(first).is("(") {
			ends, use = s.columns(first, s.closing(first)), mirrored(s.at(next).text)
		}
	}
	return ends, use
}

// listOf returns the bracket around a row's. It returns -1 without looking if no statement's list can hold rows, since an
// insert may have thousands.
func (s *shaper) listOf(open int) int {
	if !s.lists {
		return -1
	}
	return s.opening(open)
}

// columns returns the ends of the columns of a row between two brackets. It returns nil if these hold no row of columns.
func (s *shaper) columns(open, closing int) (ends []int) {
	if open < 0 || !s.at(open).is("(") || !s.at(closing).is(")") || s.at(open-1).name() != "" && !s.at(open-1).is("ROW") {
		return nil
	}
	for i := open + 1; i <= closing; i++ {
		switch t := s.at(i); {
		case t.is(",") || i == closing:
			if s.at(i-1).name() == "" {
				return nil
			}
			ends = append(ends, i-1)
		case t.name() == "" && !t.is("."):
			return nil
		}
	}
	return ends
}
