package client

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
)

// asking returns a server without TLS that asks for the password in clear text, behind a notice and byte by byte.
func asking(t *testing.T, network, address string) (at net.Addr, got func() []byte) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	all := make(chan []byte, 1)
	go func() {
		var heard bytes.Buffer
		defer func() { all <- heard.Bytes() }()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			first := make([]byte, 8)
			_, _ = io.ReadFull(c, first)
			if first[3] == 8 { // a request for TLS
				_, _ = c.Write([]byte{'N'})
			}
			for _, b := range []byte("N\x00\x00\x00\x05\x00R\x00\x00\x00\x08\x00\x00\x00\x03") {
				_, _ = c.Write([]byte{b})
			}
			_, _ = io.Copy(&heard, c)
			_ = c.Close()
		}
	}()
	return l.Addr(), func() []byte { _ = l.Close(); return <-all }
}

func TestClearTextPassword(t *testing.T) {
	socket := t.TempDir()
	for name, c := range map[string]struct {
		network, options string
		told             bool
	}{
		"no TLS": {"tcp", "disable", false}, "TLS that is refused": {"tcp", "prefer", false},
		"Unix socket": {"unix", "disable", true}, "asked for": {"tcp", "disable&password", true},
	} {
		t.Run(name, func(t *testing.T) {
			a := filewise.Address{Scheme: "postgres", Host: socket, Port: 5999, User: "u", Password: "a-secret-of-mine",
				Options: map[string]string{}}
			where := socket + "/.s.PGSQL.5999"
			if c.network == "tcp" {
				where = "127.0.0.1:0"
			}
			at, got := asking(t, c.network, where)
			if tcp, ok := at.(*net.TCPAddr); ok {
				a.Host, a.Port = "127.0.0.1", tcp.Port
			}
			mode, method, _ := strings.Cut(c.options, "&")
			a.Options["sslmode"] = mode
			if method != "" {
				a.Options["require_auth"] = method
			}
			l, err := Open(a, map[string]string{})
			if err != nil {
				t.Fatal(err)
			}
			l.Config.ConnectTimeout = 2 * time.Second
			err = l.With(t.Context(), func(*pgx.Conn) error { return nil })
			if err == nil {
				t.Fatal("it is let in")
			}
			if reported := bytes.Contains(got(), []byte("a-secret-of-mine")); reported != c.told {
				t.Errorf("the server was told the password: %v, want %v: %v", reported, c.told, err)
			}
			if !c.told && !strings.Contains(filewise.RemedyOf(ConnectError("there", err)), "require_auth=password") {
				t.Errorf("%v: %s", err, filewise.RemedyOf(ConnectError("there", err)))
			}
		})
	}
}
