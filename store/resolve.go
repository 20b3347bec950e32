package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise"
)

// Last is the name of the newest run.
const Last = "last"

// Resolve turns what a user typed, a number, a name (of which the newest run counts) or
// "last", into the id of a run that exists. Errors have code usage or not-found.
func (s *Store) Resolve(ctx context.Context, text string) (id int64, err error) {
	named := false
	if text != Last {
		id, err = strconv.ParseInt(text, 10, 64)
		named = err != nil
	}
	err = s.read(ctx, "find a run", func(conn *sql.Conn) error {
		var row *sql.Row
		if text == Last {
			row = conn.QueryRowContext(ctx, "SELECT id FROM runs ORDER BY id DESC LIMIT 1")
		} else if named {
			row = conn.QueryRowContext(ctx, "SELECT id FROM runs WHERE "+planText("name", "")+" = ? AND ? != '' ORDER BY id DESC LIMIT 1",
				text, text)
		} else {
			row = conn.QueryRowContext(ctx, "SELECT id FROM runs WHERE id = ?", id)
		}
		if err := row.Scan(&id); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if named {
			return filewise.Errorf(filewise.CodeUsage, "give the number or the name of a run, or “last”; “filewise list” lists them",
				"%q is not a run", text)
		}
		return unknownRun(ctx, conn, id)
	})
	return id, err
}

// unknownRun is the error for an id that does not exist; it names those nearby.
func unknownRun(ctx context.Context, conn *sql.Conn, id int64) error {
	rows, err := conn.QueryContext(ctx, "SELECT id FROM runs ORDER BY abs(id - ?), id LIMIT 5", id)
	if err != nil {
		return err
	}
	defer rows.Close()
	var near []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return err
		}
		near = append(near, n)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(near) == 0 {
		return filewise.Errorf(filewise.CodeNotFound, "start one with “filewise run”", "no runs yet")
	}
	slices.Sort(near)
	return filewise.Errorf(filewise.CodeNotFound, "“filewise list” lists all runs", "there is no run %d; the nearest are %s", id,
		numbers(near))
}

func numbers(ids []int64) string {
	return strings.Join(filewise.Each(ids, func(id int64) string { return fmt.Sprint(id) }), ", ")
}
