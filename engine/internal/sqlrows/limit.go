package sqlrows

import (
	"database/sql"

	"filewise"
)

// Limits of an answer that is held in memory. Normal answers are far smaller. A server that sends rows without end
// would take all memory.
const (
	MostRows  = 1_000_000
	MostBytes = 256 << 20
)

// Limit counts the rows and bytes of one answer. The zero value is ready for use.
type Limit struct{ rows, bytes int }

// Row counts one more row, and returns an error if the answer has become too long.
func (l *Limit) Row(values ...any) error {
	l.rows++
	for _, v := range values {
		l.bytes += 16 // a value of any type
		switch v := v.(type) {
		case string:
			l.bytes += len(v)
		case []byte:
			l.bytes += len(v)
		case *string: // a scan target
			l.bytes += len(*v)
		case *sql.NullString:
			l.bytes += len(v.String)
		}
	}
	if l.rows <= MostRows && l.bytes <= MostBytes {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight, "ask for less, or check what answers there",
		"the server's answer was given up after %d rows and %d MiB: %w has more than %d rows and %d MiB", l.rows, l.bytes>>20,
		filewise.ErrNoAnswer, MostRows, MostBytes>>20)
}
