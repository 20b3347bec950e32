package planted

import (
	"cmp"
	"context"
	"database/sql"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filewise/internal/sqlitedriver"
)

// holder holds the write lock of the first database in a directory most of the time, as another program's report or
// maintenance would.
type holder struct {
	t   testing.TB
	dir string
	// How long the lock is held, and then left to others. 0 means as below.
	held, atRest time.Duration
	stop         context.CancelFunc
	done         sync.WaitGroup
}

// The time for which the lock is held, and then left to others, by default; how often it is tried, which is oftener
// than SQLite's busy handler does, so that it is soon held.
const (
	polls       = 100 * time.Microsecond
	usualHeld   = 150 * time.Millisecond
	usualAtRest = 5 * time.Millisecond
)

func (h *holder) begin(string) {
	var files []string // in lexical order
	err := filepath.WalkDir(h.dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".db") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		h.t.Errorf("there is no database in %s: %v", h.dir, err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.done.Go(func() {
		if err := hold(ctx, files[0], cmp.Or(h.held, usualHeld), cmp.Or(h.atRest, usualAtRest)); err != nil {
			h.t.Errorf("holding the lock of %s: %v", files[0], err)
		}
	})
}

func (h *holder) end(string) {
	if h.stop != nil {
		h.stop()
		h.done.Wait()
	}
}

// hold takes and leaves the lock until ctx ends.
func hold(ctx context.Context, path string, held, atRest time.Duration) error {
	db, err := sql.Open(sqlitedriver.Name, sqlitedriver.URI(path, "mode=rw"))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if _, err := db.Exec("BEGIN IMMEDIATE"); busy(err) {
			pause(ctx, polls)
			continue
		} else if err != nil {
			return err
		}
		pause(ctx, held)
		if _, err := db.Exec("ROLLBACK"); err != nil {
			return err
		}
		pause(ctx, atRest)
	}
	return nil
}

func busy(err error) bool {
	codes, ok := sqlitedriver.CodesOf(err)
	return ok && codes.Primary == sqlitedriver.Busy
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
