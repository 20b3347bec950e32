package external

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"reflect"
	"sync/atomic"
	"time"

	"filewise"
	"filewise/internal/sqlfile"
)

// Traits holds what differs between drivers.
type Traits struct {
	Server string // the server's name in messages
	// Why returns why a connection was ended. It is nil if the driver's own errors report that.
	Why func(driver.Conn) error
	// Cut closes a connection's socket. It is nil if the driver drops the rest of an answer without reading it.
	Cut func(driver.Conn)
	// Code returns the server's code of an error, or "" if the server did not send the error.
	Code func(error) string
}

// Recovering wraps a connector so that a driver's panic over a server's answer becomes an error that names the server.
// A connection that met a panic is not used again. Refused statements are reported (filewise.SeeRefusals).
func Recovering(inner driver.Connector, t Traits) driver.Connector { return recovering{inner, t} }

type recovering struct {
	driver.Connector
	Traits
}

// Unreadable returns the error about a server whose answer the driver cannot read.
func Unreadable(server string, what any) error {
	format := "%s sent an answer that its driver cannot read: %v"
	if _, is := what.(error); is {
		format = "%s sent an answer that its driver cannot read: %w"
	}
	return filewise.Errorf(filewise.CodePreflight, "check what answers there, and name a server that keeps to its protocol", format, server,
		what)
}

// Connect opens a connection.
func (r recovering) Connect(ctx context.Context) (c driver.Conn, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Unreadable(r.Server, p)
		}
	}()
	if c, err = r.Connector.Connect(ctx); err != nil {
		return nil, err
	}
	return &careful{Conn: c, from: r, see: filewise.SeesRefusals(ctx)}, nil
}

// careful wraps a connection. It implements the optional interfaces that database/sql looks for in addition to
// driver.Conn.
type careful struct {
	driver.Conn
	from   recovering
	see    func(filewise.Refusal) // taken from the context that the connection was opened with; can be nil
	broken atomic.Bool
}

// recovered turns a panic into an error, and explains why a connection was ended. It must be deferred.
func (c *careful) recovered(err *error) {
	if p := recover(); p != nil {
		c.broken.Store(true)
		*err = Unreadable(c.from.Server, p)
		return
	}
	if *err == nil || c.from.Why == nil || errors.Is(*err, io.EOF) {
		return
	}
	if why := c.from.Why(c.Conn); why != nil {
		c.broken.Store(true)
		*err = Unreadable(c.from.Server, why)
	}
}

// answered does what recovered does, and also reports a statement that the server refused. It must be deferred.
func (c *careful) answered(ctx context.Context, query string, err *error) {
	if p := recover(); p != nil {
		c.broken.Store(true)
		*err = Unreadable(c.from.Server, p)
		return
	}
	if *err == nil || errors.Is(*err, io.EOF) || errors.Is(*err, driver.ErrSkip) {
		return
	}
	c.recovered(err)
	see := c.see
	if given := filewise.SeesRefusals(ctx); given != nil {
		see = given
	}
	if see != nil && ctx.Err() == nil && c.from.Code != nil {
		Refused(see, query, c.from.Code(*err))
	}
}

// Refused calls see with a refused statement and its error code. It does nothing if see is nil or the code empty.
func Refused(see func(filewise.Refusal), statement, code string) {
	if see != nil && code != "" {
		see(filewise.Refusal{Statement: sqlfile.Public(statement), Code: code})
	}
}

// Close implements driver.Conn.
func (c *careful) Close() (err error) {
	defer c.recovered(&err)
	return c.Conn.Close()
}

// Prepare implements driver.Conn.
func (c *careful) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *careful) PrepareContext(ctx context.Context, query string) (s driver.Stmt, err error) {
	defer c.answered(ctx, query, &err)
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		s, err = p.PrepareContext(ctx, query)
	} else {
		s, err = c.Conn.Prepare(query)
	}
	if err != nil {
		return nil, err
	}
	return &carefulStmt{s, c, query}, nil
}

// BeginTx implements driver.ConnBeginTx.
func (c *careful) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	defer c.recovered(&err)
	if b, ok := c.Conn.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, o)
	}
	return c.Conn.Begin() //nolint:staticcheck // old drivers have no BeginTx
}

// Ping implements driver.Pinger.
func (c *careful) Ping(ctx context.Context) (err error) {
	defer c.recovered(&err)
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

// ExecContext implements driver.ExecerContext.
func (c *careful) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (r driver.Result, err error) {
	defer c.answered(ctx, query, &err)
	if e, ok := c.Conn.(driver.ExecerContext); ok {
		return e.ExecContext(ctx, query, args)
	}
	return nil, driver.ErrSkip
}

// QueryContext implements driver.QueryerContext.
func (c *careful) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (r driver.Rows, err error) {
	defer c.answered(ctx, query, &err)
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	r, err = q.QueryContext(ctx, query, args)
	return c.rows(ctx, query, r, err)
}

// Exec executes a statement for sessions that use the driver's connection directly.
func (c *careful) Exec(query string, args []driver.Value) (r driver.Result, err error) {
	defer c.answered(context.Background(), query, &err)
	if e, ok := c.Conn.(driver.Execer); ok { //nolint:staticcheck // the one without a context costs less
		return e.Exec(query, args)
	}
	return nil, driver.ErrSkip
}

// CheckNamedValue implements driver.NamedValueChecker.
func (c *careful) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// ResetSession implements driver.SessionResetter.
func (c *careful) ResetSession(ctx context.Context) (err error) {
	defer c.recovered(&err)
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid implements driver.Validator.
func (c *careful) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !c.broken.Load() && (!ok || v.IsValid())
}

func (c *careful) rows(ctx context.Context, query string, r driver.Rows, err error) (driver.Rows, error) {
	if err != nil || r == nil {
		return nil, err
	}
	return &carefulRows{r, c, ctx, query}, nil
}

// carefulStmt wraps a statement of a careful connection.
type carefulStmt struct {
	driver.Stmt
	conn  *careful
	query string
}

// Close implements driver.Stmt.
func (s *carefulStmt) Close() (err error) {
	defer s.conn.recovered(&err)
	return s.Stmt.Close()
}

// ExecContext implements driver.StmtExecContext.
func (s *carefulStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (r driver.Result, err error) {
	defer s.conn.answered(ctx, s.query, &err)
	if e, ok := s.Stmt.(driver.StmtExecContext); ok {
		return e.ExecContext(ctx, args)
	}
	return s.Stmt.Exec(valuesOf(args)) //nolint:staticcheck // old drivers have no ExecContext
}

// QueryContext implements driver.StmtQueryContext.
func (s *carefulStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (r driver.Rows, err error) {
	defer s.conn.answered(ctx, s.query, &err)
	if q, ok := s.Stmt.(driver.StmtQueryContext); ok {
		r, err = q.QueryContext(ctx, args)
	} else {
		r, err = s.Stmt.Query(valuesOf(args)) //nolint:staticcheck // old drivers have no QueryContext
	}
	return s.conn.rows(ctx, s.query, r, err)
}

func valuesOf(args []driver.NamedValue) []driver.Value {
	return filewise.Each(args, func(a driver.NamedValue) driver.Value { return a.Value })
}

// CheckNamedValue implements driver.NamedValueChecker.
func (s *carefulStmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return s.conn.CheckNamedValue(v)
}

// carefulRows wraps the rows that a careful connection returns.
type carefulRows struct {
	driver.Rows
	conn  *careful
	ctx   context.Context // of the query
	query string
}

// restPatience limits reading the rest of an answer, which a driver does without a context. Tests shorten it.
var restPatience = 5 * time.Second

// Close implements driver.Rows.
func (r *carefulRows) Close() (err error) {
	defer r.conn.recovered(&err)
	if cut := r.conn.from.Cut; cut != nil {
		defer time.AfterFunc(restPatience, func() { cut(r.conn.Conn) }).Stop()
	}
	return r.Rows.Close()
}

// Next implements driver.Rows.
func (r *carefulRows) Next(into []driver.Value) (err error) {
	defer r.conn.answered(r.ctx, r.query, &err)
	return r.Rows.Next(into)
}

// HasNextResultSet implements driver.RowsNextResultSet.
func (r *carefulRows) HasNextResultSet() bool {
	n, ok := r.Rows.(driver.RowsNextResultSet)
	return ok && n.HasNextResultSet()
}

// NextResultSet implements driver.RowsNextResultSet.
func (r *carefulRows) NextResultSet() (err error) {
	defer r.conn.answered(r.ctx, r.query, &err)
	return r.Rows.(driver.RowsNextResultSet).NextResultSet()
}

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName.
func (r *carefulRows) ColumnTypeDatabaseTypeName(i int) string {
	if n, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return n.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

// ColumnTypeScanType implements driver.RowsColumnTypeScanType.
func (r *carefulRows) ColumnTypeScanType(i int) reflect.Type {
	if n, ok := r.Rows.(driver.RowsColumnTypeScanType); ok {
		return n.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}
