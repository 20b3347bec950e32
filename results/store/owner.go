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

// A run that is being measured has a file next to the store, STORE.run-ID, which its owner holds locked. The kernel
// proves that, whatever has become of process numbers, boots and clocks, in a container or on a clone. The file of a
// run that was killed goes when the run is resumed, or when the next one begins.

func (s *Store) ownerFile(id int64) string { return s.path + ".run-" + strconv.FormatInt(id, 10) }

// own makes this process the one that runs a run, by the kernel's word. If the file system has no locks, the owner is
// known by its identity alone.
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
		return errors.Join(filewise.Errorf(filewise.CodeBusy, "wait until it has ended, or end it", "run %d is being run by another process", id),
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

// disown ends what own began.
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

// disownAll leaves the files where they are: the runs have not ended.
func (s *Store) disownAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, f := range s.owned {
		_ = f.Close() // nothing was written
		delete(s.owned, id)
	}
}

// life reports whether any process runs a run that is stored as running.
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

// RunBy is nil if the process of that number runs that run of the store at the path: it has the run's file open, or
// the store if the file system has no locks. Anyone who writes a store can name any process in it.
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
	case errors.Is(err, errors.ErrUnsupported): // the process is known by its start alone
		return nil
	case err != nil:
		return fmt.Errorf("whether process %d runs it cannot be seen: %w", pid, err)
	case !has:
		return fmt.Errorf("process %d is recorded as running it and is not: it does not have %s open", pid, file.Name())
	}
	return nil
}

// derived returns the state as it reads: a run that no process runs any more was interrupted.
func (s *Store) derived(id int64, stored State, owner process.Identity) State {
	if stored == Running && s.life(id, owner) == process.Dead {
		return Interrupted
	}
	return stored
}

// settleAbandoned stores as interrupted what reads so: runs whose owners were killed,
// by the files that they left, which go. What fails is tried again with the next run.
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
