package filesystem

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
)

// interrupted is closed when the process has to end.
var interrupted = make(chan struct{})

// Interrupt ends all waits for files that the user has named, with context.Canceled. Without it, the system would let
// Go wait for the other end of a pipe whatever signal comes.
var Interrupt = sync.OnceFunc(func() { close(interrupted) })

// Open opens a file or a pipe that the user has named, and refuses a directory. It reads texts as Text does.
func Open(path string) (io.ReadCloser, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	return ofUser(f), nil
}

func ofUser(f *os.File) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{Reader(f), f}
}

func open(path string) (*os.File, error) {
	if err := CheckName(path); err != nil {
		return nil, err
	}
	return Await(func() (*os.File, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		if info, err := f.Stat(); err != nil || info.IsDir() {
			return nil, cmp.Or(errors.Join(err, f.Close()), error(&os.PathError{Op: "open", Path: path, Err: syscall.EISDIR}))
		}
		return f, nil
	})
}

// ReadFile is os.ReadFile for a file that the user has named. It reads texts as Text does.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(f)
	return all, errors.Join(err, f.Close())
}

// Reader reads from something already open, such as standard input. It reads texts as Text does.
func Reader(from io.Reader) io.Reader { return Text(patient{from}) }

type patient struct{ from io.Reader }

// Read reads into a separate buffer, since an abandoned read may still fill the buffer.
func (p patient) Read(to []byte) (int, error) {
	own := make([]byte, len(to))
	n, err := Await(func() (int, error) { return p.from.Read(own) })
	return copy(to, own[:n]), err
}

// Await returns do's result. If Interrupt is called first, it returns context.Canceled.
func Await[T any](do func() (T, error)) (T, error) {
	type answer struct {
		got T
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		got, err := do()
		answers <- answer{got, err}
	}()
	select {
	case <-interrupted:
		return *new(T), context.Canceled
	case a := <-answers:
		return a.got, a.err
	}
}
