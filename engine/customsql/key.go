package customsql

import (
	"regexp"
	"strings"

	"filewise"
)

// longest is the length in bytes at which statements are distinguished. Clients write statements of many megabytes.
const longest = 64 << 10

// lists matches several values in a row, and commaAlone the separator of two values.
var (
	lists      = regexp.MustCompile(`\?(?: ?, ?\?)+`)
	commaAlone = regexp.MustCompile(`^ ?, ?$`)
)

// Key returns the part of a statement that is the same for all values.
func (r Rules) Key(text string) string {
	key, _ := r.keyed(text, nil)
	return key
}

// keyed returns a statement's key, and the texts of its values by list. A parameter has the text of its argument.
func (r Rules) keyed(text string, arguments []string) (key string, values [][]string) {
	s, _ := r.shaped(cut(text), "", nil) // no columns are read
	shape := s.shape(r.Hash)
	key, listed := r.key(shape)
	for i, v := range shape.Values {
		if !listed[i] {
			values = append(values, nil)
		}
		last := &values[len(values)-1]
		*last = append(*last, valueOf(v, arguments))
	}
	return key, values
}

// cut returns the part of a statement that distinguishes it from others.
func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), longest)], "") }

// key returns a shape's key. listed marks the values that belong to the list of the value before.
func (r Rules) key(s filewise.Shape) (key string, listed []bool) {
	var b strings.Builder
	masked := false // the value before is written as ? in the key
	for i, v := range s.Values {
		b.WriteString(s.Pieces[i])
		text := "?"
		if v.Use == filewise.UseNone && v.Literal != "" && !r.Transact && !r.Upper { // a constant
			text = v.Literal
		}
		b.WriteString(text)
		listed = append(listed, masked && text == "?" && commaAlone.MatchString(s.Pieces[i]))
		masked = text == "?"
	}
	return lists.ReplaceAllString(b.String()+s.Pieces[len(s.Values)], "?, …"), listed
}

// valueOf returns the text of a value in SQL, or "" if it is not known.
func valueOf(v filewise.ValueUse, arguments []string) string {
	if v.Text == "" && v.Number > 0 && v.Number <= len(arguments) {
		return arguments[v.Number-1]
	}
	return v.Text
}
