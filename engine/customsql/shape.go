package customsql

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise"
)

// listed is the number of values that is assumed for a list if a server does not report the length.
const listed = 5

// Shape separates a statement from its values: literals, or a server's placeholders for them (?, $1, …). columns returns
// the columns of a table, for inserts that do not name them. The name of the database before a table's name is removed.
// A statement that a study must not hold is refused as not supported.
func (r Rules) Shape(text, database string, columns func(table string) ([]string, error)) (filewise.Shape, error) {
	s, err := r.divided(text, database, columns)
	if err != nil {
		return s, err
	}
	if err := r.refuse(Statement{Place: "in a study", Text: strings.Join(s.Pieces, ":v")}, false); err != nil {
		return s, fmt.Errorf("%w: %w", err, filewise.ErrUnsupported)
	}
	return s, nil
}

func (r Rules) divided(text, database string, columns func(table string) ([]string, error)) (filewise.Shape, error) {
	s, err := r.shaped(text, database, columns)
	return s.shape(r.Hash), err
}

// shaped returns the statement's tokens with the purpose of each value.
func (r Rules) shaped(text, database string, columns func(table string) ([]string, error)) (*shaper, error) {
	s := &shaper{tokens: r.tokens(text), aliases: map[string]string{}, transact: r.Transact, upper: r.Upper}
	if r.Hash {
		s.span = "1" // its unit stands behind it
	}
	if r.Qualified || r.Transact {
		s.dropDatabase(database)
	}
	for i := range s.tokens {
		s.lists = s.lists || s.tokens[i].is("IN") && s.at(i-1).is(")", "NOT")
	}
	s.findTables()
	err := s.findInserted(columns)
	s.expand()
	if r.Dollar {
		s.castTyped()
	} else if r.Hash {
		s.untyped()
	}
	s.use()
	if s.unclear && err == nil {
		err = fmt.Errorf("the server's digest does not show how many values a row has before and behind an expression; a log does (--log): %w",
			filewise.ErrUnsupported)
	}
	return s, err
}

// Masked returns a statement without its texts and most of its numbers, for servers that report them. Variables replace
// equal values, and ? replaces the others.
func (r Rules) Masked(text string) string {
	var b strings.Builder
	s, _ := r.divided(text, "", nil) // no columns are read
	for i, v := range s.Values {
		b.WriteString(s.Pieces[i])
		switch {
		case v.Literal != "":
			b.WriteString(v.Literal)
		case v.Number > 0:
			b.WriteString("@v" + strconv.Itoa(v.Number))
		default:
			b.WriteByte('?')
		}
	}
	return b.String() + s.Pieces[len(s.Values)]
}

type shaper struct {
	tokens  []token
	aliases map[string]string // table by what it is called
	tables  []string
	into    []string // the columns of rows that are inserted
	intoOf  string   // their table
	// transact is set for T-SQL, which allows INSERT without INTO and DELETE without FROM, and ignores the case of names.
	transact bool
	upper    bool   // texts hold their numbers, as T-SQL's do
	opens    []int  // by token: the bracket that it stands in. Nil before the tokens are final
	closes   []int  // by opening bracket: where it ends
	lists    bool   // a list of IN holds rows
	unclear  bool   // a digest omits values in two places of a row, without their numbers
	span     string // replacement for a number in INTERVAL; empty: a text
}

// arity maps functions to the number of arguments that they need.
var arity = map[string]int{"IF": 3, "JSON_SET": 3, "JSON_INSERT": 3, "JSON_REPLACE": 3, "JSON_CONTAINS": 3, "REPLACE": 3, "LPAD": 3,
	"RPAD": 3, "SUBSTRING_INDEX": 3, "REGEXP_REPLACE": 3, "CONVERT_TZ": 3, "MAKETIME": 3, "INSERT": 4}

// expand writes out the parts that a digest abbreviates: (...), and ?, ....
func (s *shaper) expand() {
	for i := 0; i < len(s.tokens); i++ {
		if s.tokens[i].kind != tokenDots {
			continue
		}
		more := listed
		open := s.opening(i)
		switch {
		case open < 0: // LIMIT ?, ?
			more = 1
		case open > 0 && s.tokens[open-1].is("VALUES", "VALUE", ",") && len(s.into) > 0:
			more = len(s.into) - s.items(open+1, s.closing(open)) + 1
			for _, t := range s.tokens[i+1 : min(s.closing(open), len(s.tokens))] {
				s.unclear = s.unclear || t.kind == tokenDots && more > 1
			}
		case open > 0 && !s.tokens[open-1].is("IN"): // of a function, and most that have several have two
			more = 2
			ends, _ := s.row(open, false)
			if n := cmp.Or(len(ends), arity[strings.ToUpper(strings.Trim(s.tokens[open-1].text, "`"))]); n > 0 {
				more = n - s.items(open+1, i) + 1
			}
		}
		var values []token
		for n := range max(more, 1) {
			if n > 0 {
				values = append(values, token{kind: tokenSign, text: ","})
			}
			values = append(values, token{kind: tokenValue, text: "?", spaced: n > 0})
		}
		s.tokens = slices.Replace(s.tokens, i, i+1, values...)
		i += len(values) - 1
	}
}

// shape puts the pieces together. If tight is set, it writes no space between a word and a bracket, because MySQL reads
// COUNT (*) as a user's function.
func (s *shaper) shape(tight bool) filewise.Shape {
	out := filewise.Shape{Tables: s.tables, Into: s.intoOf, Columns: s.into}
	var b strings.Builder
	for i, t := range s.tokens {
		bracket := tight && i > 0 && t.is("(") && s.tokens[i-1].kind == tokenWord
		if t.spaced && i > 0 && !bracket {
			b.WriteByte(' ')
		}
		if t.kind == tokenValue {
			if t.use.Number = t.number; t.literal() {
				t.use.Text = t.text
			}
			out.Pieces, out.Values = append(out.Pieces, b.String()), append(out.Values, t.use)
			b.Reset()
			continue
		}
		b.WriteString(t.text)
	}
	out.Pieces = append(out.Pieces, b.String())
	return out
}

// closing returns the index of the bracket that closes an opening one.
func (s *shaper) closing(open int) int {
	if s.closes != nil && s.at(open).is("(") {
		return s.closes[open]
	}
	depth := 0
	for i := open; i < len(s.tokens); i++ {
		if s.tokens[i].is("(") {
			depth++
		} else if s.tokens[i].is(")") {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s.tokens)
}

// items counts the items of a list.
func (s *shaper) items(from, to int) int {
	n, depth := 1, 0
	for _, t := range s.tokens[from:min(to, len(s.tokens))] {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 0:
			n++
		}
	}
	return n
}

// opening returns the index of the opening bracket around a token, or -1 if the token is not in brackets.
func (s *shaper) opening(i int) int {
	if s.opens != nil && i >= 0 && i < len(s.opens) {
		return s.opens[i]
	}
	depth := 0
	for i--; i >= 0; i-- {
		if s.tokens[i].is(")") {
			depth++
		} else if s.tokens[i].is("(") {
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// pair notes all brackets once. A list can have 20,000 values, each of which needs its bracket.
func (s *shaper) pair() {
	opens, closes := make([]int, len(s.tokens)), make([]int, len(s.tokens))
	var open []int
	for i, t := range s.tokens {
		if opens[i] = -1; t.is(")") && len(open) > 0 {
			closes[open[len(open)-1]] = i
			opens[i], open = open[len(open)-1], open[:len(open)-1]
			continue
		}
		if len(open) > 0 {
			opens[i] = open[len(open)-1]
		}
		if closes[i] = len(s.tokens); t.is("(") {
			open = append(open, i)
		}
	}
	s.opens, s.closes = opens, closes
}
