package store

import (
	"context"
	"errors"
	"fmt"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/sqlitedriver"
)

const damaged = "restore the file from a backup, or move it away and start a new store; “sqlite3 FILE .recover” may save runs"

// wrap says what a failure of SQLite means for the store's user. A context's
// end stays recognisable; nil stays nil.
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
	return filewise.Errorf(filewise.CodeStore, remedy, "store %s: cannot %s: %s%w", path, doing, what, err)
}

const unreadable = "make the file and its directory readable and writable for you, or name another store with --store or FILEWISE_STORE"

func explain(err error) (what, remedy string) {
	c, ok := sqlitedriver.CodesOf(err)
	if !ok {
		return "", otherStore
	}
	if filesystem.Full(c.Errno) {
		c.Primary = sqlitedriver.Full
	}
	switch c.Primary {
	case sqlitedriver.Full:
		return "its storage is full: ", "free space there; what was stored before is intact, and “filewise resume” goes on from it"
	case sqlitedriver.Busy, sqlitedriver.Locked:
		return "another process keeps it locked: ", "try again when that has ended"
	case sqlitedriver.ReadOnly, sqlitedriver.Perm, sqlitedriver.CantOpen, sqlitedriver.Auth:
		return "", unreadable
	case sqlitedriver.Corrupt, sqlitedriver.NotADB, sqlitedriver.TooBig:
		return "it is damaged: ", damaged
	case sqlitedriver.IOErr:
		return "its storage fails: ", "look at the kernel's log for the device; what was stored before is intact unless the device lost it"
	}
	return "", ""
}
