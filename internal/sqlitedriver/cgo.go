//go:build cgo

package sqlitedriver

import (
	"database/sql"
	"errors"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// Name is the driver's name for database/sql.
const Name = "sqlite3"

// PureGo reports whether the driver is the translation into Go.
const PureGo = false

// Driver names the driver and its version.
func Driver() string {
	const path = "github.com/mattn/go-sqlite3"
	return path[len("github.com/"):] + module(path) + ", cgo build"
}

// CodesOf returns the result codes of an SQLite error. ok is false for other errors.
func CodesOf(err error) (c Codes, ok bool) {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return c, false
	}
	return Codes{Primary: int(e.Code), Extended: int(e.ExtendedCode), Errno: e.SystemErrno}, true
}

// LimitLength makes a connection refuse rows and values with more bytes before it reads them (SQLITE_LIMIT_LENGTH).
func LimitLength(conn *sql.Conn, bytes int) error {
	return conn.Raw(func(c any) error {
		c.(*sqlite3.SQLiteConn).SetLimit(sqlite3.SQLITE_LIMIT_LENGTH, bytes)
		return nil
	})
}

// Conn is a connection without database/sql and its pool. Only one goroutine may use it at a time.
type Conn struct{ *sqlite3.SQLiteConn }

// Opener opens connections that have its SQL functions.
type Opener struct{ functions Functions }

// NewOpener returns an opener. functions may be nil.
func NewOpener(functions Functions) *Opener { return &Opener{functions} }

// Open opens a connection to the file in a URI, which must have parameters.
func (o *Opener) Open(uri string) (*Conn, error) {
	raw, err := (&sqlite3.SQLiteDriver{}).Open(uri + mutexFree)
	if err != nil {
		return nil, err
	}
	c := &Conn{raw.(*sqlite3.SQLiteConn)}
	for name, f := range o.functions {
		if err := c.RegisterFunc(name, f, true); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// mutexFree turns off locks that a connection of one goroutine does not need.
const mutexFree = "&_mutex=no"

// ChunkSize makes the file of an attached schema grow and shrink in chunks of this many bytes
// (SQLITE_FCNTL_CHUNK_SIZE).
func (c *Conn) ChunkSize(schema string, bytes int) error {
	return c.SetFileControlInt(schema, sqlite3.SQLITE_FCNTL_CHUNK_SIZE, bytes)
}

// Backup is a copy of a database in progress, by SQLite's online backup.
type Backup struct {
	target *Conn
	backup *sqlite3.SQLiteBackup
}

// NewBackup begins to copy a connection's database to the file in a URI.
func NewBackup(from *Conn, uri string) (*Backup, error) {
	target, err := NewOpener(nil).Open(uri)
	if err != nil {
		return nil, err
	}
	b, err := target.Backup("main", from.SQLiteConn, "main")
	if err != nil {
		return nil, errors.Join(err, target.Close())
	}
	return &Backup{target, b}, nil
}

// Step copies a number of pages. done reports that none is left.
func (b *Backup) Step(pages int) (done bool, err error) { return b.backup.Step(pages) }

// Finish ends the backup and closes the connection to its file.
func (b *Backup) Finish() error { return errors.Join(b.backup.Finish(), b.target.Close()) }
