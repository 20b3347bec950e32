package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mattn/go-sqlite3"

	"filewise"
)

// applicationID marks our files in SQLite's header ("FWIS").
const applicationID = 0x46574953

// schemaVersion is that of the last migration.
const schemaVersion = 1

// kind is what lies at a store's path.
type kind int

const (
	isNothing kind = iota // no file, or an empty one
	isStore
)

const otherStore = "name another store with --store or FILEWISE_STORE, or move that file away"

// look says what is at path without altering it. It refuses what is no store,
// or one of a newer Filewise.
func look(ctx context.Context, path string) (kind, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return isNothing, nil
	case err != nil:
		return isNothing, filewise.Errorf(filewise.CodeStore, otherStore, "store %s: %w", path, err)
	case info.IsDir():
		return isNothing, filewise.Errorf(filewise.CodeStore, "name a file, such as "+path+"/filewise.db", "store %s: it is a directory", path)
	case !info.Mode().IsRegular():
		return isNothing, filewise.Errorf(filewise.CodeStore, otherStore, "store %s: it is not a regular file", path)
	case info.Size() == 0:
		return isNothing, nil
	}
	// Through SQLite, since closing a file that this process also has open there
	// would drop its locks (POSIX); immutable, so that nothing is written.
	db, err := handle(path, "ro", "immutable", "1")
	if err != nil {
		return isNothing, wrap(err, path, "look at")
	}
	defer db.Close()
	return isStore, check(ctx, db, path)
}

func check(ctx context.Context, db *sql.DB, path string) error {
	var id int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		var e sqlite3.Error
		if errors.As(err, &e) && e.Code == sqlite3.ErrNotADB {
			return filewise.Errorf(filewise.CodeStore, otherStore, "store %s: it is not a Filewise store: %w", path, err)
		}
		return wrap(err, path, "look at")
	}
	if id != applicationID {
		return filewise.Errorf(filewise.CodeStore, otherStore,
			"store %s: it is an SQLite database, but not a Filewise store (its application id is %#x, not %#x)", path, id, applicationID)
	}
	version, err := latest(ctx, db)
	if err != nil {
		return wrap(err, path, "look at")
	}
	if version <= schemaVersion {
		return nil
	}
	by := "a newer Filewise"
	var name string
	if db.QueryRowContext(ctx, "SELECT version FROM runs ORDER BY id DESC LIMIT 1").Scan(&name) == nil && name != "" {
		by = "Filewise " + name
	}
	return filewise.Errorf(filewise.CodeStore, fmt.Sprintf("use %s, or name another store with --store or FILEWISE_STORE", by),
		"store %s: its schema has version %d and needs %s; this Filewise knows schemas up to version %d", path, version, by, schemaVersion)
}

// latest is the version of the last migration, by the header and by goose's
// table, which a new file has not yet.
func latest(ctx context.Context, db *sql.DB) (int64, error) {
	var header int64
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&header); err != nil {
		return 0, err
	}
	var applied sql.NullInt64
	err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&applied)
	var e sqlite3.Error
	if errors.As(err, &e) && e.Code == sqlite3.ErrError { // no such table
		err = nil
	}
	return max(header, applied.Int64), err
}
