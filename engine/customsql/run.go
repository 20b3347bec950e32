package customsql

import (
	"errors"
	"fmt"

	"filewise"
)

// Conn is one connection that executes a transaction.
type Conn interface {
	// Run executes a statement with its values, and reads what it returns to the end.
	Run(s *Statement, values []any) error
	// Begin, Commit and Rollback frame a transaction.
	Begin(reads bool) error
	Commit() error
	Rollback() error
}

// Transaction executes the statements of a section as one transaction. A single statement is a transaction by itself.
// If a statement fails, all are rolled back. values is a buffer that is returned for the next call.
func Transaction(c Conn, statements []Statement, args, values []any) (_ []any, err error) {
	if len(statements) == 1 {
		values = statements[0].Values(values[:0], args)
		return values, failed(statements[0], c.Run(&statements[0], values))
	}
	reads := true
	for _, s := range statements {
		reads = reads && s.Reads()
	}
	if err := c.Begin(reads); err != nil {
		return values, fmt.Errorf("BEGIN: %w", err)
	}
	for i := range statements {
		values = statements[i].Values(values[:0], args)
		if err := c.Run(&statements[i], values); err != nil {
			return values, errors.Join(failed(statements[i], err), c.Rollback())
		}
	}
	if err := c.Commit(); err != nil {
		return values, errors.Join(fmt.Errorf("COMMIT: %w", err), c.Rollback())
	}
	return values, nil
}

func failed(s Statement, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", s.Place, err)
	if s.Chance {
		return err
	}
	return &filewise.Unvaried{Err: err}
}
