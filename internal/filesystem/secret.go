package filesystem

import (
	"errors"
	"io"
)

// ErrShared means that every user of the machine may read or write a file that holds a secret.
var ErrShared = errors.New("every user of this machine may read or write it")

// ErrForeign means that a file that holds a secret belongs to another user, who may alter it.
var ErrForeign = errors.New("it belongs to another user")

// OpenSecret opens a file or a pipe that holds a secret. It refuses a file that everybody may read or write and, on
// Windows, a file of another user.
func OpenSecret(path string) (io.ReadCloser, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Mode().IsRegular():
		err = shared(f, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return ofUser(f), nil
}

// SecretRemedy returns the remedy for an error of OpenSecret.
func SecretRemedy(path string, err error) string {
	if errors.Is(err, ErrShared) {
		return alone(path)
	}
	if errors.Is(err, ErrForeign) {
		return "name a copy that you have made"
	}
	return "name a file that you may read"
}
