package customsql

import "strings"

// A log contains few different statements, each with many values. Dividing one takes some 50 µs, so it is done once for
// all statements that are equal without their values. Their skeletons show which are equal. A skeleton is read by
// looking at each byte once, with marks in place of the values.

const (
	markPlain  byte = iota // no value: the text is the same in all statements of a skeleton
	markNumber             // begins with a digit
	markPoint              // contains a decimal point
	markText
	markPath   // with $, quoted: a constant
	markDollar // quoted by $
	markMore   // repeats the mark before, any number of times, after commas
)

// mostKnown limits how many bytes of skeletons are remembered.
const mostKnown = 16 << 20

// known remembers the statements that were divided, and reads new ones. It is not safe for concurrent use.
type known struct {
	Rules
	divisions map[string]*division
	bytes     int // of the skeletons

	skeleton []byte
	values   []place
	units    []int // the value behind the last one of each mark
	// The list of values that is being read:
	last   byte // the mark of its last value
	comma  bool // a comma follows the last value
	listed int  // values with this mark, one after the other
	length int  // of the skeleton with these values
}

// place is the position of a value.
type place struct{ from, to int }

// division holds what all statements of a skeleton share.
type division struct {
	key   string
	units []unit
	// fixed lists the units whose values are part of the key. Statements with other values have their own division.
	fixed []int
	alone bool // each such statement must be divided itself
}

// unit is a value, or several values of a list.
type unit struct {
	begins bool // begins a list
	kept   bool // is no value
	number int  // of a parameter; 0 for a literal; noText if its text is not known
}

const noText = -1

// keyed has the results of Rules.keyed, and remembers divisions to avoid dividing similar statements again.
func (k *known) keyed(text string, arguments []string) (key string, values [][]string) {
	if k.Transact || k.Upper {
		return k.Rules.keyed(text, arguments)
	}
	whole := text
	text = strings.TrimSpace(cut(text))
	if text != "" && (text[len(text)-1] == ';') {
		text = strings.TrimRight(text, "; \t\r\n")
	}
	k.read(text)
	d := k.division(text)
	if len(d.fixed) > 0 && !d.alone {
		for _, n := range d.fixed {
			v := k.values[k.first(n)]
			k.skeleton = append(append(k.skeleton, 0), text[v.from:v.to]...)
		}
		d = k.division(text)
	}
	if d.alone {
		return k.Rules.keyed(whole, arguments)
	}
	all, begin := make([]string, 0, len(k.values)), 0
	for n, end := range k.units {
		u := d.units[n]
		if u.kept {
			continue
		}
		if u.begins && len(all) > 0 {
			values = append(values, all[begin:len(all):len(all)])
			begin = len(all)
		}
		for _, v := range k.values[k.first(n):end] {
			said := ""
			switch {
			case u.number == 0:
				said = text[v.from:v.to]
			case u.number > 0 && u.number <= len(arguments):
				said = arguments[u.number-1]
			}
			all = append(all, said)
		}
	}
	if len(all) > begin {
		values = append(values, all[begin:])
	}
	return d.key, values
}

// first returns the first value of a unit.
func (k *known) first(n int) int {
	if n == 0 {
		return 0
	}
	return k.units[n-1]
}

// division returns the division of the skeleton of text.
func (k *known) division(text string) *division {
	if d := k.divisions[string(k.skeleton)]; d != nil {
		return d
	}
	if k.divisions == nil || k.bytes > mostKnown {
		k.divisions, k.bytes = map[string]*division{}, 0
	}
	d := k.divide(text)
	k.bytes += len(k.skeleton) + len(d.key) + 128
	k.divisions[string(k.skeleton)] = d
	return d
}

func (k *known) divide(text string) *division {
	s, _ := k.shaped(text, "", nil) // no columns are read
	key, listed := k.key(s.shape(k.Hash))
	d := &division{key: key}
	n, value := 0, 0
	for i, t := range s.tokens {
		if t.kind != tokenValue && t.kind != tokenKept {
			continue
		}
		if n == len(k.values) || t.text != text[k.values[n].from:k.values[n].to] {
			return &division{alone: true}
		}
		u := unit{kept: t.kind == tokenKept, number: t.number}
		if !u.kept {
			u.begins = !listed[value]
			value++
			if u.number == 0 && !t.literal() {
				u.number = noText
			}
		}
		equal := s.at(i+1).is("=") && s.at(i+2).kind == tokenValue || s.at(i-1).is("=") && s.at(i-2).kind == tokenValue
		fixed := u.kept || equal || t.use.Literal != "" && t.use.Use == ""
		switch at := len(d.units); {
		case k.first(at) == n:
			if d.units = append(d.units, u); fixed {
				d.fixed = append(d.fixed, at)
			}
			if fixed && k.units[at] > n+1 {
				return &division{alone: true}
			}
		case fixed || u.begins:
			return &division{alone: true}
		}
		n++
	}
	if n != len(k.values) {
		return &division{alone: true}
	}
	return d
}

// read makes the skeleton of a text, as tokens reads it.
func (k *known) read(text string) {
	k.skeleton, k.values, k.units, k.last, k.comma, k.listed = k.skeleton[:0], k.values[:0], k.units[:0], markPlain, false, 0
	s := scanner{Rules: k.Rules, text: text}
	spaced, word := false, -1 // word is where the present word ends
	for s.at < len(text) {
		at, n, kind := s.at, 0, pieceCode
		if mayBegin[text[at]] {
			n, kind = s.special()
		}
		value, mark := k.unquoted(text[at:], kind, &n)
		before := word
		word = -1
		s.at += n
		if kind != pieceCode {
			s.from = s.at
		}
		switch {
		case kind == pieceNote, kind == pieceCode && text[at] <= ' ':
			spaced = true
			continue
		case value && mark == markText && before >= 0: // E'…', _utf8'…'
			k.skeleton = k.skeleton[:len(k.skeleton)-(at-before)]
			k.value(text, place{before, s.at}, mark, false)
		case value:
			k.value(text, place{at, s.at}, mark, spaced)
		default:
			k.comma = k.last != markPlain && !k.comma && text[at] == ',' && n == 1
			if !k.comma {
				k.last = markPlain
			}
			k.space(spaced)
			k.skeleton = append(k.skeleton, text[at:s.at]...)
			if kind == pieceCode && inName(text[at]) {
				word = at
			}
		}
		spaced = false
	}
}

// unquoted reports whether a value begins a text, and with which mark; n receives its length, or what else begins there, if it is code.
func (k *known) unquoted(rest string, kind pieceKind, n *int) (value bool, mark byte) {
	c := rest[0]
	switch {
	case kind == pieceQuoted && (c == '`' || c == '[' || c == '"' && !k.Backslash): // a name
		return false, markPlain
	case kind == pieceQuoted && c == '$':
		return true, markDollar
	case kind == pieceQuoted && strings.HasPrefix(rest, "'$"):
		return true, markPath
	case kind == pieceQuoted:
		return true, markText
	case kind != pieceCode:
		return false, markPlain
	}
	*n = 1
	switch {
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		for *n < len(rest) && (inName(rest[*n]) || rest[*n] == '.') {
			*n++
		}
		if c == '.' {
			return true, markPoint
		}
		return true, markNumber
	case k.Dollar && c == '$' && digits(rest[1:]) > 0:
		*n += digits(rest[1:])
		return true, markPlain
	case k.Hash && c == '?':
		return true, markPlain
	case inName(c):
		*n = nameLength(rest)
	}
	return false, markPlain
}

func (k *known) space(spaced bool) {
	if spaced && len(k.skeleton) > 0 {
		k.skeleton = append(k.skeleton, ' ')
	}
}

func (k *known) value(text string, v place, mark byte, spaced bool) {
	k.values = append(k.values, v)
	if k.comma && mark != markPlain && k.last == mark {
		k.listed++
	} else {
		k.listed = 1
	}
	k.comma, k.last = false, mark
	if k.listed > 2 {
		if k.skeleton = k.skeleton[:k.length]; k.listed == 3 {
			k.skeleton = append(k.skeleton, markMore)
		}
		k.units[len(k.units)-1] = len(k.values)
	} else {
		k.space(spaced)
		if mark == markPlain {
			k.skeleton = append(k.skeleton, text[v.from:v.to]...)
		} else {
			k.skeleton = append(k.skeleton, mark)
		}
		k.units = append(k.units, len(k.values))
	}
	k.length = len(k.skeleton)
}
