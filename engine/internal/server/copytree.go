package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// treeBuffer is what a copy of a tree reads at once, in bytes.
const treeBuffer = 256 << 10

// CopyTree copies a tree, which lies in a server's directory, of directories and files
// byte by byte for their owner alone, as a server would write them; nothing is synced,
// and no file shares its storage with the original. Sockets and links are left out.
func CopyTree(ctx context.Context, dir, from, to string) error {
	buf := make([]byte, treeBuffer)
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
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.Mkdir(target, 0o700)
		case e.Type().IsRegular():
			return copyFile(dir, path, target, buf)
		}
		return nil
	})
}

func copyFile(dir, from, to string, buf []byte) error {
	in, err := OpenIn(dir, from)
	if err != nil {
		return err
	}
	defer in.Close()
	return WriteFile(to, in, buf)
}

// writeOnly hides that a file could take its content by copy_file_range(2).
type writeOnly struct{ io.Writer }

// WriteFile writes a new file for its owner alone, byte by byte.
func WriteFile(to string, from io.Reader, buf []byte) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(writeOnly{out}, struct{ io.Reader }{from}, buf)
	return errors.Join(err, out.Close())
}
