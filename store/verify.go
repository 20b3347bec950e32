package store

import (
	"context"
	"database/sql"
	"os"

	"filewise"
)

// checkedBytes is the size up to which a store is checked whole when it is
// opened: 64 MiB takes some 50 ms, and hours of measuring may follow.
const checkedBytes = 64 << 20

// lastMigration is the version of the last migration by goose's own account.
func lastMigration(ctx context.Context, conn *sql.Conn) (version int64, err error) {
	err = conn.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&version)
	return version, err
}

// verify finds a damaged file before hours of measuring rely on it. Within the
// transaction no other process writes to the file.
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
