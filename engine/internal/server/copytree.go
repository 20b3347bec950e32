package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filewise/internal/filesystem"
)

// CopyTree copies a tree in a server's directory, each file as copyRanges does, and syncs nothing. Symbolic links keep
// their targets. Links to the server's own directories go through Handles, so in the copy they lead to the other
// server's directories.
func CopyTree(ctx context.Context, dir, from, copied string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(copied, rel)
		switch {
		case e.IsDir():
			return os.Mkdir(to, 0o700)
		case e.Type().IsRegular():
			in, err := filesystem.OpenIn(dir, path)
			if err != nil {
				return err
			}
			defer in.Close()
			return copyThen(ctx, in, copied, to, func(*os.File) error { return nil })
		case e.Type()&fs.ModeSymlink != 0:
			return copyLink(dir, path, copied, to)
		}
		return nil
	})
}

func copyLink(dir, path, copied, to string) (err error) {
	var target string
	if err = filesystem.In(dir, path, func(r *os.Root, rel string) (err error) { target, err = r.Readlink(rel); return err }); err != nil {
		return err
	}
	return filesystem.In(copied, to, func(r *os.Root, rel string) error { return r.Symlink(target, rel) })
}

// writeOnly hides the file's ReadFrom, which could use copy_file_range(2).
type writeOnly struct{ io.Writer }

// WriteFile writes a new file byte by byte. Only its owner can read or write it.
func WriteFile(to string, from io.Reader, buf []byte) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(writeOnly{out}, struct{ io.Reader }{from}, buf)
	return errors.Join(err, out.Close())
}
