package dialect

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"unsafe"

	"filewise"
	"filewise/engine/internal/session"
)

// MaxPartitions is the limit of both servers for one table.
const MaxPartitions = 8192

// CheckPartitions refuses a number of partitions that no table can have.
func CheckPartitions(n int) error {
	if n < 1 || n > MaxPartitions {
		return unsupported(fmt.Sprintf("give 1 to %d files", MaxPartitions), "a table has 1 to %d partitions, not %d", MaxPartitions, n)
	}
	return nil
}

// PartitionName returns the name of partition i, from 0.
func PartitionName(i int) string { return fmt.Sprintf("p%04d", i) }

// PartitionByHash returns the clause that divides a table into n partitions by the hash of a key column. directory
// returns DataDirectory of partition i, or "".
func PartitionByHash(column string, n int, directory func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "PARTITION " + PartitionName(i) + directory(i)
	}
	return "\nPARTITION BY HASH (" + Ident(column) + ") (\n  " + strings.Join(list, ",\n  ") + ")"
}

// DataDirectory returns the clause that puts the file of a table or partition into a directory on the server. For an
// empty dir it returns "".
func DataDirectory(dir string) string {
	if dir == "" {
		return ""
	}
	return " DATA DIRECTORY = " + Literal(dir)
}

// WarnPartitions returns warnings about what so many partitions mean for the program. If they are impossible, the error
// wraps filewise.ErrUnsupported.
func (s Schema) WarnPartitions(n int) ([]filewise.Warning, error) {
	if err := CheckPartitions(n); err != nil {
		return nil, err
	}
	all := append(s.ManyFiles(n), s.WarnChurn()...)
	if n > 1 {
		all = append(all, filewise.Warning{Code: "partitions-scope",
			Remedy: "read differences from the layout of one partition (1 among --files)",
			Message: "Partitions also change planning, indexes and locking. The plain table against 1 partition shows the effect of partitioning; " +
				"1 against N shows the effect of files"})
	}
	return all, s.Program.Sharding.Fits(n, "partition of each table")
}

// CheckGrowth refuses preallocation and growth settings for the files of tables and partitions, whose size and growth
// only InnoDB decides.
func (d *Design) CheckGrowth() error {
	s, empty := d.Layout.Data, d.EmptyTable()
	switch {
	case s.Bytes > 0 && s.Bytes < int64(s.Files)*empty:
		return unsupported("use fewer files or a larger --size",
			"%d bytes in %s: InnoDB's file of an empty table has %d already", s.Bytes, filewise.FilesName(s.Files), empty)
	case s.Allocation == filewise.Preallocated:
		return unsupported("use --allocation growing, or --kind system",
			"InnoDB cannot preallocate the file of a table or partition (kind %s)", d.Layout.Kind)
	case s.Growth > 0:
		d.Warn("growth-not-used", "leave --growth out",
			"InnoDB itself decides by how much the files of kind %s grow (up to 4 MiB at a time); --growth is not used", d.Layout.Kind)
	}
	return nil
}

// CheckPerTable refuses connections and tables that cannot be spread evenly over one table for each file.
func (s Schema) CheckPerTable(files int) error {
	if !s.Program.Appends() {
		return s.checkTables(files)
	}
	if n := len(s.Tables); files != n {
		return unsupported("leave --table out: the connections then take turns on a table for each file; or use --kind partitions",
			"kind per-table has a file for each table: with one for each of %d connections %s, "+
				"not %d", s.Program.Connections(), filewise.FilesName(n), files)
	}
	if files > s.Program.Connections() {
		return unsupported(fmt.Sprintf("give up to %d files, more --connections, or --kind partitions", s.Program.Connections()),
			"kind per-table has a file for each table, and %d connections would leave some of %d tables empty", s.Program.Connections(), files)
	}
	return nil
}

// typed sends operations of several types. Each operation is one statement and one transaction. Arguments are written
// into the statement's text: for a prepared statement the driver would allocate memory for each argument, and preparing
// a CALL saves the server nothing.
type typed struct {
	*connection
	writer filewise.ArgsWriter // nil if the arguments are appended
	texts  []statementText     // by type
	direct executor
	values values
	buf    []byte
	churn  *churn
}

// executor is the driver's own connection. Its Exec reads the whole answer and keeps nothing of it.
type executor interface {
	Exec(query string, args []driver.Value) (driver.Result, error)
}

// newTyped prepares a session for a phase's types. An interrupted procedure does not reach its end, so its transaction
// is rolled back.
func newTyped(ctx context.Context, s *connection) (_ filewise.Session, err error) {
	t := &typed{connection: s}
	t.One = t.one
	t.writer, _ = s.Phase.Args.(filewise.ArgsWriter)
	t.texts, err = session.Render(s.Phase, func(section string) (statementText, error) {
		text, err := s.schema.Statement(section, s.schema.TableOf(s.Worker))
		return divided(text), err
	})
	if err == nil {
		t.churn, err = s.schema.newChurn()
	}
	if err == nil {
		err = s.ready(ctx)
	}
	if err != nil {
		return nil, err
	}
	return t, s.conn.Raw(func(connection any) (err error) {
		var ok bool
		if t.direct, ok = connection.(executor); !ok {
			err = fmt.Errorf("the driver's connection %T executes no texts", connection)
		}
		return err
	})
}

// one executes an operation, and before it creates and drops a table if the program does that.
func (t *typed) one(_ context.Context, i int64) error {
	if t.churn != nil {
		if err := t.churn.createAndDropTable(t.direct); err != nil {
			return fmt.Errorf("churn: %w", err)
		}
	}
	t.values.reset()
	if t.writer != nil {
		t.writer.WriteArgs(&t.values, t.Worker, i)
	} else if err := t.values.write(t.Phase.Args.Args(nil, t.Worker, i)); err != nil {
		return err
	}
	var err error
	n := t.Type(i)
	if t.buf, err = t.texts[n].fill(t.buf[:0], &t.values); err != nil {
		return err
	}
	if err := execute(t.direct, t.buf); err != nil {
		return fmt.Errorf("%s: %w", t.Phase.Types[n], err)
	}
	return nil
}

// execute lends a statement to the driver, which copies the statement before it returns.
func execute(to executor, statement []byte) error {
	_, err := to.Exec(unsafe.String(unsafe.SliceData(statement), len(statement)), nil)
	return err
}
