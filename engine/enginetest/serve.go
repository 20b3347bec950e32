package enginetest

import (
	"net"
	"testing"
)

// Serve listens on loopback until the test ends. Each connection is answered in a separate goroutine, and closed then.
func Serve(t testing.TB, answer func(net.Conn)) (port int) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				answer(c)
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}
