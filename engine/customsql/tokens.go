package customsql

import (
	"slices"
	"strconv"
	"strings"

	"filewise"
)

type tokenKind int

const (
	tokenWord tokenKind = iota
	tokenName           // quoted
	tokenValue
	tokenKept // a number that is no value
	tokenDots // an ellipsis for what a digest has left out
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

// is reports whether the token is one of these words, in capitals, or signs.
func (t token) is(words ...string) bool {
	return (t.kind == tokenWord || t.kind == tokenSign) && slices.Contains(words, strings.ToUpper(t.text))
}

// name returns the unquoted name in a token, or "" if the token is not a name.
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

// reserved lists words that cannot name a column or table without quotes.
var reserved = []string{"SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "SET", "VALUES", "INTO", "UPDATE", "DELETE", "INSERT", "JOIN",
	"ON", "AS", "BETWEEN", "LIKE", "ILIKE", "IS", "NULL", "ORDER", "GROUP", "BY", "LIMIT", "OFFSET", "USING", "LEFT", "RIGHT", "INNER",
	"OUTER", "CROSS", "FULL", "NATURAL", "HAVING", "UNION", "RETURNING", "FOR", "CASE", "WHEN", "THEN", "ELSE", "END", "LATERAL", "ONLY",
	"IGNORE", "LOW_PRIORITY", "FORCE", "USE", "STRAIGHT_JOIN", "FETCH", "WINDOW", "CONFLICT", "DUPLICATE", "DEFAULT", "PARTITION", "WITH",
	"ANY", "ALL", "SOME", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "SYSDATE"}

func (r Rules) tokens(text string) []token {
	var all []token
	spaced := false
	for _, p := range r.scan(strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")) {
		t := token{spaced: spaced, text: p.text}
		spaced = false
		switch {
		case p.kind == pieceNote && !strings.HasPrefix(p.text, "/*+"):
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
				t.text, t.spaced = all[n-1].text+t.text, all[n-1].spaced
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

// reservedTransact lists words of T-SQL that cannot name a column or table without quotes.
var reservedTransact = []string{"TOP", "PERCENT", "OUTPUT", "MERGE", "APPLY", "OPTION", "PIVOT", "UNPIVOT", "TABLESAMPLE"}

// signs lists operators of several characters, and signsDollar more of PostgreSQL's.
var (
	signs       = []string{"->>", "#>>", "->", "#>", "<=", ">=", "<>", "!=", "::", "||", ":="}
	signsDollar = []string{"@>", "<@", "@@", "@?", "&&", "~*", "!~", "!~*"}
)

// code divides plain code into tokens. It is given, and returns, whether a space comes before the next token.
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
			for _, sign := range signs {
				if strings.HasPrefix(rest, sign) {
					n = max(n, len(sign))
				}
			}
			for _, sign := range signsDollar {
				if r.Dollar && strings.HasPrefix(rest, sign) {
					n = max(n, len(sign))
				}
			}
		}
		t.text = rest[:n]
		all, spaced, at = append(all, t), false, at+n
	}
	return all, spaced
}

func digits(text string) (n int) {
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// sized lists types that take numbers in brackets.
var sized = []string{"NUMERIC", "DECIMAL", "VARCHAR", "CHAR", "CHARACTER", "VARYING", "BIT", "TIMESTAMP", "TIME", "INTERVAL", "BINARY",
	"DATETIME", "FLOAT", "NVARCHAR", "NCHAR", "VARBINARY", "DATETIME2", "DATETIMEOFFSET"}

// keepNumbers keeps numbers that are no values: ORDER BY 1, numeric(10, 2).
func keepNumbers(all []token) []token {
	by, depth := false, 0 // of brackets since BY
	for i := range all {
		t := &all[i]
		switch {
		case t.is("BY"):
			by, depth = true, 0
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
			by = by && depth >= 0
		case t.kind == tokenWord && slices.Contains(reserved, strings.ToUpper(t.text)):
			by = false
		case t.kind == tokenValue && i > 0 && t.text[0] >= '0' && t.text[0] <= '9':
			listing := depth == 0 && all[i-1].is("BY", ",")
			last := i+1 == len(all) || !all[i+1].is("+", "-", "*", "/", "%")
			size := i > 1 && all[i-1].is("(") && all[i-2].is(sized...) || i > 3 && all[i-1].is(",") && all[i-3].is("(") && all[i-4].is(sized...)
			if by && listing && last || size {
				t.kind = tokenKept
			}
		}
	}
	return all
}
