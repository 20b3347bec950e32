package scratch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"filewise/internal/fault"
	"filewise/internal/filesystem"
	"filewise/internal/process"
)

// errVolumeGone means that the storage is not mounted, or the user has moved the directory.
var errVolumeGone = errors.New("the volume's directory does not exist: mount it, and the next start removes what is there")

// errOtherVolume means that another file system, such as an empty mount point, is at the volume's path. A directory
// that is missing there is not gone.
var errOtherVolume = errors.New("the volume's directory is not the one that it was in: is its file system mounted?")

// opened is a scratch directory that was verified as Filewise's. Everything is removed through its handles, so that
// nothing that takes its place later is touched.
type opened struct {
	volume, dir *os.Root
	names       []string // what the directory contains
}

func (o *opened) close() {
	o.dir.Close()
	o.volume.Close()
}

// open verifies the directory of e. It returns nil, nil if there is none, and an error with the reason if it must not
// be removed.
func open(e entry) (*opened, error) {
	volume, err := openVolume(e.Volume)
	if err != nil {
		return nil, err
	}
	dir, err := openDir(volume, e)
	if err != nil || dir == nil {
		volume.Close()
		return nil, err
	}
	o := &opened{volume: volume, dir: dir}
	if o.names, err = names(dir); err == nil {
		err = checkMarker(dir, o.names, e)
	}
	if err == nil {
		err = checkMounts(e.path())
	}
	if err != nil {
		o.close()
		if errors.Is(err, fs.ErrNotExist) { // another sweep was faster
			return nil, nil
		}
		return nil, err
	}
	return o, nil
}

func openVolume(path string) (*os.Root, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errVolumeGone
	}
	if err != nil {
		return nil, err
	}
	if real != path {
		return nil, fmt.Errorf("the volume's directory has become a symbolic link to %s", real)
	}
	return os.OpenRoot(path)
}

func openDir(volume *os.Root, e entry) (*os.Root, error) {
	info, err := volume.Lstat(e.name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, e.there()
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("it is not a directory (%s)", info.Mode().Type())
	}
	dir, err := volume.OpenRoot(e.name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now, err := dir.Stat(".")
	if err == nil && !os.SameFile(info, now) {
		err = errors.New("it was replaced while it was examined")
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// there returns an error if the path leads to another volume than before, or to none.
func (e entry) there() error {
	place, err := filesystem.PlaceOf(e.Volume)
	if err == nil && !place.Same(e.Place) {
		err = errOtherVolume
	}
	return err
}

func names(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// checkMarker accepts a directory with e's marker, or one in which the marker was about to be made.
func checkMarker(dir *os.Root, names []string, e entry) error {
	if !slices.Contains(names, markerName) {
		for _, name := range names {
			if name != newMarkerName {
				return fmt.Errorf("it holds files but not Filewise's marker (%s)", markerName)
			}
		}
		return nil
	}
	// Another sweep may remove the marker at the same time, as the last file.
	_, f, err := readMarker(dir, e)
	if err != nil {
		return badMarker(err)
	}
	return f.Close()
}

// badMarker returns why a marker is not accepted: the system could not read it, or it is not the registered one.
func badMarker(err error) error {
	if system := syscall.Errno(0); errors.As(err, &system) {
		return fmt.Errorf("its marker cannot be read: %w", err)
	}
	return fmt.Errorf("its marker is not the registered one: %w", err)
}

// readMarker reads and opens the marker itself, not the target of a link in its place.
func readMarker(dir *os.Root, e entry) (m marker, f *os.File, err error) {
	info, err := dir.Lstat(markerName)
	if err != nil {
		return m, nil, err
	}
	if !info.Mode().IsRegular() {
		return m, nil, fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	if f, err = dir.OpenFile(markerName, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return m, nil, err
	}
	b, err := readRegular(f)
	if now, statErr := f.Stat(); statErr != nil || !os.SameFile(info, now) {
		err = errors.Join(errors.New("replaced while it was examined"), statErr)
	}
	if err == nil {
		m, err = parseMarker(b, e)
	}
	if err != nil {
		return m, nil, errors.Join(err, f.Close())
	}
	return m, f, nil
}

// life reports whether the owner lives: by its lock on the marker, which does not depend on PIDs, boots and clocks. If
// markers are not locked, it goes by the owner's identity.
func (e entry) life() process.Status {
	if locked, err := e.locked(); err == nil {
		if locked {
			return process.Alive
		}
		return process.Dead
	}
	return e.Owner.Status()
}

func (e entry) locked() (bool, error) {
	volume, err := openVolume(e.Volume)
	if err != nil {
		return false, err
	}
	defer volume.Close()
	dir, err := openDir(volume, e)
	if err != nil {
		return false, err
	}
	if dir == nil {
		return false, fs.ErrNotExist
	}
	defer dir.Close()
	m, f, err := readMarker(dir, e)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if !m.Locked {
		return false, errors.ErrUnsupported
	}
	return filesystem.Locked(f)
}

// readRegular reads a small regular file.
func readRegular(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// removeMarked removes the directory of e if it is Filewise's. It returns nil if the directory is gone.
func removeMarked(e entry) error {
	o, err := open(e)
	if err != nil || o == nil {
		return err
	}
	defer o.close()
	removeSegments(e.path())
	// The marker is removed last: if Filewise is killed in between, the directory can still be recognized.
	for _, name := range o.names {
		if name == markerName {
			continue
		}
		if err := removeAll(o.dir, name); err != nil {
			return err
		}
	}
	if err := filesystem.Insist(func() error { return o.dir.Remove(markerName) }); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := filesystem.Insist(func() error { return o.volume.Remove(e.name()) }); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeAll removes a tree into which an ending process, such as a child of initdb, may still put files.
func removeAll(dir *os.Root, name string) error {
	for limit := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := filesystem.Insist(func() error { return dir.RemoveAll(name) })
		if !fault.NotEmpty(err) || time.Now().After(limit) {
			return err
		}
	}
}
