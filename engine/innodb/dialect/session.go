package dialect

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net"
	"slices"
	"text/template"

	"filewise"
	"filewise/engine/internal/orders"
	"filewise/engine/internal/session"
	"filewise/internal/exchange"
	"filewise/internal/sqlfile"
)

// Connector opens a program's connections. It implements filewise.Connector.
type Connector struct {
	Host   Host
	Schema Schema
}

// Connect opens a worker's connection for a phase of the program.
func (c Connector) Connect(ctx context.Context, phase, worker int) (filewise.Session, error) {
	machine, err := session.New(c.Schema.Program, phase, worker)
	if err != nil {
		return nil, err
	}
	link, err := c.Host.Link()
	if err != nil {
		return nil, err
	}
	s := &connection{Session: machine, host: c.Host, link: link, schema: c.Schema.forPhase(machine.Phase), pool: c.Host.Pool()}
	s.Engine = session.Engine{
		Interrupt: s.interrupt, Drop: s.drop, Interrupted: interrupted, Died: func() bool { return link.Alive() != nil },
		Rollback: s.rollback, Kill: s.kill, Alive: s.alive, Release: s.release,
		Explain: func(err error) error { return Classify(link.Explain(err)) },
	}
	var worked filewise.Session
	switch {
	case c.Schema.Program.Custom != nil:
		worked, err = newCustom(ctx, s)
	case !s.Phase.Client:
		worked, err = newLoop(ctx, s)
	case len(s.Phase.Types) > 0:
		worked, err = newTyped(ctx, s)
	default:
		worked, err = newClient(ctx, s)
	}
	if err != nil {
		return nil, errors.Join(Classify(link.Explain(err)), s.Close())
	}
	return worked, nil
}

// connection is one of the workload's connections.
type connection struct {
	*session.Session
	host   Host
	link   Link
	schema Schema
	pool   *sql.DB // contains only this connection
	conn   *sql.Conn
	line   net.Conn // the network connection beneath
	id     int64    // the server's number of the connection
}

// Do executes operations, before and after which it calls Touched.
func (s *connection) Do(ctx context.Context, first, n int64) (int64, error) {
	s.host.Touched()
	defer s.host.Touched()
	return s.Session.Do(ctx, first, n)
}

// ready opens the connection and executes the statements that set it up.
func (s *connection) ready(ctx context.Context) (err error) {
	setup, err := s.schema.ifAny(SectionConnection, s.schema.TableOf(s.Worker))
	if err != nil {
		return err
	}
	if s.conn, err = s.pool.Conn(exchange.Note(ctx, func(c net.Conn) { s.line = c })); err != nil {
		return err
	}
	if err := s.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&s.id); err != nil {
		return err
	}
	for _, statement := range setup {
		if _, err := s.conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", sqlfile.Short(statement), err)
		}
	}
	return nil
}

// lookFor sets up the look-up of operations that may be committed, if their data show that.
func (s *connection) lookFor() error {
	look, err := s.schema.oneIfAny(SectionCommitted+s.Phase.Section, s.schema.TableOf(s.Worker))
	if look == "" {
		return err
	}
	s.Look = func(ctx context.Context, args []any) (bool, error) {
		var found int
		err := s.link.Control.QueryRowContext(ctx, look, args[0]).Scan(&found)
		return found > 0, s.link.Explain(err)
	}
	return nil
}

func (s *connection) interrupt(ctx context.Context) error {
	_, err := s.link.Control.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", s.id))
	return err
}

// drop closes the network connection beneath the driver, which can be waiting for it.
func (s *connection) drop() {
	if s.line != nil {
		_ = s.line.Close()
	}
}

func (s *connection) rollback(ctx context.Context) error {
	if s.conn == nil { // the operation's own connection has ended, and its transaction too
		return nil
	}
	_, err := s.conn.ExecContext(ctx, "ROLLBACK")
	return err
}

func (s *connection) kill(ctx context.Context) error {
	_, err := s.link.Control.ExecContext(ctx, fmt.Sprintf("KILL CONNECTION %d", s.id))
	if is(err, ErrNoThread) { // the session has ended
		return nil
	}
	return s.link.Explain(err)
}

func (s *connection) alive(ctx context.Context) (bool, error) {
	var n int
	err := s.link.Control.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?", s.id).Scan(&n)
	return n > 0, s.link.Explain(err)
}

// release closes the connection.
func (s *connection) release() error {
	if s.conn != nil {
		_ = s.conn.Close() // closing a connection to a dead server can fail, but it is gone either way
	}
	return s.pool.Close()
}

// newLoop prepares a connection for operations over which the server loops.
func newLoop(ctx context.Context, s *connection) (filewise.Session, error) {
	calls, err := session.Render(s.Phase, func(section string) (string, error) {
		return s.schema.Statement(section, s.schema.TableOf(s.Worker))
	})
	if err != nil {
		return nil, err
	}
	s.Call = func(ctx context.Context, first, n int64) error {
		_, err := s.conn.ExecContext(ctx, calls[0], s.Worker, first, n)
		return err
	}
	if err := s.lookFor(); err != nil {
		return nil, err
	}
	return s, s.ready(ctx)
}

// closeFirst makes Close call things before it closes the connection.
func (s *connection) closeFirst(things func() error) {
	s.Release = func() error {
		_ = things() // if the server is dead, they are gone either way
		return s.release()
	}
}

//go:embed sql/*.sql
var sqlFiles embed.FS

// sections holds the SQL files by workload.
var sections = words.Folder(sqlFiles, nil, template.FuncMap{"in": in, "literal": Literal, "pieces": pieces})

var words = orders.Words{
	Types: map[string]string{"tiny": "TINYINT", "small": "SMALLINT", "int": "INT", "amount": "INT", "limit": "BIGINT", "big": "BIGINT",
		"char": "CHAR(%)", "text": "VARCHAR(%)", "name": "VARCHAR(%)"},
	At: func(vars map[string]any, table string) (string, error) {
		return fmt.Sprint(vars["Db"], "fw_", table), nil
	},
}

// Names of the sections that the engines themselves execute.
const (
	SectionTables     = "tables"
	SectionInsert     = "procedure-insert" // a table's procedure
	SectionConnection = "connection"       // sets up a new connection
	SectionCommitted  = "committed-"       // prefix; whether the row of a key exists
	SectionCheck      = "check"
	SectionIndexes    = "indexes"    // of a table, after the load
	SectionProcedure  = "procedure-" // prefix of an operation's procedure
	SectionStatement  = "statement-" // prefix of a statement that the client sends
	SectionChurn      = "churn"      // a table that is created and dropped
)

// pieceBytes is the most of a long text that one statement carries.
const pieceBytes = 16_000

// pieces splits a long text of single-byte letters.
func pieces(text string) []string {
	var all []string
	for chunk := range slices.Chunk([]byte(text), pieceBytes) {
		all = append(all, string(chunk))
	}
	return all
}

// in returns a quoted name, qualified with its database.
func in(database, name string) string { return Ident(database) + "." + Ident(name) }
