package client

import (
	"fmt"
	"strconv"

	"filewise"
)

// Wire holds the arguments of one operation in PostgreSQL's text format. If Args is an ArgsWriter, nothing is allocated
// once the buffers have grown.
type Wire struct {
	Params [][]byte // slices of buf
	buf    []byte
	values []any // for Args that do not write to the Wire
}

func (a *Wire) Clear() { a.Params, a.buf = a.Params[:0], a.buf[:0] }

// Write sets the arguments of operation i.
func (a *Wire) Write(args filewise.Args, worker int, i int64) {
	a.Clear()
	if w, ok := args.(filewise.ArgsWriter); ok {
		w.WriteArgs(a, worker, i)
		return
	}
	a.values = args.Args(a.values[:0], worker, i)
	a.Encode(a.values)
}

// Encode adds values of database/sql types.
func (a *Wire) Encode(values []any) {
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

// add takes over the buffer, with a new argument at its end. If the buffer has moved, earlier arguments stay valid in
// the old one.
func (a *Wire) add(grown []byte) {
	a.Params = append(a.Params, grown[len(a.buf):len(grown):len(grown)])
	a.buf = grown
}

// Int adds a whole number.
func (a *Wire) Int(v int64) { a.add(strconv.AppendInt(a.buf, v, 10)) }

// Float adds a number in a form that is read back exactly.
func (a *Wire) Float(v float64) { a.add(strconv.AppendFloat(a.buf, v, 'g', -1, 64)) }

// Text adds a text.
func (a *Wire) Text(v []byte) { a.add(append(a.buf, v...)) }

// Null adds NULL.
func (a *Wire) Null() { a.Params = append(a.Params, nil) }

// EndRow does nothing.
func (a *Wire) EndRow() error { return nil }
