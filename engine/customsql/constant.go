package customsql

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// typeNames lists types that can precede their values.
var typeNames = []string{"DATE", "TIME", "TIMETZ", "TIMESTAMP", "TIMESTAMPTZ", "NUMERIC", "DECIMAL", "SMALLINT", "INT", "INTEGER", "BIGINT",
	"INT2", "INT4", "INT8", "REAL", "FLOAT", "FLOAT4", "FLOAT8", "BOOL", "BOOLEAN", "TEXT", "VARCHAR", "UUID", "JSON", "JSONB", "BYTEA",
	"MONEY", "INET", "CIDR", "MACADDR", "XML", "TSQUERY", "TSVECTOR"}

// castTyped turns DATE $1 into $1::DATE, because a typed literal accepts no parameter.
func (s *shaper) castTyped() {
	for i := 1; i < len(s.tokens); i++ {
		first := i - 1
		switch {
		case s.at(first).is("ZONE") && s.at(first-1).is("TIME") && s.at(first-2).is("WITH", "WITHOUT"):
			first -= 3
		case s.at(first).is("PRECISION") && s.at(first-1).is("DOUBLE"):
			first--
		}
		of := s.at(first)
		if s.tokens[i].kind != tokenValue || of.kind != tokenWord || !of.is(typeNames...) && !of.is("DOUBLE") {
			continue
		}
		cast := slices.Clone(s.tokens[first:i])
		value := s.tokens[i]
		value.spaced, cast[0].spaced = of.spaced, false
		s.tokens = slices.Concat(s.tokens[:first], []token{value, {kind: tokenSign, text: "::"}}, cast, s.tokens[i+1:])
		i++
	}
}

// untyped turns TIMESTAMP ? and (_charset) ?, as digests have it, into ?, because a typed literal accepts no parameter.
func (s *shaper) untyped() {
	for i := len(s.tokens) - 1; i > 0; i-- {
		first := i - 1
		switch {
		case s.tokens[i].kind != tokenValue:
			continue
		case s.at(first).is("DATE", "TIME", "TIMESTAMP") && !s.at(first-1).is("."):
		case s.at(first).is(")") && s.at(first-1).is("_CHARSET"):
			first -= 2
		default:
			continue
		}
		s.tokens[i].spaced = s.tokens[first].spaced
		s.tokens = slices.Delete(s.tokens, first, i)
	}
}

// fixed maps functions whose first argument is a constant of the program to a valid argument. The valid argument is
// used if the server does not report the actual one.
var fixed = map[string]string{"DATE_TRUNC": "'day'", "DATE_PART": "'day'", "EXTRACT": "'day'", "TIMEZONE": "'UTC'",
	"TO_TSVECTOR": "'simple'", "TO_TSQUERY": "'simple'", "PLAINTO_TSQUERY": "'simple'", "PHRASETO_TSQUERY": "'simple'",
	"WEBSEARCH_TO_TSQUERY": "'simple'"}

// onPaths lists functions whose second argument is a path within JSON.
var onPaths = []string{"JSON_EXTRACT", "JSON_SET", "JSON_INSERT", "JSON_REPLACE", "JSON_REMOVE", "JSON_VALUE"}

// constant returns a replacement for a value that is a constant of the program and not of a row, otherwise "". A drawn value
// would break the statement, or make it find nothing.
func (s *shaper) constant(i int) string {
	text := ""
	sequence := s.at(i-1).is("(") && s.at(i-2).is("NEXTVAL", "CURRVAL", "SETVAL") || s.at(i+1).is("::") && s.at(i+2).is("REGCLASS")
	if sequence && s.at(i).literal() {
		return s.at(i).text
	}
	if s.at(i).literal() && (s.at(i-1).is("->", "->>", "#>", "#>>") || strings.HasPrefix(s.at(i).text, "'$")) { // a path within JSON
		return s.at(i).text
	}
	if before := s.at(i - 1); before.is("ZONE") && s.at(i-2).is("TIME") {
		text = "'UTC'"
	} else if before.is("SEPARATOR") {
		text = "','"
	} else if before.is("(") && s.at(i+1).is(",", "FROM") {
		text = fixed[strings.ToUpper(s.at(i-2).text)]
	}
	if text != "" && s.at(i).literal() {
		return s.at(i).text
	}
	if open := s.opening(i); open > 0 && s.at(i).text == "?" && s.items(open+1, i) == 2 &&
		slices.Contains(onPaths, strings.ToUpper(strings.Trim(s.at(open-1).text, "`"))) && s.at(i-1).is(",") {
		text = "'$.a'"
	}
	if text = cmp.Or(text, s.ordinal(i)); text != "" {
		return text
	}
	for _, left := range []int{i, i - 2} { // as in 1 = 1; a log shows the values
		x, y := s.at(left), s.at(left+2)
		if x.kind != tokenValue || y.kind != tokenValue || !s.at(left+1).is("=") || s.at(left-2).is("BETWEEN") || s.at(left-3).is("BETWEEN") ||
			!s.at(left-1).is("WHERE", "AND", "OR", "ON", "NOT", "HAVING", "WHEN", "(") ||
			left+3 < len(s.tokens) && !s.at(left+3).is("AND", "OR", ")", "ORDER", "GROUP", "LIMIT", "THEN", "FOR", "WHERE") {
			continue
		}
		if x.literal() && y.literal() && x.text != y.text {
			if isNumber(x) && isNumber(y) {
				return s.at(i).text
			}
			continue
		}
		if left < i && !y.literal() && s.idle(left) {
			return "0"
		}
		return "1"
	}
	return ""
}

// ordinal returns the place in its list of a value that a digest has after GROUP BY or ORDER BY by itself: the number of a column,
// in whose place a server may take no parameter.
func (s *shaper) ordinal(i int) string {
	ends := i+1 == len(s.tokens) || s.at(i+1).is(",", ")", "ASC", "DESC", "HAVING", "ORDER", "LIMIT", "WITH", "FOR", "UNION")
	if s.at(i).text != "?" || !ends {
		return ""
	}
	n, first := 1, i
	for n < listed && s.at(first-1).is(",") && s.at(first-2).kind == tokenValue {
		n, first = n+1, first-2
	}
	if s.at(first-1).is("BY") && s.at(first-2).is("GROUP", "ORDER") {
		return strconv.Itoa(n)
	}
	return ""
}

// idle reports whether two unknown constants that are compared from token left on have to differ, so that the
// condition does not decide by itself: x OR 1 = 0, but x AND 1 = 1.
func (s *shaper) idle(left int) bool {
	before, inverted := s.at(left-1), false
	if before.is("NOT") {
		before, inverted = s.at(left-2), true
	}
	differ := !s.among(left) && (before.is("OR") || s.at(left+3).is("OR"))
	return differ != inverted
}

// among reports whether constants that are compared from token left on stand next to an AND. 1 = 1 is usual there.
func (s *shaper) among(left int) bool { return s.at(left-1).is("AND") || s.at(left+3).is("AND") }

func isNumber(t token) bool { return t.text[0] >= '0' && t.text[0] <= '9' }
