package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/sqlitedriver"
)

// Last names the newest run.
const Last = "last"

// Resolve returns the id of the run that a user named by its number, its name or "last". If several runs have the name,
// the newest counts. Errors have code usage or not-found.
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

// unknownRun returns the error for an id that does not exist. The error names the ids nearby.
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

const damaged = "restore the file from a backup, or move it away and start a new store; “sqlite3 FILE .recover” may save runs"

// wrap explains an SQLite error to the store's user. errors.Is still finds a context's error; nil stays nil.
func wrap(err error, path, doing string) error {
	if err == nil {
		return nil
	}
	var own *filewise.Error
	if errors.As(err, &own) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("store %s: cannot %s: %w", path, doing, err)
	}
	what, remedy := explain(err)
	if remedy == unreadable {
		remedy = notOpened(path)
	}
	return filewise.Errorf(filewise.CodeStore, remedy, "store %s: cannot %s: %s%w", path, doing, what, err)
}

const unreadable = "make the file and its directory readable and writable for you, or name another store with --store or FILEWISE_STORE"

// notOpened returns the remedy if a store cannot be opened, or not for writing. Of a file that another program does not
// share, SQLite reports that it is read-only.
func notOpened(path string) string {
	if filesystem.InUse(path) {
		return "close the program that has it open (a backup or a virus scanner), or name another store with --store or FILEWISE_STORE"
	}
	return unreadable
}

func explain(err error) (what, remedy string) {
	c, ok := sqlitedriver.CodesOf(err)
	switch {
	case ok:
	case filesystem.Full(err):
		c.Primary = sqlitedriver.Full
	case errors.Is(err, fs.ErrPermission):
		return "", unreadable
	case errors.Is(err, fs.ErrNotExist):
		return "", "name a store where files can be made, with --store or FILEWISE_STORE"
	default:
		return "", otherStore
	}
	if filesystem.Full(c.Errno) {
		c.Primary = sqlitedriver.Full
	}
	if c.Extended == sqlitedriver.Moved {
		return "it was moved, removed or replaced while it was open: ", "put the file back where it was; then “filewise resume” continues " +
			"with a run that was measuring"
	}
	switch c.Primary {
	case sqlitedriver.Full:
		return "its storage is full: ", "free space there and give the command again, or go on with a run by “filewise resume”: " +
			"what was stored before is intact"
	case sqlitedriver.Busy, sqlitedriver.Locked:
		return "another process keeps it locked: ", "try again when that has ended"
	case sqlitedriver.ReadOnly, sqlitedriver.Perm, sqlitedriver.CantOpen, sqlitedriver.Auth:
		return "", unreadable
	case sqlitedriver.Corrupt, sqlitedriver.NotADB, sqlitedriver.TooBig:
		return "it is damaged: ", damaged
	case sqlitedriver.IOErr:
		return "its storage fails: ", "check the kernel's log for the device; what was stored before is intact unless the device lost it"
	}
	return "", ""
}

// checkedBytes is the largest size at which opening a store checks the whole file. 64 MiB take some 50 ms, and hours of
// measuring may follow.
const checkedBytes = 64 << 20

// lastMigration returns the version of the last migration that goose has recorded.
func lastMigration(ctx context.Context, conn *sql.Conn) (version int64, err error) {
	err = conn.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&version)
	return version, err
}

// verify reports a damaged file before hours of measuring rely on it. While the transaction lasts, no other process
// writes to the file.
func (s *Store) verify(ctx context.Context) error {
	return s.read(ctx, "check", func(conn *sql.Conn) error {
		var tables int
		var expected int64
		err := conn.QueryRowContext(ctx, `SELECT
			(SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('runs', 'trials', 'measures')),
			(SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size())`).Scan(&tables, &expected)
		if err != nil {
			return err
		}
		applied, err := lastMigration(ctx, conn)
		if err != nil {
			return err
		}
		if err := checkVersion(ctx, conn, s.path, applied); err != nil {
			return err
		}
		info, err := os.Stat(s.path)
		if err != nil {
			return err
		}
		if tables != 3 {
			return filewise.Errorf(filewise.CodeStore, damaged, "store %s is damaged: it lacks tables", s.path)
		}
		if info.Size() != expected {
			return filewise.Errorf(filewise.CodeStore, damaged, "store %s is damaged: it has %d bytes instead of %d", s.path, info.Size(), expected)
		}
		if info.Size() > checkedBytes {
			return nil
		}
		return checkPages(ctx, conn, s.path)
	})
}

func checkPages(ctx context.Context, conn *sql.Conn, path string) error {
	var result string
	if err := conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return filewise.Errorf(filewise.CodeStore, damaged, "store %s is damaged: %s", path, result)
	}
	return nil
}
