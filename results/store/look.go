package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"filewise"
)

// applicationID marks a store in SQLite's header ("FWIS").
const applicationID = 0x46574953

// schemaVersion is the version of the last migration.
const schemaVersion = 8

// kind classifies the file at a store's path.
type kind int

const (
	isNothing kind = iota // no file, or an empty one
	isStore
)

const otherStore = "name another store with --store or FILEWISE_STORE, or move that file away"

// look returns the kind of file at path without altering the file. It refuses a file that is not a store, and a store
// of a newer Filewise.
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
	if isOpen(info) { // this process checked it when it opened it
		return isStore, nil
	}
	return isStore, checkHeader(ctx, path)
}

// checkHeader reads the file itself, not through SQLite. SQLite would roll back another program's journal, and reads
// nothing of a file that a killed writer was extending. The fields are from https://www.sqlite.org/fileformat.html,
// section 1.3.
func checkHeader(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return filewise.Errorf(filewise.CodeStore, notOpened(path), "store %s: %w", path, err)
	}
	defer f.Close()
	header := make([]byte, 100)
	if _, err := io.ReadFull(f, header); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return filewise.Errorf(filewise.CodeStore, unreadable, "store %s: %w", path, err)
	}
	if !bytes.HasPrefix(header, []byte("SQLite format 3\x00")) {
		return filewise.Errorf(filewise.CodeStore, otherStore, "store %s: it is not a Filewise store", path)
	}
	if id := binary.BigEndian.Uint32(header[68:]); id != applicationID {
		return filewise.Errorf(filewise.CodeStore, otherStore,
			"store %s: it is an SQLite database, but not a Filewise store (its application id is %#x, not %#x)", path, id, applicationID)
	}
	version := int64(int32(binary.BigEndian.Uint32(header[60:])))
	if version <= schemaVersion {
		return nil
	}
	// The database is read only for the version in the message. Nothing is written.
	db, err := handle(path, "ro", "immutable", "1")
	if err != nil {
		return wrap(err, path, "look at")
	}
	defer db.Close()
	return checkVersion(ctx, db, path, version)
}

// querier is a database handle, or one connection of it.
type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// checkVersion refuses a schema that is newer than this Filewise's.
func checkVersion(ctx context.Context, db querier, path string, version int64) error {
	if version <= schemaVersion {
		return nil
	}
	by := "a newer Filewise"
	var name string
	if db.QueryRowContext(ctx, "SELECT version FROM runs ORDER BY id DESC LIMIT 1").Scan(&name) == nil && name != "" {
		by = "Filewise " + name
	}
	return filewise.Errorf(filewise.CodeStore, fmt.Sprintf("use %s, or name another store with --store or FILEWISE_STORE", by),
		"store %s: its schema has version %d and needs %s; this Filewise reads schemas up to version %d", path, version, by, schemaVersion)
}

// userVersion returns the schema version from the file's header.
func userVersion(ctx context.Context, db querier) (version int64, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}
