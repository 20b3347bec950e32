package postgres

import (
	"fmt"
	"strconv"

	"filewise"
)

// wire are the arguments of one operation as PostgreSQL's text format. They allocate
// nothing once the buffers have grown, where Args is an ArgsWriter.
type wire struct {
	params [][]byte // in buf
	buf    []byte
	values []any // of Args that write nothing themselves
}

func (a *wire) clear() { a.params, a.buf = a.params[:0], a.buf[:0] }

// write makes the arguments of an operation.
func (a *wire) write(args filewise.Args, worker int, i int64) {
	a.clear()
	if w, ok := args.(filewise.ArgsWriter); ok {
		w.WriteArgs(a, worker, i)
		return
	}
	a.values = args.Args(a.values[:0], worker, i)
	a.encode(a.values)
}

// encode adds values as database/sql knows them.
func (a *wire) encode(values []any) {
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			a.Int(v)
		case float64:
			a.Float(v)
		case string:
			a.add(append(a.buf, v...))
		case []byte:
			a.Text(v)
		case nil:
			a.Null()
		default:
			a.add(fmt.Append(a.buf, v))
		}
	}
}

// add takes the buffer with an argument at its end. One that has moved leaves the
// arguments before it where they were.
func (a *wire) add(grown []byte) {
	a.params = append(a.params, grown[len(a.buf):len(grown):len(grown)])
	a.buf = grown
}

// Int adds a whole number.
func (a *wire) Int(v int64) { a.add(strconv.AppendInt(a.buf, v, 10)) }

// Float adds a number so that it is read back exactly.
func (a *wire) Float(v float64) { a.add(strconv.AppendFloat(a.buf, v, 'g', -1, 64)) }

// Text adds a text.
func (a *wire) Text(v []byte) { a.add(append(a.buf, v...)) }

// Null adds the absence of a value.
func (a *wire) Null() { a.params = append(a.params, nil) }

// EndRow does nothing.
func (a *wire) EndRow() error { return nil }
