// This file unpacks tar archives of a server's files.

package postgres

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"filewise"
	"filewise/engine/internal/server"
)

// unpackBuffer is the number of bytes that unpacking writes at a time.
const unpackBuffer = 1 << 20

// unpack unpacks the directories and files of a tar archive, and skips links. place returns where a name, prefixed with
// prefix, is written; "" skips it. If the archive is damaged, the error wraps filewise.ErrCheck.
func unpack(ctx context.Context, from, prefix string, place func(name string) (string, error)) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	buf := make([]byte, unpackBuffer)
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", filewise.ErrCheck, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to, err := place(path.Join(prefix, h.Name))
		if err != nil {
			return err
		}
		if err := put(to, h, r, buf); errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: %w", filewise.ErrCheck, err)
		} else if err != nil {
			return err
		}
	}
}

func put(to string, h *tar.Header, from io.Reader, buf []byte) error {
	switch {
	case to == "":
		return nil
	case h.Typeflag == tar.TypeDir:
		return os.MkdirAll(to, 0o700)
	case h.Typeflag != tar.TypeReg:
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return server.WriteFile(to, from, buf)
}
