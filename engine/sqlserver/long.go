package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"
)

// long executes a BACKUP or RESTORE on a connection of its own, which is closed
// afterwards: it may have been cancelled. Every error that the server sent is shown, since
// the last is only the generic one (3013).
func (s *externalServer) long(ctx context.Context, section string, vars map[string]any) (err error) {
	statement, err := server.Statement(section, vars)
	if err != nil {
		return err
	}
	pool := s.login.pool("master", appName, 1)
	defer func() { err = errors.Join(err, pool.Close()) }()
	_, err = pool.ExecContext(ctx, statement) // reads to the end: a result that is closed early would abort it
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return s.login.explain(fmt.Errorf("%s: %w", short(statement), allErrors(err)))
	}
	return nil
}

// told is an error with the texts of all that came with it.
type told struct {
	error
	text string
}

func (t told) Error() string { return t.text }
func (t told) Unwrap() error { return t.error }

// allErrors shows every error of one answer, first to last.
func allErrors(err error) error {
	var last mssql.Error
	if !errors.As(err, &last) || len(last.All) == 0 {
		return err
	}
	var texts []string
	for _, e := range last.All {
		texts = append(texts, fmt.Sprintf("%s (%d)", strings.TrimSuffix(e.Message, "."), e.Number))
	}
	return told{err, strings.Join(texts, "; ")}
}
