package customsql

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"filewise"
)

// Seen counts what was found in a log. The zero value is ready for use.
type Seen struct {
	Lines int
	// Unknown counts the database's records that seem to hold a statement in an unknown form. Example is the first such
	// record, and Remedy is an action for the user.
	Unknown         int
	Example, Remedy string
	reported        int
	statements      map[string]int // by database
}

// Of returns a function that counts each statement and passes it to each.
func (s *Seen) Of(each func(filewise.LoggedStatement)) func(filewise.LoggedStatement) {
	return func(l filewise.LoggedStatement) {
		s.reported++
		each(l)
	}
}

// Reported returns whether the server reported any statement.
func (s *Seen) Reported() bool { return s.reported > 0 }

// Add counts a statement of a database.
func (s *Seen) Add(database string) {
	if s.statements == nil {
		s.statements = map[string]int{}
	}
	s.statements[database]++
}

// None explains why no statement of a database was reported although the log has some. It returns nil if some were
// reported, or if the log has none.
func (s *Seen) None(database string) error {
	if s.reported > 0 || s.Unknown == 0 && len(s.statements) == 0 {
		return nil
	}
	if s.Unknown > 0 {
		return filewise.Errorf(filewise.CodeUsage, s.Remedy, "%s read: none of %s about database %s has a form that is known: %.80s",
			filewise.Counted(s.Lines, "line"), filewise.Counted(s.Unknown, "record"), database, filewise.Printable(s.Example))
	}
	names := slices.SortedFunc(maps.Keys(s.statements), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.statements[b], s.statements[a]), cmp.Compare(a, b))
	})
	var of []string
	for _, name := range names[:min(len(names), 5)] {
		of = append(of, fmt.Sprintf("%s (%d)", cmp.Or(filewise.Printable(name), "no database"), s.statements[name]))
	}
	return filewise.Errorf(filewise.CodeUsage, "give one of these by --database, or a log of the time when clients of "+database+" work",
		"%s read, with statements of %s, but none of database %s", filewise.Counted(s.Lines, "line"), strings.Join(of, ", "), database)
}
