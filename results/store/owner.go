package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/process"
)

// While a run is measured, its owner holds a lock on a file next to the store, STORE.run-ID. The kernel vouches for the
// lock, whatever happens to process numbers, boots and clocks, in a container or on a clone. The file of a killed run
// is removed when the run is resumed, or when the next run begins.

func (s *Store) ownerFile(id int64) string { return s.path + ".run-" + strconv.FormatInt(id, 10) }

// own makes this process the owner of a run, by locking the run's file. If the file system has no locks, only the
// stored identity names the owner.
func (s *Store) own(id int64) error {
	s.mu.Lock()
	_, owned := s.owned[id]
	s.mu.Unlock()
	if owned {
		return nil
	}
	f, err := os.OpenFile(s.ownerFile(id), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return wrap(err, s.path, "own a run")
	}
	err = filesystem.LockPatiently(f)
	if err == nil && !isAt(f, f.Name()) { // its previous owner has just removed it
		return errors.Join(f.Close(), s.own(id))
	}
	switch {
	case errors.Is(err, filesystem.ErrLocked):
		return errors.Join(filewise.Errorf(filewise.CodeBusy, "wait for it, or end it", "run %d is being run by another process", id),
			f.Close())
	case errors.Is(err, errors.ErrUnsupported):
		return errors.Join(f.Close(), os.Remove(f.Name()))
	case err != nil:
		return errors.Join(wrap(err, s.path, "own a run"), f.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owned[id] = f
	return nil
}

func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	at, errAt := os.Lstat(path)
	return err == nil && errAt == nil && os.SameFile(open, at)
}

// disown gives up the run and removes its file.
func (s *Store) disown(id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.owned[id]
	if f == nil {
		return nil
	}
	delete(s.owned, id)
	err := f.Close()
	if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// disownAll closes the files but leaves them in place, since the runs have not ended.
func (s *Store) disownAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, f := range s.owned {
		_ = f.Close() // nothing was written to it
		delete(s.owned, id)
	}
}

// life reports whether any process runs a run that the store has as running.
func (s *Store) life(id int64, owner process.Identity) process.Status {
	f, err := filesystem.OpenItself(s.ownerFile(id))
	if err != nil {
		return owner.Status()
	}
	defer f.Close()
	switch locked, err := filesystem.Locked(f); {
	case err != nil:
		return owner.Status()
	case locked:
		return process.Alive
	}
	return process.Dead
}

// RunBy returns nil if the process pid runs the given run of the store at path. Proof is that the process has the run's
// file open, or the store if the run has no such file. The stored owner is no proof: anyone who writes a store can name
// any process in it.
func RunBy(path string, id int64, pid int) error {
	path, err := resolvePath(path)
	if err != nil {
		return err
	}
	file, err := os.Stat((&Store{path: path}).ownerFile(id))
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.Stat(path)
	}
	if err != nil {
		return err
	}
	has, err := process.HasOpen(pid, file)
	switch {
	case errors.Is(err, errors.ErrUnsupported): // only the start identifies the process
		return nil
	case err != nil:
		return fmt.Errorf("whether process %d runs it cannot be seen: %w", pid, err)
	case !has:
		return fmt.Errorf("process %d is recorded as running it and is not: it does not have %s open", pid, file.Name())
	}
	return nil
}

// derived returns the state to show: a run that no process runs any more was interrupted.
func (s *Store) derived(id int64, stored State, owner process.Identity) State {
	if stored == Running && s.life(id, owner) == process.Dead {
		return Interrupted
	}
	return stored
}

// settleAbandoned stores the state interrupted for runs whose owners were killed. It finds them by the files that they
// left, and removes the files. If that fails, the next run tries again.
func (s *Store) settleAbandoned(ctx context.Context) {
	files, _ := os.ReadDir(filepath.Dir(s.path))
	for _, f := range files {
		digits, ok := strings.CutPrefix(f.Name(), filepath.Base(s.path)+".run-")
		id, err := strconv.ParseInt(digits, 10, 64)
		if !ok || err != nil || s.life(id, process.Identity{}) != process.Dead || s.own(id) != nil {
			continue
		}
		err = s.write(ctx, "store the state of a run", func(conn *sql.Conn) error {
			_, err := conn.ExecContext(ctx, "UPDATE runs SET state = ? WHERE id = ? AND state = ?", string(Interrupted), id, string(Running))
			return err
		})
		if err == nil {
			_ = s.disown(id)
		}
	}
}
