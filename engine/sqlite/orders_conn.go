package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"filewise"
)

// own is the number of the file of a connection that has only one.
const own = -1

// orderConn is a connection with the statements that it has prepared: to one file,
// or to none with all attached.
type orderConn struct {
	s          *shape
	conn       *conn
	statements map[orderKey]driver.Stmt
	values     []driver.NamedValue
}

// orderKey is a statement on a file.
type orderKey struct {
	section string
	file    int // own, or the number of an attached one
}

func newOrderConn(s *shape, c *conn) *orderConn {
	return &orderConn{s: s, conn: c, statements: map[orderKey]driver.Stmt{}}
}

// orderVars are the variables of a statement on a file with that prefix.
func orderVars(p filewise.Program, db string) map[string]any {
	v := maps.Clone(p.Vars)
	if v == nil {
		v = map[string]any{}
	}
	v["Db"] = db
	return v
}

// churnVars are those of a table that comes and goes.
func churnVars(number string) map[string]any {
	return map[string]any{"Number": number, "Content": strings.Repeat("x", 1000)}
}

func (c *orderConn) prepare(k orderKey) (driver.Stmt, error) {
	if st := c.statements[k]; st != nil {
		return st, nil
	}
	db := ""
	if k.file != own {
		db = attachedName(k.file) + "."
	}
	var text string
	if shardsSQL.Has(k.section) {
		text = section(k.section)
	} else {
		var err error
		if text, err = c.s.sql.Statement(k.section, orderVars(c.s.program, db)); err != nil {
			return nil, err
		}
	}
	st, err := c.conn.PrepareContext(background, text)
	if err != nil {
		return nil, fmt.Errorf("%s: preparing %s: %w", c.conn.path, firstLine(text), err)
	}
	c.statements[k] = st
	return st, nil
}

// each executes a statement and visits its rows, whose values are only valid
// meanwhile.
func (c *orderConn) each(k orderKey, visit func([]driver.Value) error, args ...driver.Value) error {
	st, err := c.prepare(k)
	if err != nil {
		return err
	}
	c.values = c.values[:0]
	for i, v := range args {
		c.values = append(c.values, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	rows, err := st.(driver.StmtQueryContext).QueryContext(background, c.values)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", c.conn.path, k.section, err)
	}
	values := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		if err = rows.Next(values); err == nil && visit != nil {
			err = visit(values)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, rows.Close()); err != nil {
		return fmt.Errorf("%s, %s: %w", c.conn.path, k.section, err)
	}
	return nil
}

// one returns the first row of a statement, nil when it has none.
func (c *orderConn) one(k orderKey, args ...driver.Value) ([]driver.Value, error) {
	var row []driver.Value
	err := c.each(k, func(v []driver.Value) error {
		if row == nil {
			row = append(row, v...)
		}
		return nil
	}, args...)
	return row, err
}

func (c *orderConn) close() error {
	var errs []error
	for _, st := range c.statements {
		errs = append(errs, st.Close())
	}
	c.statements = nil
	return errors.Join(append(errs, c.conn.Close())...)
}
