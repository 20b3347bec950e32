package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"filewise/internal/process"
)

// door is the content of a file that replaces a socket. Whoever can read the file may query the run.
type door struct {
	Address string           `json:"address"` // only this host can reach it
	Key     string           `json:"key"`     // a connection sends it first
	Process process.Identity `json:"process"` // spares dialing a dead port, which takes Windows 2 s to refuse
}

// listenTCP listens on a free port of this host. It writes the address and a key into a new file in the directory. done
// removes the file.
func listenTCP(dir, name string) (l net.Listener, done func(), err error) {
	d := door{Key: rand.Text()}
	if d.Process, err = process.Self(); err != nil {
		return nil, nil, err
	}
	if l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
		return nil, nil, err
	}
	d.Address = l.Addr().String()
	path := filepath.Join(dir, name)
	text, err := json.Marshal(d)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return keyedListener{l, d.Key}, func() { _ = os.Remove(path) }, nil
}

// dialTCP connects to the run that a file names. The error is os.ErrProcessDone if the run's process has ended.
func dialTCP(ctx context.Context, path string) (net.Conn, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var d door
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if d.Process.Status() == process.Dead {
		return nil, os.ErrProcessDone
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.Address)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, d.Key); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// keyedListener accepts only connections that begin with the key.
type keyedListener struct {
	net.Listener
	key string
}

func (l keyedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &keyedConn{Conn: conn, key: l.key}, nil
}

// keyedConn returns no data before it has received the key. Then key is empty.
type keyedConn struct {
	net.Conn
	key string
}

func (c *keyedConn) Read(b []byte) (int, error) {
	if c.key != "" {
		got := make([]byte, len(c.key))
		if _, err := io.ReadFull(c.Conn, got); err != nil {
			return 0, err
		}
		if subtle.ConstantTimeCompare(got, []byte(c.key)) == 0 {
			return 0, errors.New("a wrong key")
		}
		c.key = ""
	}
	return c.Conn.Read(b)
}
