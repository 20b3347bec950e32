// Package sqlitedriver is the SQLite driver that Filewise was built with: the C library (mattn/go-sqlite3) in builds
// with cgo, or its translation into Go (modernc.org/sqlite) in builds without. Both have the same files, SQL and result
// codes. The translation is slower.
package sqlitedriver

import (
	"net/url"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
)

// The primary result codes (https://www.sqlite.org/rescode.html), as in Codes.
const (
	Error      = 1 // mostly an error in the SQL itself
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

// The extended result codes.
const (
	ConstraintForeignKey = Constraint | 3<<8
	Moved                = ReadOnly | 4<<8 // SQLITE_READONLY_DBMOVED: the file was moved
	ConstraintPrimaryKey = Constraint | 6<<8
	ConstraintUnique     = Constraint | 8<<8
)

// Codes holds SQLite's codes for a failure.
type Codes struct {
	Primary, Extended int
	Errno             syscall.Errno // of the failed system call; 0 if not known
}

// Functions holds SQL functions by name. Each takes a text and returns a whole number, always the same for the same
// text.
type Functions map[string]func(text []byte) int64

// URI returns SQLite's URI for a file, whatever characters its path holds. query holds the parameters of SQLite and of
// the driver.
func URI(path, query string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path // as in file:/C:/x
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query
}

// module returns a space and the driver's version in this build, or an empty text if the version is not recorded.
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
