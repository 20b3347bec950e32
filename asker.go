package filewise

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Asker is an engine through which package own queries a user's server.
type Asker interface {
	// Ask opens a session in the target's Database, if that is set. The session cannot write if the engine has such
	// sessions. text holds sections of SQL in addition to the engine's own.
	Ask(ctx context.Context, t Target, text string) (Asked, error)
}

// Asked is an open session of an Asker.
type Asked interface {
	About() About
	// Rows executes one section, and returns its rows. It gives up on a server that sends rows without end. Errors show no
	// secret.
	Rows(ctx context.Context, section string, vars map[string]any, args ...any) ([]Row, error)
	// Waits returns the waits since the server's start or, if the server adds up none, of a few samples. Benign
	// waits are left out.
	Waits(context.Context) ([]Counter, error)
	// Remedy returns the statement, such as a GRANT, that makes a failed question succeed, or an empty text if there is
	// none.
	Remedy(error) string
	// Codes returns the server's codes of an error. It returns none if the error is not from the server.
	Codes(error) []string
	Close() error
}

// About holds facts that a server reports when a session is opened.
type About struct {
	Server   string            // product and version
	Local    bool              // the server runs on this host
	Account  string            // in SQL
	Version  [2]int            // in the product's way of counting releases
	Settings map[string]string // at opening
}

// AskPatience limits each question's time, so that a question blocked by a lock does not hold up the rest.
const AskPatience = 4 * time.Second

// ReadPatience limits opening a session, and each question that a command cannot do without. It is the same for every
// engine and command.
const ReadPatience = 20 * time.Second

// ErrNoAnswer reports a server that was given up: it was silent, or sent rows without end.
var ErrNoAnswer = errors.New("no answer")

// RowsOf returns a driver's rows as Rows.
func RowsOf(all [][]any) []Row {
	return Each(all, func(r []any) Row { return r })
}

// Row is a row of an answer, by position. A column that is missing or NULL is empty.
type Row []any

func (r Row) at(n int) any {
	if n >= len(r) {
		return nil
	}
	if b, ok := r[n].([]byte); ok {
		return string(b)
	}
	return r[n]
}

// Text returns a column as text.
func (r Row) Text(n int) string {
	if r.at(n) == nil {
		return ""
	}
	return fmt.Sprint(r.at(n))
}

// Real returns a column as a number. ok is false for NULL, and for a value that is no number.
func (r Row) Real(n int) (x float64, ok bool) {
	switch v := r.at(n).(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	x, err := strconv.ParseFloat(r.Text(n), 64)
	return x, err == nil
}

// Number returns a column as a whole number. ok is false for NULL, and for a value that is no whole number.
func (r Row) Number(n int) (x int64, ok bool) {
	switch v := r.at(n).(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == float64(int64(v))
	}
	x, err := strconv.ParseInt(r.Text(n), 10, 64)
	return x, err == nil
}

// Int returns a column as a whole number, or 0 if it has none.
func (r Row) Int(n int) int64 {
	x, _ := r.Number(n)
	return x
}

// Yes reports whether a column is true or 1.
func (r Row) Yes(n int) bool { return r.at(n) == true || r.Int(n) == 1 }
