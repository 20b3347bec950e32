package scratch

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/process"
)

// Dir is a scratch directory of this process.
type Dir struct {
	Path string // absolute, free of symbolic links
	ID   string

	registry *Registry
	mu       sync.Mutex
	entry    entry
	removed  bool
}

// Create registers and makes a scratch directory filewise-ID in volumeDir,
// which has to exist. Errors have code preflight.
func (r *Registry) Create(volumeDir, label string) (*Dir, error) {
	e, err := newEntry(volumeDir, label)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "name an existing directory that you may write to",
			"no scratch directory in %s: %w", volumeDir, err)
	}
	if err := r.write(e); err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "make room and rights there, or set FILEWISE_STATE to another directory",
			"cannot register a scratch directory in %s: %w", r.dir, err)
	}
	if err := makeMarked(e); err != nil {
		// Only what is empty or marked goes; the rest is the sweep's to judge.
		kept := removeMarked(e)
		if kept == nil {
			kept = r.forget(e.ID)
		}
		return nil, filewise.Errorf(filewise.CodePreflight, "name a directory that you may write to and that has room",
			"no scratch directory in %s: %w", volumeDir, errors.Join(err, kept))
	}
	return &Dir{Path: e.path(), ID: e.ID, registry: r, entry: e}, nil
}

func newEntry(volumeDir, label string) (entry, error) {
	abs, err := filepath.Abs(volumeDir)
	if err != nil {
		return entry{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return entry{}, err
	}
	if !exists(real) {
		return entry{}, syscall.ENOTDIR
	}
	owner, err := process.Self()
	if err != nil {
		return entry{}, err
	}
	return entry{Format: formatVersion, ID: newID(), Volume: real, Label: label,
		Created: time.Now().UTC(), Owner: owner}, nil
}

// makeMarked makes the directory and its mark, both durable.
func makeMarked(e entry) error {
	b, err := json.Marshal(mark{Format: formatVersion, ID: e.ID, Owner: e.Owner})
	if err != nil {
		return err
	}
	if err := os.Mkdir(e.path(), 0o700); err != nil {
		return err
	}
	unfinished := filepath.Join(e.path(), newMarkName)
	if err := writeSynced(unfinished, append(b, '\n')); err != nil {
		return err
	}
	if err := os.Rename(unfinished, filepath.Join(e.path(), markName)); err != nil {
		return err
	}
	return errors.Join(filesystem.SyncDir(e.path()), filesystem.SyncDir(e.Volume))
}

// AddProcess registers a server that was just started on the directory, so that
// a sweep ends it should this process be killed. The server has to name the
// directory in its command line or environment, or to work in it; one that does
// not is refused, since it could not be known again.
func (d *Dir) AddProcess(pid int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.removed {
		return filewise.Errorf(filewise.CodeInternal, "", "cannot register server process %d: %s is removed", pid, d.Path)
	}
	id, err := process.Of(pid)
	if err != nil {
		return filewise.Errorf(filewise.CodeInternal, "", "cannot register server process %d: %w", pid, err)
	}
	if err := d.marks(id); err != nil {
		return filewise.Errorf(filewise.CodeInternal, "", "cannot register server process %d for %s: %w", pid, d.Path, err)
	}
	e := d.entry
	if e.Processes = running(e.Processes); !slices.Contains(e.Processes, id) {
		e.Processes = append(e.Processes, id)
	}
	if err := d.registry.write(e); err != nil {
		return filewise.Errorf(filewise.CodePreflight, "make room and rights there, or set FILEWISE_STATE to another directory",
			"cannot register server process %d in %s: %w", pid, d.registry.dir, err)
	}
	d.entry = e
	return nil
}

// markPatience bounds how long a process that was just started may take to show
// its mark.
const markPatience = 2 * time.Second

// marks looks for the directory's mark on a process. While the kernel still sets a
// process up, on a busy machine for a while, neither its command line nor its
// environment can be read: so it is looked for again as long as the process lives.
func (d *Dir) marks(id process.Identity) error {
	limit := time.Now().Add(markPatience)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		marked, err := id.Marked(d.Path)
		if marked || errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		if err == nil {
			err = errors.New("it names the directory neither in its command line nor in its environment, and does not work in it")
		}
		if time.Now().After(limit) || id.Status() == process.Dead {
			return err
		}
		time.Sleep(wait)
	}
}

// Remove removes the directory with all it holds, and its registration. It is
// refused while a registered server still runs. Removing twice is harmless.
func (d *Dir) Remove() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.removed {
		return nil
	}
	if servers := running(d.entry.Processes); len(servers) > 0 {
		return filewise.Errorf(filewise.CodeInternal, "the next filewise ends it and removes the directory",
			"scratch directory %s is kept: server %v still runs", d.Path, servers[0])
	}
	err := removeMarked(d.entry)
	if err == nil {
		err = d.registry.forget(d.ID)
	}
	if err != nil {
		return filewise.Errorf(filewise.CodeInternal, "run “filewise clean” once the cause is gone",
			"scratch directory %s could not be removed: %w", d.Path, err)
	}
	d.removed = true
	return nil
}

// running are those that have not ended.
func running(ids []process.Identity) []process.Identity {
	var live []process.Identity
	for _, id := range ids {
		if id.Status() != process.Dead {
			live = append(live, id)
		}
	}
	return live
}

func exists(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}
