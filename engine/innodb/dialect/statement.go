package dialect

import (
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/sqlfile"
)

// statementText holds a statement divided at its parameters.
type statementText struct {
	around []string // the texts around the parameters, one more than these
	order  []int    // for each parameter: the index of its argument
}

// divided splits a statement at its numbered parameters: ?1, ?2.
func divided(statement string) statementText {
	var s statementText
	from := 0
	for i := 0; i < len(statement); i++ {
		end := i + 1
		for statement[i] == '?' && end < len(statement) && statement[end] >= '0' && statement[end] <= '9' {
			end++
		}
		if n, err := strconv.Atoi(statement[i+1 : end]); err == nil && n > 0 {
			s.around, s.order = append(s.around, statement[from:i]), append(s.order, n-1)
			from, i = end, end-1
		}
	}
	s.around = append(s.around, statement[from:])
	return s
}

// positional replaces a statement's numbered parameters by the plain ones that the servers accept. It returns the index
// of each one's argument, from 0.
func positional(statement string) (string, []int) {
	s := divided(statement)
	return strings.Join(s.around, "?"), s.order
}

// fill appends the statement with its arguments to dst.
func (s statementText) fill(dst []byte, v *values) ([]byte, error) {
	for i, arg := range s.order {
		if arg >= len(v.ends) {
			return dst, filewise.Errorf(filewise.CodeInternal, "", "%s with %d arguments", sqlfile.Short(strings.Join(s.around, "?")), len(v.ends))
		}
		dst = append(append(dst, s.around[i]...), v.of(arg)...)
	}
	return append(dst, s.around[len(s.order)]...), nil
}

// values holds arguments written as SQL. It implements filewise.RowWriter.
type values struct {
	text []byte
	ends []int
}

func (v *values) reset() { v.text, v.ends = v.text[:0], v.ends[:0] }

// of returns argument i.
func (v *values) of(i int) []byte {
	from := 0
	if i > 0 {
		from = v.ends[i-1]
	}
	return v.text[from:v.ends[i]]
}

func (v *values) end() { v.ends = append(v.ends, len(v.text)) }

// Int writes a whole number.
func (v *values) Int(n int64) {
	v.text = strconv.AppendInt(v.text, n, 10)
	v.end()
}

// Float writes a number in a form that is read back exactly.
func (v *values) Float(x float64) {
	v.text = strconv.AppendFloat(v.text, x, 'e', -1, 64)
	v.end()
}

// Null writes NULL.
func (v *values) Null() {
	v.text = append(v.text, "NULL"...)
	v.end()
}

// Text writes a text as Literal does.
func (v *values) Text(b []byte) {
	v.text = append(v.text, '\'')
	for _, c := range b {
		switch c {
		case '\'', '\\':
			v.text = append(v.text, '\\', c)
		case 0:
			v.text = append(v.text, '\\', '0')
		default:
			v.text = append(v.text, c)
		}
	}
	v.text = append(v.text, '\'')
	v.end()
}

// EndRow does nothing: there is one row.
func (v *values) EndRow() error { return nil }

// write writes arguments given as values.
func (v *values) write(args []any) error {
	for _, a := range args {
		switch a := a.(type) {
		case int64:
			v.Int(a)
		case float64:
			v.Float(a)
		case string:
			v.Text([]byte(a))
		case []byte:
			v.Text(a)
		case nil:
			v.Null()
		default:
			return filewise.Errorf(filewise.CodeInternal, "", "an argument is a %T", a)
		}
	}
	return nil
}
