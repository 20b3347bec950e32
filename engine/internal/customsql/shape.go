package customsql

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filewise"
)

// listed is how many values stand for a list whose length a server does not tell.
const listed = 5

// Shape divides a statement from its values: literals, and what a server has put in their
// place (?, $1, …). columns tells those of a table, for rows that are inserted without
// naming them; database is the one whose name is left out before a table's. What a study must
// not hold is not supported.
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
	s := shaper{tokens: r.tokens(text), aliases: map[string]string{}, transact: r.Transact, upper: r.Upper}
	if r.Hash {
		s.span = "1" // its unit stands behind it
	}
	if r.Qualified || r.Transact {
		s.dropDatabase(database)
	}
	s.findTables()
	err := s.findInserted(columns)
	s.expand()
	s.use()
	return s.shape(r.Hash), err
}

// lists are values one after the other, however many.
var lists = regexp.MustCompile(`\?(?: ?, ?\?)+`)

// Masked is a statement without its texts and most of its numbers, for servers that tell them:
// variables stand for values that are the same, and ? for the others.
func (r Rules) Masked(text string) string {
	var b strings.Builder
	s, _ := r.divided(text, "", nil) // nothing is asked
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

// longest is how many bytes of a statement tell it from others: clients write some of many megabytes.
const longest = 64 << 10

// Key is what is the same of a statement for all values.
func (r Rules) Key(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), longest)], "")
	s, _ := r.divided(text, "", nil) // nothing is asked
	return lists.ReplaceAllString(strings.Join(s.Pieces, "?"), "?, …")
}

type tokenKind int

const (
	tokenWord tokenKind = iota
	tokenName           // quoted
	tokenValue
	tokenKept // a number that is no value
	tokenDots // what a digest has left out
	tokenSign
)

type token struct {
	kind   tokenKind
	text   string
	number int  // of a value
	spaced bool // space stands before it
	folded bool // a name without quotes is in small letters
	upper  bool // it is in capitals
	use    filewise.ValueUse
}

// is tells whether it is one of these words, in capitals, or signs.
func (t token) is(words ...string) bool {
	return (t.kind == tokenWord || t.kind == tokenSign) && slices.Contains(words, strings.ToUpper(t.text))
}

// name is what it names; empty: it names nothing.
func (t token) name() string {
	switch {
	case t.kind == tokenName && t.text[0] == '[':
		return strings.ReplaceAll(strings.TrimSuffix(t.text[1:], "]"), "]]", "]")
	case t.kind == tokenName:
		quote := t.text[:1]
		return strings.ReplaceAll(strings.Trim(t.text, quote), quote+quote, quote)
	case t.kind == tokenWord && !slices.Contains(reserved, strings.ToUpper(t.text)):
		if t.folded {
			return strings.ToLower(t.text)
		}
		if t.upper {
			return strings.ToUpper(t.text)
		}
		return t.text
	}
	return ""
}

// reserved are words that no column or table is called by without quotes.
var reserved = []string{"SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "SET", "VALUES", "INTO", "UPDATE", "DELETE", "INSERT", "JOIN",
	"ON", "AS", "BETWEEN", "LIKE", "ILIKE", "IS", "NULL", "ORDER", "GROUP", "BY", "LIMIT", "OFFSET", "USING", "LEFT", "RIGHT", "INNER",
	"OUTER", "CROSS", "FULL", "NATURAL", "HAVING", "UNION", "RETURNING", "FOR", "CASE", "WHEN", "THEN", "ELSE", "END", "LATERAL", "ONLY",
	"IGNORE", "LOW_PRIORITY", "FORCE", "USE", "STRAIGHT_JOIN", "FETCH", "WINDOW", "CONFLICT", "DUPLICATE", "DEFAULT", "PARTITION", "WITH",
	"ANY", "ALL", "SOME"}

func (r Rules) tokens(text string) []token {
	var all []token
	spaced := false
	for _, p := range r.scan(strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")) {
		t := token{spaced: spaced, text: p.text}
		spaced = false
		switch {
		case p.kind == pieceNote && (!r.Upper || !strings.HasPrefix(p.text, "/*+")):
			spaced = true
			continue
		case p.kind == pieceNote: // a hint
			t.kind = tokenKept
		case p.kind == pieceParam && r.Upper:
			t.kind, t.text = tokenValue, ":"+p.text
		case p.kind == pieceQuoted && (p.text[0] == '`' || p.text[0] == '[' || p.text[0] == '"' && !r.Backslash):
			t.kind = tokenName
		case p.kind == pieceQuoted:
			t.kind = tokenValue
			if n := len(all); n > 0 && !t.spaced && all[n-1].kind == tokenWord { // E'…', _utf8'…'
				t.spaced = all[n-1].spaced
				all = all[:n-1]
			}
		case p.kind == pieceCode:
			all, spaced = r.code(all, p.text, t.spaced)
			continue
		default:
			t.kind = tokenSign
			if p.kind == pieceParam {
				t.text = ":" + p.text
			}
		}
		all = append(all, t)
	}
	numberVariables(all)
	return keepNumbers(all)
}

// numberVariables has the values of one variable be the same.
func numberVariables(all []token) {
	numbers := map[string]int{}
	for i, t := range all {
		if name := strings.ToLower(t.text); t.kind == tokenValue && name[0] == '@' {
			if numbers[name] == 0 {
				numbers[name] = len(numbers) + 1
			}
			all[i].number = numbers[name]
		}
	}
}

// reservedTransact are words of T-SQL that no column or table is called by without quotes.
var reservedTransact = []string{"TOP", "PERCENT", "OUTPUT", "MERGE", "APPLY", "OPTION", "PIVOT", "UNPIVOT", "TABLESAMPLE"}

// code divides plain code; spaced tells whether space stands before what follows it.
func (r Rules) code(all []token, text string, spaced bool) ([]token, bool) {
	for at := 0; at < len(text); {
		c, n, t := text[at], 1, token{kind: tokenSign, spaced: spaced}
		rest := text[at:]
		switch {
		case c <= ' ':
			spaced, at = true, at+1
			continue
		case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
			for n < len(rest) && (inName(rest[n]) || rest[n] == '.') {
				n++
			}
			t.kind = tokenValue
		case r.Upper && c == ':' && digits(rest[1:]) > 0:
			n += digits(rest[1:])
			t.kind = tokenValue
		case r.Dollar && c == '$' && digits(rest[1:]) > 0:
			n += digits(rest[1:])
			t.kind = tokenValue
			t.number, _ = strconv.Atoi(rest[1:n]) // too large a number is none
		case (r.Hash || r.Transact || r.Upper) && c == '?':
			t.kind = tokenValue
		case r.Transact && c == '@':
			for n < len(rest) && (inName(rest[n]) || strings.IndexByte("@#$", rest[n]) >= 0) {
				n++
			}
			if t.kind = tokenValue; strings.HasPrefix(rest, "@@") { // @@ROWCOUNT is the server's
				t.kind = tokenKept
			}
		case r.Hash && strings.HasPrefix(rest, "..."):
			n, t.kind = 3, tokenDots
		case inName(c):
			n, t.kind, t.folded, t.upper = nameLength(rest), tokenWord, r.Dollar, r.Upper
			for r.Upper && n < len(rest) && (inName(rest[n]) || rest[n] == '$' || rest[n] == '#') {
				n++
			}
			if r.Transact && slices.Contains(reservedTransact, strings.ToUpper(rest[:n])) {
				t.kind = tokenSign
			}
		default:
			for _, sign := range []string{"<=", ">=", "<>", "!=", "::", "||", ":="} {
				if strings.HasPrefix(rest, sign) {
					n = 2
				}
			}
		}
		t.text = rest[:n]
		all, spaced, at = append(all, t), false, at+n
	}
	return all, spaced
}

func digits(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }

// sized are types with numbers in brackets.
var sized = []string{"NUMERIC", "DECIMAL", "VARCHAR", "CHAR", "CHARACTER", "VARYING", "BIT", "TIMESTAMP", "TIME", "INTERVAL", "BINARY",
	"DATETIME", "FLOAT", "NVARCHAR", "NCHAR", "VARBINARY", "DATETIME2", "DATETIMEOFFSET"}

// keepNumbers has numbers that are no values stand: ORDER BY 1, numeric(10, 2).
func keepNumbers(all []token) []token {
	by := false
	for i := range all {
		t := &all[i]
		switch {
		case t.is("BY"):
			by = true
		case t.kind == tokenWord && slices.Contains(reserved, strings.ToUpper(t.text)):
			by = false
		case t.kind == tokenValue && i > 0 && t.text[0] >= '0' && t.text[0] <= '9':
			listing := all[i-1].is("BY") || all[i-1].is(",")
			last := i+1 == len(all) || !all[i+1].is("+", "-", "*", "/", "%")
			size := i > 1 && all[i-1].is("(") && all[i-2].is(sized...) || i > 3 && all[i-1].is(",") && all[i-4].is(sized...)
			if by && listing && last || size {
				t.kind = tokenKept
			}
		}
	}
	return all
}

type shaper struct {
	tokens  []token
	aliases map[string]string // table by what it is called
	tables  []string
	into    []string // the columns of rows that are inserted
	intoOf  string   // their table
	// transact: INSERT and DELETE may go without INTO and FROM, and names are the same whatever
	// their case.
	transact bool
	upper    bool   // texts hold their numbers, as T-SQL's do
	span     string // what stands for a number in INTERVAL; empty: a text
}

// dropDatabase leaves out the database's name before a dot; in T-SQL that of db.schema.table
// and db..table.
func (s *shaper) dropDatabase(database string) {
	same := func(name string) bool { return name == database || s.transact && strings.EqualFold(name, database) }
	for i := 0; i+2 < len(s.tokens); i++ {
		if database == "" || !same(s.tokens[i].name()) || !s.tokens[i+1].is(".") || s.at(i-1).is(".") {
			continue
		}
		n := 2
		if s.at(i + 2).is(".") {
			n = 3
		} else if s.transact && !s.at(i+3).is(".") {
			continue
		}
		s.tokens[i+n].spaced = s.tokens[i].spaced
		s.tokens = slices.Delete(s.tokens, i, i+n)
	}
}

// path reads a name, of a schema or not, and returns where it ends.
func (s *shaper) path(i int) (name string, end int) {
	if i >= len(s.tokens) {
		return "", i
	}
	name = s.tokens[i].name()
	if name != "" && i+2 < len(s.tokens) && s.tokens[i+1].is(".") {
		if of := s.tokens[i+2].name(); of != "" {
			return name + "." + of, i + 3
		}
	}
	return name, i + 1
}

// findTables notes what stands where tables do. A function's FROM gives names that are
// none, which does no harm.
func (s *shaper) findTables() {
	listing, depth, at := false, 0, 0
	for i := range s.tokens {
		t := s.tokens[i]
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is("UPDATE") && i > 0 && s.tokens[i-1].is("FOR", "DO", "KEY"):
		case t.is("FROM", "JOIN", "INTO", "UPDATE"):
			s.table(i + 1)
			listing, at = t.is("FROM", "UPDATE"), depth
		case s.bare(i):
			s.table(i + 1)
		case t.is("WHERE", "SET", "ON", "GROUP", "ORDER", "LIMIT", "SELECT", "VALUES", "USING"):
			listing = false
		case t.is(",") && listing && depth == at:
			s.table(i + 1)
		}
	}
	if s.transact { // UPDATE x … FROM t AS x names no table x
		s.tables = slices.DeleteFunc(s.tables, func(name string) bool { return s.aliases[s.called(name)] != name })
	}
}

// bare tells whether a table follows what is usually followed by INTO or FROM.
func (s *shaper) bare(i int) bool {
	return s.transact && s.tokens[i].is("INSERT", "MERGE", "DELETE") && (s.at(i+1).name() != "" || s.at(i+1).is("TOP"))
}

func (s *shaper) table(i int) {
	for i < len(s.tokens) && s.tokens[i].is("ONLY", "LATERAL", "IGNORE", "LOW_PRIORITY") {
		i++
	}
	if s.at(i).is("TOP") && s.at(i+1).is("(") {
		i = s.closing(i+1) + 1
	}
	name, end := s.path(i)
	if name == "" {
		return
	}
	if !slices.Contains(s.tables, name) {
		s.tables = append(s.tables, name)
	}
	s.aliases[s.called(name)] = name
	s.aliases[s.called(name[strings.LastIndex(name, ".")+1:])] = name
	if end < len(s.tokens) && s.tokens[end].is("AS") {
		end++
	}
	if end < len(s.tokens) {
		if alias := s.tokens[end].name(); alias != "" {
			s.aliases[s.called(alias)] = name
		}
	}
}

func (s *shaper) called(name string) string {
	if s.transact {
		return strings.ToLower(name)
	}
	return name
}

// findInserted finds the columns of INSERT INTO t (…) VALUES.
func (s *shaper) findInserted(columns func(string) ([]string, error)) (err error) {
	for i, t := range s.tokens {
		name, end := s.path(i + 1)
		if !t.is("INTO") && !(s.bare(i) && name != "") {
			continue
		}
		s.intoOf = name
		if end < len(s.tokens) && s.tokens[end].is("(") {
			for _, x := range s.tokens[end+1 : s.closing(end)] {
				if column := x.name(); column != "" {
					s.into = append(s.into, column)
				}
			}
		} else if columns != nil {
			s.into, err = columns(name)
		}
		return err
	}
	return nil
}

// closing is where a bracket ends.
func (s *shaper) closing(open int) int {
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

// expand writes out what a digest has left out: (...), and ?, ....
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
		case open > 0 && !s.tokens[open-1].is("IN"): // of a function, and most that have several have two
			more = 2
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

// items are those of a list.
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

// opening is the bracket that a place stands in; -1: none.
func (s *shaper) opening(i int) int {
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

// shape puts the pieces together. tight: no space stands between a word and a bracket,
// since MySQL takes COUNT (*) for a function of the user's.
func (s *shaper) shape(tight bool) filewise.Shape {
	out := filewise.Shape{Tables: s.tables}
	var b strings.Builder
	for i, t := range s.tokens {
		bracket := tight && i > 0 && t.is("(") && s.tokens[i-1].kind == tokenWord
		if t.spaced && i > 0 && !bracket {
			b.WriteByte(' ')
		}
		if t.kind == tokenValue {
			t.use.Number = t.number
			out.Pieces, out.Values = append(out.Pieces, b.String()), append(out.Values, t.use)
			b.Reset()
			continue
		}
		b.WriteString(t.text)
	}
	out.Pieces = append(out.Pieces, b.String())
	return out
}
