package customsql

import (
	"regexp"
	"slices"
	"strings"
)

// Rules describes an engine's SQL syntax.
type Rules struct {
	Backslash bool // a backslash escapes the next letter of a quoted text
	Hash      bool // # begins a comment, and /*! contains code
	Dollar    bool // $tag$ quotes
	Brackets  bool // [name] quotes
	Qualified bool // a name before a dot is a database
	Transact  bool // T-SQL: ]] is a ] within [name], comments nest, ` quotes nothing
	Upper     bool // unquoted names are in capitals, and may contain $ and #; values are :1 or :NAME
	// Numbered is the prefix of parameters that are numbered by value: $1, @p1. If empty, each parameter is a ?.
	Numbered string
	Each     bool // each use of a parameter has its own number
	// Guard replaces the lists of refuse.go. If nil, these lists apply.
	Guard Guard
	// Adapt rewrites a statement for the server. If nil, statements are not changed.
	Adapt func(text string, setup bool) (string, error)
}

// Guard returns the part of a statement that is refused, and what to do instead; "" if nothing is. setup is true for a
// statement of the set-up.
type Guard func(words []Word, setup bool) (what, remedy string)

// Word is a name, a number or a sign of a statement's code, in capitals, or a quoted text.
type Word struct {
	Text   string
	Quoted bool
}

// Is reports whether the word is unquoted and one of words, which are in capitals.
func (w Word) Is(words ...string) bool { return !w.Quoted && slices.Contains(words, w.Text) }

// piece is a part of a text.
type piece struct {
	kind pieceKind
	text string
	line int // within the text, from 0
}

type pieceKind int

const (
	pieceCode   pieceKind = iota // outside of all else
	pieceQuoted                  // a text, or a quoted name
	pieceNote                    // a comment
	pieceParam                   // :NAME; text is NAME
	pieceEnd                     // a semicolon
)

// scanner divides a text into pieces.
type scanner struct {
	Rules
	text   string
	at     int
	from   int // start of the code that is being read
	line   int
	pieces []piece
}

// scan divides a text into pieces. A quoted text without an end reaches to the text's end.
func (r Rules) scan(text string) []piece {
	s := &scanner{Rules: r, text: text}
	for s.at < len(text) {
		n, kind := 0, pieceCode
		if mayBegin[text[s.at]] {
			n, kind = s.special()
		}
		if n == 0 {
			s.at++
			continue
		}
		s.code()
		s.add(kind, text[s.at:s.at+n])
		s.at += n
		s.from = s.at
	}
	s.code()
	return s.pieces
}

// code adds the code that ends before the position.
func (s *scanner) code() {
	if s.from < s.at {
		s.add(pieceCode, s.text[s.from:s.at])
		s.from = s.at
	}
}

func (s *scanner) add(kind pieceKind, text string) {
	p := piece{kind, text, s.line}
	if kind == pieceParam {
		p.text = text[1:]
	}
	s.pieces = append(s.pieces, p)
	s.line += strings.Count(text, "\n")
}

// mayBegin is the set of bytes at which special can find something.
var mayBegin = func() (set [256]bool) {
	for _, c := range []byte(";'\"`[-#/$:") {
		set[c] = true
	}
	return set
}()

// special returns the length and kind of the piece that begins at the position. For plain code the length is 0.
func (s *scanner) special() (int, pieceKind) {
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case c == ';':
		return 1, pieceEnd
	case c == '\'' || c == '"' || c == '`' && !s.Transact:
		return s.quoted(rest, c), pieceQuoted
	case c == '[' && s.Transact:
		return s.quoted(rest, ']'), pieceQuoted
	case c == '[' && s.Brackets:
		return until(rest, "]"), pieceQuoted
	case strings.HasPrefix(rest, "--") && (!s.Hash || len(rest) < 3 || rest[2] <= ' ') || c == '#' && s.Hash:
		return until(rest, "\n"), pieceNote
	case strings.HasPrefix(rest, "/*"):
		return s.note(rest), pieceNote
	case c == '$' && s.Dollar:
		if tag := dollarTag(rest); tag > 0 && !s.withinName() {
			if end := strings.Index(rest[tag:], rest[:tag]); end >= 0 {
				return 2*tag + end, pieceQuoted
			}
			return len(rest), pieceQuoted
		}
	case c == ':' && !s.afterName() && s.before() != ':':
		if n := nameLength(rest[1:]); n > 0 {
			return 1 + n, pieceParam
		}
	}
	return 0, pieceCode
}

// before returns the byte before the position, or 0 if there is none.
func (s *scanner) before() byte {
	if s.at == 0 {
		return 0
	}
	return s.text[s.at-1]
}

// afterName reports whether a name or number ends right before the position, as in a[1:n].
func (s *scanner) afterName() bool { return s.at > 0 && inName(s.before()) }

// withinName reports whether the place is within a name, in which PostgreSQL takes $ as well.
func (s *scanner) withinName() bool {
	i := s.at
	for i > s.from && (inName(s.text[i-1]) || s.text[i-1] == '$') {
		i--
	}
	return strings.ContainsFunc(s.text[i:s.at], func(c rune) bool { return c != '$' && (c < '0' || c > '9') })
}

// continued matches the gap after which a PostgreSQL text continues on another line, behind its closing quote.
var continued = regexp.MustCompile(`^[ \t\f\v]*(--[^\n\r]*)?[\n\r](\s|--[^\n\r]*[\n\r])*'`)

// quoted returns the length of a quoted text, in which the quote itself is doubled.
func (s *scanner) quoted(rest string, quote byte) int {
	escapes := s.escapes(quote)
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && escapes:
			i++
		case rest[i] == quote && i+1 < len(rest) && rest[i+1] == quote:
			i++
		case rest[i] == quote && s.Dollar && quote == '\'':
			more := len(continued.FindString(rest[i+1:]))
			if more == 0 {
				return i + 1
			}
			i += more
		case rest[i] == quote:
			return i + 1
		}
	}
	return len(rest)
}

// escapes reports whether a backslash escapes; in PostgreSQL it does only within E'…'.
func (s *scanner) escapes(quote byte) bool {
	if s.Backslash {
		return quote != '`'
	}
	if !s.Dollar || quote != '\'' || s.at == 0 || s.before()|0x20 != 'e' {
		return false
	}
	return s.at < 2 || !inName(s.text[s.at-2]) && s.text[s.at-2] != '$'
}

// note returns the length of a comment. In PostgreSQL and SQL Server comments nest.
func (s *scanner) note(rest string) int {
	depth := 0
	for i := 0; i < len(rest)-1; i++ {
		switch rest[i : i+2] {
		case "/*":
			if depth == 0 || s.Dollar || s.Transact {
				depth++
			}
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(rest)
}

// until returns the length up to and including end.
func until(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

// dollarTag returns the length of $tag$ at the beginning of rest, or 0 if there is none.
func dollarTag(rest string) int {
	n := nameLength(rest[1:])
	if 1+n < len(rest) && rest[1+n] == '$' {
		return n + 2
	}
	return 0
}

// nameLength returns the length of the name at the beginning of a text.
func nameLength(text string) int {
	n := 0
	for n < len(text) && inName(text[n]) && (n > 0 || text[0] < '0' || text[0] > '9') {
		n++
	}
	return n
}

func inName(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}
