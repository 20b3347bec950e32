package filesystem

import (
	"errors"
	"fmt"
	"io"
	"runtime"
)

// ErrShared: every user of the machine may read or write a file that holds a secret.
var ErrShared = errors.New("every user of this machine may read or write it")

// OpenSecret opens a file, or a pipe, that holds a secret. One that everybody may read, or
// write, is refused; Windows tells nothing of that by a file's mode.
func OpenSecret(path string) (io.ReadCloser, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a directory", path)
	case runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o006 != 0:
		err = fmt.Errorf("%s (%v): %w", path, info.Mode().Perm(), ErrShared)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return ofUser(f), nil
}

// SecretRemedy is what to do about an error of OpenSecret.
func SecretRemedy(path string, err error) string {
	if errors.Is(err, ErrShared) {
		return "chmod 600 " + path
	}
	return "name a file that you may read"
}
