package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"filewise/internal/jsonsize"
	"filewise/internal/sqlitedriver"
)

// write runs f in a transaction that has the write lock from its start, so that
// what f has read cannot change before it writes.
func (s *Store) write(ctx context.Context, doing string, f func(*sql.Conn) error) error {
	return s.transact(ctx, "BEGIN IMMEDIATE", doing, f)
}

// read runs f on one state of the store.
func (s *Store) read(ctx context.Context, doing string, f func(*sql.Conn) error) error {
	return s.transact(ctx, "BEGIN", doing, f)
}

// longest is the length in bytes of a column or row beyond which a store is damaged, or
// another program's: it is not even read.
const longest = 64 << 20

func (s *Store) transact(ctx context.Context, begin, doing string, f func(*sql.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return wrap(err, s.path, doing)
	}
	defer conn.Close()
	if err := sqlitedriver.LimitLength(conn, longest); err != nil {
		return wrap(err, s.path, doing)
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return wrap(err, s.path, doing)
	}
	err = f(conn)
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// Also after a failed commit; “no transaction is active” is fine then.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return wrap(err, s.path, doing)
	}
	return nil
}

// timeFormat sorts as text and keeps every nanosecond.
const timeFormat = "2006-01-02T15:04:05.000000000Z"

func timeText(t time.Time) string { return t.UTC().Format(timeFormat) }

func parseTime(s string) (time.Time, error) { return time.Parse(timeFormat, s) }

// toJSON is for values that are known to have a JSON form, so an error is about
// a number that is none.
func toJSON(v any, what string) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return string(b), nil
}

// field is one JSON column and where it is read to.
type field struct {
	name string
	text string
	to   any
}

// budget is the memory that what is read of a run may still come to: only damage or
// another program makes it more.
type budget struct{ jsonsize.Limits }

func newBudget() *budget { return &budget{ofRun} }

// take refuses what exceeds it.
func (b *budget) take(bytes int64) error {
	if b.Memory -= bytes; b.Memory < 0 {
		return jsonsize.ErrTooLarge
	}
	return nil
}

// unmarshal decodes a text that another program may have made.
func (b *budget) unmarshal(text string, to any) error {
	memory, err := jsonsize.Check([]byte(text), b.Limits)
	if err == nil {
		err = b.take(memory)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), to)
}

// fromJSON reads columns.
func (b *budget) fromJSON(fields ...field) error {
	for _, f := range fields {
		if err := b.unmarshal(f.text, f.to); err != nil {
			return fmt.Errorf("column %s: %w", f.name, err)
		}
	}
	return nil
}
