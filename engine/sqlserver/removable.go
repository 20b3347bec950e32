package sqlserver

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filewise"
)

// checkVolumes checks that files written to the volumes can be removed.
func (k *backuper) checkVolumes(volumes []filewise.Volume) error {
	if k.removes = true; k.of.discard {
		return nil
	}
	if err := k.server.removable(volumes); err != nil {
		k.removes = false
		if !k.of.keep {
			return err
		}
	}
	return nil
}

// removable returns nil if Filewise sees the volumes' directories, so that it can remove backup files there.
func (s *externalServer) removable(volumes []filewise.Volume) error {
	for _, v := range volumes {
		dir := v.Dir
		if dir == "" {
			dir = s.identity.data.String()
		}
		if info, err := os.Stat(dir); s.identity.sameHost() && err == nil && info.IsDir() {
			continue
		}
		return unsupported(keepRemedy,
			"backups on volume %s: SQL Server has no statement that removes a file, and Filewise does not see %s", v.Name, dir)
	}
	return nil
}

// removableHere also checks that the server's own files can be examined. Windows shows a directory to accounts that
// cannot examine its files, and a server behind a forwarded port looks local. It uses the first file of tempdb, whose
// path every login can read.
func (s *externalServer) removableHere(ctx context.Context, volumes []filewise.Volume) error {
	if err := s.removable(volumes); err != nil {
		return err
	}
	t, err := s.readTempdb(ctx)
	if err != nil || len(t.files) == 0 {
		return err
	}
	return visible("the server's own file", t.files[0].path)
}

// visible returns nil if Filewise can examine a file of the server.
func visible(what, path string) error {
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return unsupported(keepRemedy,
			"%s %s is not at the path that Filewise reads, so that the server runs elsewhere and backup files could not be removed", what, path)
	}
	return unsupported(keepRemedy, "%s %s cannot be looked at, so that backup files could not be removed: %w", what, path, err)
}

// seen refuses to write files that could not be removed.
func (k *backuper) seen() error {
	if !k.removes || k.of.discard || k.of.file == "" {
		return nil
	}
	err := visible("the database's own file", k.of.file)
	if err != nil {
		k.removes = false
		if k.of.keep {
			return nil
		}
	}
	return err
}

// there checks that the files that were written can be removed.
func (k *backuper) there() error {
	for _, f := range k.written {
		if err := visible("backup file, which stays,", f.Path); k.removes && err != nil {
			k.removes = false
			if !k.of.keep {
				return err
			}
		}
	}
	return nil
}

// keepRemedy returns what to do if Filewise does not see the server's files.
const keepRemedy = "run Filewise on the server's host, as an account that may remove files where backups go (Windows: in a prompt that " +
	"is run as administrator; or --volume b=SHARE, a share that the server and this account write to); or let the files stay there, one set " +
	"a layout: the server reports their size and the time (--set keep-backups=on); backups to NUL leave none (--discard)"

// removeFiles removes the files that the last backup wrote, if Filewise sees them. Their names were made for that
// backup.
func (k *backuper) removeFiles() error {
	var errs []error
	for _, f := range k.written {
		if !k.removes || !strings.HasPrefix(filepath.Base(f.Path), k.of.prefix+"_backup_") {
			continue
		}
		if err := os.Remove(f.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, filewise.Errorf(filewise.CodeTrials, "remove it yourself, and give this account the right to remove files there",
				"backup file %s is left over: %w", f.Path, err))
		}
	}
	k.written = nil
	return errors.Join(errs...)
}
