package filesystem

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
)

// interrupted is closed when the process is to end.
var interrupted = make(chan struct{})

// Interrupt ends, with context.Canceled, what waits for a file that the user has named: for the other end
// of a pipe the system lets Go wait whatever signal comes.
var Interrupt = sync.OnceFunc(func() { close(interrupted) })

// Open opens a file, or a pipe, that the user has named. A text is read as Text does.
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

// ReadFile is os.ReadFile for what the user has named. A text is read as Text does.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(f)
	return all, errors.Join(err, f.Close())
}

// Reader reads what is open already, such as standard input. A text is read as Text does.
func Reader(from io.Reader) io.Reader { return Text(patient{from}) }

type patient struct{ from io.Reader }

// Read has a buffer of its own, which a read that has been given up may still fill.
func (p patient) Read(to []byte) (int, error) {
	own := make([]byte, len(to))
	n, err := Await(func() (int, error) { return p.from.Read(own) })
	return copy(to, own[:n]), err
}

// Await does what may wait for such a file.
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
