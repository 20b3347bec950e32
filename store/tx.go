package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"filewise/internal/jsonsize"
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

func (s *Store) transact(ctx context.Context, begin, doing string, f func(*sql.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return wrap(err, s.path, doing)
	}
	defer conn.Close()
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

// fromJSON reads columns that only damage or another program can have spoilt.
// unmarshal decodes a text that another program may have made, as far as it is no
// larger than a run's.
func unmarshal(text string, to any) error {
	if err := jsonsize.Check([]byte(text), ofRun); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), to)
}

func fromJSON(fields ...field) error {
	for _, f := range fields {
		if err := unmarshal(f.text, f.to); err != nil {
			return fmt.Errorf("column %s: %w", f.name, err)
		}
	}
	return nil
}
