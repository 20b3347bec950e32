// Package sqlitedriver is the SQLite that Filewise was built with: the C library
// (mattn/go-sqlite3) in builds with cgo, its translation into Go
// (modernc.org/sqlite) in builds without. Both have the same files, the same SQL
// and the same result codes; the translation is slower.
package sqlitedriver

import (
	"net/url"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
)

// Primary result codes (https://www.sqlite.org/rescode.html), as Codes has them.
const (
	Error      = 1 // of SQL itself, mostly
	Perm       = 3
	Busy       = 5
	Locked     = 6
	ReadOnly   = 8
	IOErr      = 10
	Corrupt    = 11
	Full       = 13
	CantOpen   = 14
	Protocol   = 15
	TooBig     = 18
	Constraint = 19
	Auth       = 23
	NotADB     = 26
)

// Extended result codes.
const (
	ConstraintForeignKey = Constraint | 3<<8
	Moved                = ReadOnly | 4<<8 // SQLITE_READONLY_DBMOVED: the file was moved
	ConstraintPrimaryKey = Constraint | 6<<8
	ConstraintUnique     = Constraint | 8<<8
)

// Codes holds SQLite's codes of a failure.
type Codes struct {
	Primary, Extended int
	Errno             syscall.Errno // of the system call that failed; 0 if it is not known
}

// Functions are SQL functions of one text that return a whole number, always the
// same one for the same text.
type Functions map[string]func(text []byte) int64

// URI names a file to SQLite, with whatever characters its path holds; the query
// gives SQLite's parameters and the driver's.
func URI(path, query string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path // file:/C:/x
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query
}

// module returns a space and the driver's version in this build. It is empty if the version is not recorded.
func module(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return " " + m.Version
		}
	}
	return ""
}
