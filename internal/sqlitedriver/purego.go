//go:build !cgo

package sqlitedriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Name is the driver's name for database/sql.
const Name = "sqlite"

// PureGo reports whether the driver is the translation into Go.
const PureGo = true

// Driver names the driver and its version.
func Driver() string {
	const path = "modernc.org/sqlite"
	return path + module(path) + ", pure Go"
}

// CodesOf returns the result codes of an SQLite error. ok is false for other errors.
func CodesOf(err error) (c Codes, ok bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return c, false
	}
	return Codes{Primary: e.Code() & 0xff, Extended: e.Code()}, true
}

// LimitLength makes a connection refuse rows and values with more bytes before it reads them (SQLITE_LIMIT_LENGTH).
func LimitLength(conn *sql.Conn, bytes int) error {
	_, err := sqlite.Limit(conn, lib.SQLITE_LIMIT_LENGTH, bytes)
	return err
}

// raw is the interface of the driver's connections.
type raw interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	NewBackup(uri string) (*sqlite.Backup, error)
}

// Conn is a connection without database/sql and its pool. Only one goroutine may use it at a time.
type Conn struct{ raw }

// Opener opens connections that have its SQL functions.
type Opener struct {
	driver sqlite.Driver
	err    error
}

// NewOpener returns an opener. functions may be nil. The functions live as long as the process.
func NewOpener(functions Functions) *Opener {
	o := new(Opener)
	for name, f := range functions {
		o.err = errors.Join(o.err, o.driver.RegisterFunction(name, &sqlite.FunctionImpl{NArgs: 1, Deterministic: true, Scalar: ofText(name, f)}))
	}
	return o
}

// ofText returns an SQL function of one text in the driver's form.
func ofText(name string, f func([]byte) int64) func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
	return func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		switch text := args[0].(type) {
		case string:
			return f([]byte(text)), nil
		case []byte:
			return f(text), nil
		}
		return nil, fmt.Errorf("%s of a %T, expected a text", name, args[0])
	}
}

// Open opens a connection to the file in a URI, which must have parameters.
func (o *Opener) Open(uri string) (*Conn, error) {
	if err := errors.Join(o.err, reach()); err != nil {
		return nil, err
	}
	c, err := o.driver.Open(uri)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(raw)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s: its connections lack what Filewise uses", Driver()), c.Close())
	}
	return &Conn{conn}, nil
}

// AutoCommit reports whether no transaction is open.
func (c *Conn) AutoCommit() bool {
	v, err := c.ask("SELECT " + autoCommitFunction + "()")
	return err == nil && v != 0
}

// ChunkSize makes the file of an attached schema grow and shrink in chunks of this many bytes
// (SQLITE_FCNTL_CHUNK_SIZE).
func (c *Conn) ChunkSize(schema string, bytes int) error {
	code, err := c.ask("SELECT "+chunkSizeFunction+"(?1, ?2)", schema, int64(bytes))
	if err == nil && code != 0 {
		err = fmt.Errorf("SQLite's result is %d", code)
	}
	return err
}

// ask returns the whole number that a statement selects.
func (c *Conn) ask(text string, args ...driver.Value) (int64, error) {
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	rows, err := c.QueryContext(context.Background(), text, named)
	if err != nil {
		return 0, err
	}
	values := make([]driver.Value, 1)
	err = errors.Join(rows.Next(values), rows.Close())
	n, _ := values[0].(int64)
	return n, err
}

// Backup is a copy of a database in progress, by SQLite's online backup.
type Backup struct{ backup *sqlite.Backup }

// NewBackup begins to copy a connection's database to the file in a URI.
func NewBackup(from *Conn, uri string) (*Backup, error) {
	b, err := from.NewBackup(uri)
	if err != nil {
		return nil, err
	}
	return &Backup{b}, nil
}

// Step copies a number of pages. done reports that none is left.
func (b *Backup) Step(pages int) (done bool, err error) {
	more, err := b.backup.Step(int32(pages))
	return err == nil && !more, err
}

// Finish ends the backup and closes the connection to its file.
func (b *Backup) Finish() error { return b.backup.Finish() }
