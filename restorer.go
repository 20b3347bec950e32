package filewise

import (
	"context"
	"io"
)

// Restorer is an engine that fills builds from the dump of a database (CustomSQL.From).
type Restorer interface {
	// CheckDump reads a program's dump, and refuses layouts that cannot hold its tables,
	// by the table's name.
	CheckDump(context.Context, Target, []Layout, Program) error
	// Dump writes a consistent dump of the database that the address of an external target
	// names, in a session that only reads. It goes as fast as the writer takes it.
	Dump(context.Context, Target, io.Writer) error
}
