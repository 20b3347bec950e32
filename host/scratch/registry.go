package scratch

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/process"
	"filewise/internal/userdir"
)

// Registry is the user's list of scratch directories.
type Registry struct {
	dir string
	ask func(entry) // checks whether a volume answers; nil means look, tests have a check that hangs
	// patience limits the time that a process may take to show its marker. If 0, it is markerPatience. Tests set less.
	patience time.Duration
}

// StateDir returns the directory for what Filewise remembers about the user's work, apart from results. The error has
// CodeUsage, and names the variable to set.
func StateDir() (string, error) {
	if dir := os.Getenv("FILEWISE_STATE"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := userdir.Find("XDG_STATE_HOME", ".local", "state"); dir != "" {
		return dir, nil
	}
	return "", filewise.Errorf(filewise.CodeUsage, "set FILEWISE_STATE to a directory of yours",
		"no place to remember scratch directories: neither FILEWISE_STATE, XDG_STATE_HOME nor %s is set to a path", userdir.Home)
}

// Open opens the registry, and creates nothing. The error has CodeUsage.
func Open() (*Registry, error) {
	dir, err := StateDir()
	if err != nil {
		return nil, err
	}
	return &Registry{dir: filepath.Join(dir, "scratch")}, nil
}

// ids returns the registered IDs, and the half-written files of killed writers.
func (r *Registry) ids() (ids, rests []string, err error) {
	files, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, filewise.Errorf(filewise.CodePreflight, "make the directory readable, or set FILEWISE_STATE to another one",
			"cannot read the list of scratch directories: %w", err)
	}
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && validID(id) {
			ids = append(ids, id)
		} else if writer, ok := unfinished(f.Name()); ok && writer.Status() == process.Dead {
			rests = append(rests, filepath.Join(r.dir, f.Name()))
		}
	}
	return ids, rests, nil
}

func (r *Registry) file(id string) string { return filepath.Join(r.dir, id+".json") }

// write registers e durably: after a kill or a power cut, the old entry, the new one, or none is there.
func (r *Registry) write(e entry) error {
	if !utf8.ValidString(e.Volume) {
		e.VolumeBytes = []byte(e.Volume)
	}
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	if err := filesystem.MkdirPrivate(r.dir); err != nil {
		return err
	}
	tmp := filepath.Join(r.dir, unfinishedName(e.ID, e.Owner))
	if err := writeSynced(tmp, append(b, '\n')); err != nil {
		os.Remove(tmp)
		return err
	}
	if err := filesystem.Insist(func() error { return os.Rename(tmp, r.file(e.ID)) }); err != nil {
		os.Remove(tmp)
		return err
	}
	return filesystem.SyncDir(r.dir)
}

// forget removes the entry of a directory that is gone.
func (r *Registry) forget(id string) error {
	if err := filesystem.Insist(func() error { return os.Remove(r.file(id)) }); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func newID() string {
	b := make([]byte, idLength)
	rand.Read(b) // never fails
	for i := range b {
		b[i] = idAlphabet[b[i]%32]
	}
	return string(b)
}

// writeSynced writes a new file, and returns once it is on the storage.
func writeSynced(path string, b []byte) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// unfinishedName returns a file name that identifies its writer, so that others can check whether the writer still
// writes.
func unfinishedName(id string, writer process.Identity) string {
	return fmt.Sprintf("%s-%d-%d.new", id, writer.PID, writer.Start)
}

// unfinished parses the writer from such a name, and assumes this boot.
func unfinished(name string) (process.Identity, bool) {
	rest, ok := strings.CutSuffix(name, ".new")
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 || !validID(parts[0]) {
		return process.Identity{}, false
	}
	pid, err1 := strconv.Atoi(parts[1])
	start, err2 := strconv.ParseUint(parts[2], 10, 64)
	writer, err3 := process.Self()
	if errors.Join(err1, err2, err3) != nil || pid <= 0 {
		return process.Identity{}, false
	}
	writer.PID, writer.Start = pid, start
	return writer, true
}
