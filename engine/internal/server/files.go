package server

import (
	"io/fs"
	"os"
	"path/filepath"

	"filewise"
	"filewise/internal/filesystem"
)

// Stat is a file as the file system has it.
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

// BackupFiles are the regular files below a backup's directory, each synced to the storage,
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
