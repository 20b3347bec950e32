// Package store keeps runs, trials and their raw samples in one SQLite file.
//
// A trial is stored in one transaction, which is on the storage when AddTrial returns. The journal is SQLite's rollback
// journal with synchronous=EXTRA. So a store at rest is one file, readable from a read-only medium. A commit costs
// about a millisecond on a fast SSD, once per trial.
package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/sqlitedriver"
	"filewise/internal/userdir"
)

// busyTimeout is the longest time that a statement waits for another process's transaction. Transactions take
// milliseconds.
const busyTimeout = 10 * time.Second

// Store is an open store. It is safe for concurrent use, also by several
// processes.
type Store struct {
	db   *sql.DB
	path string
	file os.FileInfo

	mu    sync.Mutex
	owned map[int64]*os.File // lock files of the runs that this process runs
}

// DefaultPath returns the store's path when none is given: $FILEWISE_STORE, else $XDG_DATA_HOME/filewise/filewise.db,
// else ~/.local/share/filewise/filewise.db, on Windows %LOCALAPPDATA%\filewise\filewise.db. The error has code usage
// and reports which variable to set.
func DefaultPath() (string, error) {
	if path := os.Getenv("FILEWISE_STORE"); path != "" {
		return filepath.Abs(path)
	}
	if dir := userdir.Find("XDG_DATA_HOME", ".local", "share"); dir != "" {
		return filepath.Join(dir, "filewise.db"), nil
	}
	return "", filewise.Errorf(filewise.CodeUsage, "set FILEWISE_STORE to a file of yours",
		"no place for the store: neither FILEWISE_STORE, XDG_DATA_HOME nor %s is set to a path", userdir.Home)
}

// DefaultShown returns DefaultPath as help shows it, without values of variables.
func DefaultShown() string {
	return filepath.Join(userdir.Shown(".local", "share"), "filewise", "filewise.db")
}

// Open opens the store at path, or at DefaultPath if path is empty. If the file is absent or empty, Open creates a
// store. A file that is not a store, is damaged or comes from a newer Filewise is refused with code store and left as
// it is.
func Open(ctx context.Context, path string) (*Store, error) { return open(ctx, path, true) }

// OpenExisting opens a store for commands that only read. If there is no store, it returns an error of code not-found.
func OpenExisting(ctx context.Context, path string) (*Store, error) { return open(ctx, path, false) }

func open(ctx context.Context, path string, create bool) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := filesystem.Hangs(path); err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "bring it back (mount, daemon, network), or name another store by --store",
			"store %s: %w", path, err)
	}
	path, err := resolvePath(path)
	if err != nil {
		return nil, err
	}
	opening.Lock()
	defer opening.Unlock()
	kind, err := look(ctx, path)
	if err != nil {
		return nil, err
	}
	if kind != isStore {
		if err := absent(ctx, path, create); err != nil {
			return nil, err
		}
	}
	s := &Store{path: path, owned: map[int64]*os.File{}}
	if s.db, err = handle(path, "rw"); err != nil {
		return nil, wrap(err, path, "open")
	}
	if err := s.ready(ctx, create); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	if err := s.register(); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// absent creates a store if create is set, otherwise it reports that there is none.
func absent(ctx context.Context, path string, create bool) error {
	if !create {
		return filewise.Errorf(filewise.CodeNotFound, "start one with “filewise run”", "no runs yet: there is no store at %s", path)
	}
	return found(ctx, path)
}

// FullPath returns the absolute path of a store. An empty path means the default store.
func FullPath(path string) (string, error) { return resolvePath(path) }

func resolvePath(path string) (string, error) {
	if path == "" {
		return DefaultPath()
	}
	err := filesystem.CheckName(path)
	abs, absErr := filepath.Abs(path)
	if err = errors.Join(err, absErr); err != nil {
		return "", filewise.Errorf(filewise.CodeStore, "name a file by its full path", "store %s: %w", path, err)
	}
	return abs, nil
}

// handle opens a file through the driver. Nothing is read yet.
func handle(path, mode string, more ...string) (*sql.DB, error) {
	return sql.Open(sqlitedriver.Name, dsn(path, mode, more...))
}

// dsn returns the driver's name for a file. The path may hold any characters.
func dsn(path, mode string, more ...string) string {
	q := url.Values{
		"mode":          {mode},
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_foreign_keys": {"1"},
		"_synchronous":  {"EXTRA"},
	}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return sqlitedriver.URI(path, q.Encode())
}

// Path returns the store's file.
func (s *Store) Path() string { return s.path }

func (s *Store) Close() error {
	opening.Lock()
	defer opening.Unlock()
	s.disownAll()
	err := s.db.Close()
	opened = slices.DeleteFunc(opened, func(o *Store) bool { return o == s })
	if err != nil {
		return wrap(err, s.path, "close")
	}
	return nil
}

// If a process closes a file, it loses all its locks on the file, including locks of its other descriptors (fcntl(2)).
// So only SQLite, which handles that, touches a file that this process has open as a store.
var (
	opening sync.Mutex // held while a store is checked, opened or closed
	opened  []*Store
)

func (s *Store) register() (err error) {
	if s.file, err = os.Stat(s.path); err != nil {
		return wrap(err, s.path, "open")
	}
	opened = append(opened, s)
	return nil
}

func isOpen(file os.FileInfo) bool {
	return slices.ContainsFunc(opened, func(s *Store) bool { return os.SameFile(s.file, file) })
}
