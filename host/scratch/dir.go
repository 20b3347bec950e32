package scratch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"filewise"
	"filewise/internal/fault"
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
	life     *os.File // the marker, locked: the lock proves that this process lives
	removed  bool
}

// Create registers and makes a scratch directory filewise-ID in volumeDir, which must exist. Errors have CodePreflight.
func (r *Registry) Create(volumeDir, label string) (*Dir, error) {
	e, err := newEntry(volumeDir, label)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "name an existing directory that you may write to",
			"no scratch directory in %s: %w", volumeDir, err)
	}
	if err := rootsAlone(e.Volume); err != nil {
		return nil, err
	}
	if err := r.write(e); err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "free space and grant rights there, or set FILEWISE_STATE to another directory",
			"cannot register a scratch directory in %s: %w", r.dir, err)
	}
	life, err := makeMarked(e)
	if err != nil {
		var kept error
		if none := (notMade{}); errors.As(err, &none) {
			kept = r.forget(e.ID)
		}
		return nil, filewise.Errorf(filewise.CodePreflight, fault.Remedy(err, "name a directory that you can write to and that has space"),
			"no scratch directory in %s: %w", volumeDir, errors.Join(err, kept))
	}
	return &Dir{Path: e.path(), ID: e.ID, registry: r, entry: e, life: life}, nil
}

// rootsAlone returns an error if Filewise runs as root and another user could replace the new directory. Links in a
// replacement would lead root's databases and servers to any file.
func rootsAlone(volume string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	dir, who, err := filesystem.OthersMayRename(volume)
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "name a directory that you can read", "no scratch directory in %s: %w", volume, err)
	}
	if who == "" {
		return nil
	}
	as := "another user than root"
	if name, is := strings.CutPrefix(who, "user "); is {
		as = "that user (runuser -u " + name + " -- filewise …)"
	}
	return filewise.Errorf(filewise.CodePreflight, fmt.Sprintf("run filewise as %s, or name a directory of root's: chown root:root and "+
		"chmod go-w, or chmod +t, each directory above it", as),
		"root does not measure in %s: %s may rename what is in %s, and lead root's writes elsewhere", volume, who, dir)
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
	place, err := filesystem.PlaceOf(real)
	if err != nil {
		return entry{}, err
	}
	owner, err := process.Self()
	if err != nil {
		return entry{}, err
	}
	return entry{Format: formatVersion, ID: newID(), Volume: real, Place: place, Label: label,
		Created: time.Now().UTC(), Owner: owner}, nil
}

// notMade is the reason why the directory was not made.
type notMade struct{ error }

func (n notMade) Unwrap() error { return n.error }

// makeMarked makes the directory and its marker, both durable. It returns the marker, locked as long as it is open if the
// file system has locks. If it fails, it removes the directory through the volume's handle, since the volume may have
// gone away in the meantime.
func makeMarked(e entry) (life *os.File, err error) {
	volume, err := openVolume(e.Volume)
	if err != nil {
		return nil, notMade{err}
	}
	defer volume.Close()
	if err := volume.Mkdir(e.name(), 0o700); err != nil {
		return nil, notMade{err}
	}
	dir, err := volume.OpenRoot(e.name())
	if err != nil {
		return nil, errors.Join(err, volume.Remove(e.name()))
	}
	defer dir.Close()
	_ = filesystem.MakePrivate(e.path()) // a share of another host can lack the right to do so
	if life, err = setMarker(dir, e); err == nil {
		return life, nil
	}
	for _, name := range []string{newMarkerName, markerName} {
		_ = dir.Remove(name) // if the marker stays, so does the directory
	}
	if left := volume.Remove(e.name()); left != nil {
		return nil, errors.Join(err, left) // left for the sweep to judge
	}
	return nil, notMade{err}
}

// setMarker makes the marker in a new directory, and checks that the directory is then at its path.
func setMarker(dir *os.Root, e entry) (life *os.File, err error) {
	if life, err = dir.OpenFile(newMarkerName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	m := marker{Format: formatVersion, ID: e.ID, Owner: e.Owner, Locked: filesystem.Lock(life) == nil}
	err = errors.Join(json.NewEncoder(life).Encode(m), life.Sync())
	if err == nil {
		err = filesystem.Insist(func() error { return dir.Rename(newMarkerName, markerName) })
	}
	if err == nil {
		err = errors.Join(filesystem.SyncDir(e.path()), filesystem.SyncDir(e.Volume), e.there())
	}
	if err != nil {
		return nil, errors.Join(err, life.Close())
	}
	return life, nil
}

// AddProcess registers a server that was just started on the directory, so that a sweep ends the server if this process
// is killed. The server must name the directory in its command line or environment, or work in it. Otherwise AddProcess
// refuses it, since the server could not be recognized.
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
		return filewise.Errorf(filewise.CodePreflight, "free space and grant rights there, or set FILEWISE_STATE to another directory",
			"cannot register server process %d in %s: %w", pid, d.registry.dir, err)
	}
	d.entry = e
	return nil
}

// markerPatience limits the time that a process just started may take to show its marker.
const markerPatience = 20 * time.Second

// marks waits for the directory's marker to show on a process, as long as the process lives. While the kernel still sets
// a process up, which takes a while on a busy machine, its command line and environment cannot be read.
func (d *Dir) marks(id process.Identity) error {
	limit := time.Now().Add(cmp.Or(d.registry.patience, markerPatience))
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

// ErrStays means that a scratch directory could not be removed.
var ErrStays = errors.New("the scratch directory could not be removed")

// Remove removes the directory with its contents, and its registration. It refuses while a registered server still
// runs. Removing twice is harmless.
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
	_ = d.life.Close() // Windows removes nothing that is open; a sweep may help from here on
	err := removeMarked(d.entry)
	if err == nil {
		err = d.registry.forget(d.ID)
	}
	if err != nil {
		code := filewise.CodeInternal
		if path := (*fs.PathError)(nil); errors.As(err, &path) { // a fault of the host: storage that has become read-only
			code = filewise.CodeTrials
		}
		return filewise.Errorf(code, "run “filewise clean” once the cause is gone", "%s: %w: %w", d.Path, ErrStays, err)
	}
	d.removed = true
	return nil
}

// running returns the processes that have not ended.
func running(ids []process.Identity) []process.Identity {
	return filewise.Those(ids, func(id process.Identity) bool { return id.Status() != process.Dead })
}

func exists(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}
