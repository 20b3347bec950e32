package oracle

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// counting is a driver that counts what it prepares and closes.
type counting struct {
	prepared, closed, executed int
	fails                      error
	refuses                    string // part of the statements that cannot be prepared
}

func (c *counting) Connect(context.Context) (driver.Conn, error) { return c, nil }
func (c *counting) Driver() driver.Driver                        { return nil }
func (c *counting) Begin() (driver.Tx, error)                    { return nil, errors.ErrUnsupported }
func (c *counting) Close() error                                 { return nil }
func (c *counting) Prepare(text string) (driver.Stmt, error) {
	if c.refuses != "" && strings.Contains(text, c.refuses) {
		return nil, oracleError(1031)
	}
	c.prepared++
	return countingStatement{c}, nil
}

type countingStatement struct{ *counting }

func (s countingStatement) Close() error  { s.closed++; return nil }
func (s countingStatement) NumInput() int { return -1 }
func (s countingStatement) Exec([]driver.Value) (driver.Result, error) {
	s.executed++
	return driver.RowsAffected(1), s.fails
}

func (s countingStatement) Query([]driver.Value) (driver.Rows, error) {
	s.executed++
	return noRows{}, s.fails
}

type noRows struct{}

func (noRows) Columns() []string         { return []string{"n"} }
func (noRows) Close() error              { return nil }
func (noRows) Next([]driver.Value) error { return io.EOF }

// What a worker executes again and again is prepared once a connection, and again after an
// error; what is executed once is not kept.
func TestPreparedOnce(t *testing.T) {
	c := &counting{}
	db := sql.OpenDB(c)
	defer db.Close()
	s := &server{pool: &pool{db: db, lasting: db}}
	h, err := s.pool.plain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	call, query := statement{text: "BEGIN f; END;", args: []any{1}}, statement{text: "SELECT 1 FROM dual"}
	for range 5 {
		if err := h.often.exec(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if _, err := h.often.rows(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	if c.prepared != 2 || c.closed != 0 || c.executed != 10 {
		t.Errorf("%+v: 2 statements should be prepared once", c)
	}
	c.fails = oracleError(60)
	if err := h.often.exec(t.Context(), call); !errors.Is(err, c.fails) || c.closed != 1 {
		t.Errorf("%+v, %v: a statement that failed is closed", c, err)
	}
	if _, err := h.often.rows(t.Context(), query); !errors.Is(err, c.fails) || c.closed != 2 {
		t.Errorf("%+v, %v: a query that failed is closed", c, err)
	}
	c.fails = nil
	if err := h.often.exec(t.Context(), call); err != nil || c.prepared != 3 {
		t.Errorf("%+v, %v: it is prepared anew", c, err)
	}
	if err := h.exec(t.Context(), call); err != nil || c.prepared != 4 || c.closed != 3 {
		t.Errorf("%+v, %v: what is executed once is not kept", c, err)
	}
	for i := range 2 * mostKept {
		many := statement{text: fmt.Sprint("SELECT ", i, " FROM dual")}
		if _, err := h.often.rows(t.Context(), many); err != nil {
			t.Fatal(err)
		}
		if err := h.often.exec(t.Context(), many); err != nil {
			t.Fatal(err)
		}
	}
	if open := c.prepared - c.closed; open != mostKept {
		t.Errorf("%d statements stay open, want %d", open, mostKept)
	}
}
