package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filewise"
	"filewise/host/machine"
	"filewise/internal/filesystem"
)

// MakeDirs makes the directories of a build, accessible to their owner alone. A directory that exists already belongs
// to someone else: MakeDirs then fails, and removes the ones it made.
func MakeDirs(dirs ...string) error {
	for n, dir := range dirs {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return errors.Join(filewise.Errorf(filewise.CodePreflight, "", "directory of a build: %w", err), removeAll(dirs[:n]))
		}
	}
	return nil
}

// RemoveDirs removes the directories of a build whose server has ended, and their snapshots. It also removes neighbours
// whose names add one of the suffixes.
func RemoveDirs(dirs []string, suffixes ...string) error {
	all := dirs[:len(dirs):len(dirs)]
	for _, dir := range dirs {
		for _, suffix := range append(suffixes, snapshotSuffix) {
			all = append(all, dir+suffix)
		}
	}
	return removeAll(all)
}

func removeAll(dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			errs = append(errs, fmt.Errorf("removing a build: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Environment returns the environment of a server: what it may see of Filewise's, and the variables in set. It names
// the scratch directories, by which a later sweep recognizes an orphaned server.
func Environment(dirs []string, set ...string) []string {
	return append(machine.Environment(set...), "FILEWISE_SCRATCH="+strings.Join(dirs, ":"))
}

// Stat returns a file's size and allocated bytes as the file system reports them.
func Stat(role filewise.Role, volume, path string) (filewise.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return filewise.File{}, err
	}
	f := filewise.File{Role: role, Volume: volume, Path: path, Bytes: info.Size()}
	if held, ok := filesystem.Allocated(path, info); ok {
		f.Allocated = &held
	}
	return f, nil
}

// BackupFiles returns the regular files below a backup's directory. It syncs each file, because not every backup
// program does.
func BackupFiles(volume, dir string) (files []filewise.File, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if err := filesystem.SyncFile(path); err != nil {
			return err
		}
		f, err := Stat(filewise.RoleBackup, volume, path)
		files = append(files, f)
		return err
	})
	return files, err
}
