package filewise

import "context"

// Restorer is an engine that fills builds from the dump of a database (CustomSQL.From).
type Restorer interface {
	// CheckDump reads a program's dump, and refuses layouts that cannot hold its tables,
	// by the table's name.
	CheckDump(context.Context, Target, []Layout, Program) error
}
