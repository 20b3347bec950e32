package filesystem

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
)

// interrupted is closed when the process has to end.
var interrupted = make(chan struct{})

// Interrupt ends all waits for files that the user has named, with context.Canceled. Without it, the system would let
// Go wait for the other end of a pipe whatever signal comes.
var Interrupt = sync.OnceFunc(func() { close(interrupted) })

// Open opens a file or a pipe that the user has named. It reads texts as Text does.
func Open(path string) (io.ReadCloser, error) {
	f, err := open(path)
	return ofUser(f), err
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
	return Await(func() (*os.File, error) { return os.Open(path) })
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

// Read reads into a buffer of its own, since an abandoned read may still fill the buffer.
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
