package tablecsv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Numbers are read as computers write them: a point before the fraction. In German "1.033" is a thousand and 33, in
// English 1 and a bit, and the number alone cannot show which. Such a number is refused if the file may come from a
// spreadsheet (semicolons, tabs), or if its column also has whole numbers. It is accepted if the column shows elsewhere
// that its point starts a fraction.

// groupings are the characters that separate thousands and never start a fraction.
const groupings = " '’\u00a0\u2007\u2009\u202f"

const doubtful = "its comma or second point may begin a fraction or separate thousands: give --decimal , or --decimal ."

// form holds the form that the numbers of one column have shown.
type form struct {
	certain, whole bool // seen: a point that can only start a fraction; a whole number without a point
	line, column   int  // of the first number that may be thousands or a fraction. 0 means there is none
	text           string
}

// parseNumber parses a number in column i. The error is strconv's, or strconv.ErrSyntax with a reason if the number's
// form is ambiguous or wrong.
func (p *parser) parseNumber(text string, i int) (x float64, why string, err error) {
	bare, why := p.ungrouped(text)
	if why != "" {
		return 0, why, strconv.ErrSyntax
	}
	x, err = strconv.ParseFloat(bare, 64)
	if err != nil || p.decimal != 0 {
		return x, "", err
	}
	p.look(text, i)
	return x, "", nil
}

// ungrouped returns the number with a point before its fraction and no separators of thousands. If that is not
// possible, the second result is the reason.
func (p *parser) ungrouped(text string) (string, string) {
	decimal, other := ".", ","
	if p.decimal == ',' {
		decimal, other = ",", "."
	}
	whole, fraction, has := strings.Cut(text, decimal)
	groups := groupings
	if p.decimal != 0 {
		groups += other
	}
	if strings.ContainsAny(whole, groups) {
		if !inThousands(strings.FieldsFunc(whole, func(r rune) bool { return strings.ContainsRune(groups, r) }), whole) {
			if p.decimal == 0 && strings.Contains(text, ",") {
				return "", doubtful
			}
			return "", "its digits are not in groups of three"
		}
		whole = strings.Map(func(r rune) rune {
			if strings.ContainsRune(groups, r) {
				return -1
			}
			return r
		}, whole)
	}
	switch rest := whole + fraction; {
	case p.decimal == 0 && (strings.Contains(rest, ",") || strings.Contains(fraction, ".")) && digitsAnd(text, ".,"+groupings):
		return "", doubtful
	case p.decimal != 0 && strings.ContainsAny(fraction, ",."):
		return "", fmt.Sprintf("with --decimal %c nothing but digits follows that", p.decimal)
	case has:
		return whole + "." + fraction, ""
	}
	return whole, ""
}

// inThousands reports whether the parts are the groups of a number, separated by the same character throughout.
func inThousands(parts []string, whole string) bool {
	var between []rune
	for _, r := range whole {
		if !unicode.IsDigit(r) && r != '-' && r != '+' && !slices.Contains(between, r) {
			between = append(between, r)
		}
	}
	if len(between) != 1 || strings.Count(whole, string(between[0])) != len(parts)-1 {
		return false
	}
	for n, part := range parts {
		digits := strings.TrimLeft(part, "+-")
		if !digitsAnd(part, "+-") || n > 0 && len(part) != 3 || n == 0 && (len(digits) < 1 || len(digits) > 3) {
			return false
		}
	}
	return true
}

func digitsAnd(text, more string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune(more, r) }) < 0
}

// look records what a number shows about its column's form.
func (p *parser) look(text string, i int) {
	f := p.forms[i]
	if f == nil {
		if p.forms == nil {
			p.forms = map[int]*form{}
		}
		f = &form{}
		p.forms[i] = f
	}
	whole, fraction, has := strings.Cut(strings.TrimLeft(text, "+-"), ".")
	switch {
	case !has:
		f.whole = true
	case len(fraction) != 3 || !digitsAnd(fraction, "") || len(whole) == 0 || len(whole) > 3 || whole[0] == '0':
		f.certain = true
	case f.line == 0:
		f.line, f.column = p.csv.FieldPos(i)
		f.text = text
	}
}

// ambiguous returns an error for the first number that may be thousands or a fraction.
func (p *parser) ambiguous() error {
	var first *form
	for _, f := range p.forms {
		if f.line > 0 && !f.certain && (f.whole || p.csv.Comma != ',') && (first == nil || f.line < first.line ||
			f.line == first.line && f.column < first.column) {
			first = f
		}
	}
	if first == nil {
		return nil
	}
	return failf(first.line, first.column, "%s is %s if a point stands before its fraction, and %s if between thousands: give "+
		"--decimal . or --decimal ,", first.text, strings.TrimRight(strings.TrimRight(first.text, "0"), "."),
		strings.Replace(first.text, ".", "", 1))
}
