package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"text/template"
	"time"

	"filewise"
	"filewise/engine/internal/orders"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/internal/sqlfile"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// sections holds the SQL files by workload. A new workload is a new file.
var sections = words.Folder(sqlFiles, nil, template.FuncMap{"ident": dialect.Ident, "literal": dialect.Literal, "signature": signature2})

var words = orders.Words{
	Types: map[string]string{"tiny": "integer", "small": "integer", "int": "integer", "amount": "integer", "limit": "integer", "big": "bigint",
		"char": "varchar(%)", "text": "varchar(%)", "name": `varchar(%) COLLATE "C"`},
	At:  func(_ map[string]any, table string) (string, error) { return table, nil },
	Big: "%::bigint", Sum: "sum(%)::bigint",
}

//go:embed server.sql
var serverSQL string

// queries holds the queries that belong to no workload.
var queries = sqlfile.Must(sqlfile.Parse("server.sql", serverSQL, nil))

// Names of the sections that the engine itself executes.
const (
	sectionTables     = "tables"
	sectionConnection = "connection"
	sectionLast       = "last"     // the largest key, before files are added for new data
	sectionNewData    = "new-data" // files are added for new data
	sectionRebuilt    = "rebuilt"  // files are added, and all data are spread over them
	sectionIndexes    = "indexes"  // after the tables are loaded
	sectionCheck      = "check"
	sectionChurn      = "churn"   // after a prefix; for a table that is created and dropped
	sectionChurned    = "churned" // after many of these
)

// Prefixes of the names of phases' sections.
const (
	prefixProcedure = "procedure-"
	prefixStatement = "statement-"
	prefixCommitted = "committed-"
)

// statements renders a section of the workload. If the section is for one table, the table is in Table. Sections for
// all tables range over .Tables.
func (d *design) statements(section string, t table) ([]string, error) {
	vars := map[string]any{
		"Tables": d.tables, "T": t, "Pool": "", "ServerCRC": d.version >= versionCRC, "Flushes": d.version >= versionFlush,
		"Wide": d.wide(), "From": d.newFrom, "AddedLater": d.layout.AddedLater,
	}
	vars["Database"], vars["Reader"] = d.database, max(t.Number-1, 0)
	vars["Connections"] = 1 // of a phase that loops on the server
	maps.Copy(vars, d.program.Vars())
	if d.program.First().Args != nil {
		vars["Pool"] = d.program.First().Args.Pool()
	}
	if d.program.Sharding != nil {
		vars["Named"], vars["Homes"] = d.named(), d.homes()
	}
	all, err := sections[d.program.SQL()].Statements(section, vars)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	return signed(d.database, all)
}

// statement renders a section that consists of one statement.
func (d *design) statement(section string, t table) (string, error) {
	all, err := d.statements(section, t)
	if err == nil && len(all) != 1 {
		err = filewise.Errorf(filewise.CodeInternal, "", "section %q has %d statements, expected 1", section, len(all))
	}
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// extension returns the section that adds a layout's further files to the loaded database.
func (d *design) extension() string {
	if d.layout.AddedLater == filewise.LaterNewData {
		return sectionNewData
	}
	return sectionRebuilt
}

// send executes one operation with its prepared statement.
func (s *statements) send(ctx context.Context, i int64) error {
	if s.churn {
		if err := s.createAndDropTable(); err != nil {
			return err
		}
	}
	s.Write(s.Phase.Args, s.Worker, i)
	err := s.Execute(s.conn, s.names[s.Type(i)], s.Params)
	if err != nil || len(s.Phase.Types) > 0 {
		return client.Refused(ctx, s.texts[s.Type(i)], err) // with several types, each statement checks itself whether its rows exist
	}
	return s.found(s.Rows())
}

// churnName is the prepared statement that creates, fills and drops a table.
const churnName = "fw_churn"

// createAndDropTable creates, fills and drops a table whose number no other has.
func (s *statements) createAndDropTable() error {
	s.Clear()
	s.Int(s.build.churned.Add(1))
	return client.Failed("churn", s.Execute(s.conn, churnName, s.Params))
}

// apart executes one operation on a new connection. Connecting and closing are part of the operation.
func (s *statements) apart(ctx context.Context, i int64) (err error) {
	s.conn = nil
	conn, err := s.build.link.Worker(ctx)
	if err != nil {
		return err
	}
	s.conn = conn
	s.Write(s.Phase.Args, s.Worker, i)
	err = s.Guard(ctx, func(ctx context.Context) error {
		tag, err := conn.ExecParams(ctx, s.texts[0], s.Params, nil, nil, nil).Close()
		if err != nil {
			return client.Refused(ctx, s.texts[0], err)
		}
		return s.found(tag.RowsAffected())
	})
	if err != nil {
		return err // whether it committed is looked up with what is left of the connection
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = conn.Close(end) // the operation has committed
	s.conn = nil
	return nil
}

// found returns an error if an operation on a key met no row.
func (s *statements) found(rows int64) error {
	if len(s.Params) > 0 && rows == 0 {
		return fmt.Errorf("%s %q: %w", s.Phase.Section, s.Params, errNoRow)
	}
	return nil
}

var errNoRow = errors.New("there is no such row")
