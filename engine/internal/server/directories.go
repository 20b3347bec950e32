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

// MakeDirs makes the directories of a build, for its owner alone. What exists
// already is another's: then the ones that were made are removed again.
func MakeDirs(dirs ...string) error {
	for n, dir := range dirs {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return errors.Join(filewise.Errorf(filewise.CodePreflight, "", "directory of a build: %w", err), removeAll(dirs[:n]))
		}
	}
	return nil
}

// RemoveDirs removes the directories of a build whose server has ended, their
// snapshots, and what is next to them with one of the suffixes.
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

// Environment returns all that a server sees of Filewise's environment, with what is set.
// The scratch directories in it are the mark by which a later sweep recognizes an orphan.
func Environment(dirs []string, set ...string) []string {
	return append(machine.Environment(set...), "FILEWISE_SCRATCH="+strings.Join(dirs, ":"))
}

// Stat returns a file as the file system has it.
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

// BackupFiles returns the regular files below a backup's directory, each synced to the storage,
// which not every program does.
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
