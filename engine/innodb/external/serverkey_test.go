package external

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/innodb/client"
)

// hostile answers one connection as a server that is after something: after the client's login it
// sends each text in turn, and returns all that it got.
func hostile(t *testing.T, plugin string, then ...[]byte) (port int, got func() []byte) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(10 * time.Second))
	all := make(chan []byte, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			all <- nil
			return
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		var heard []byte
		send := func(number byte, payload []byte) {
			_, _ = c.Write(append([]byte{byte(len(payload)), byte(len(payload) >> 8), byte(len(payload) >> 16), number}, payload...))
		}
		hear := func() byte {
			head := make([]byte, headOfPacket)
			if _, err := io.ReadFull(c, head); err != nil {
				return 0
			}
			payload := make([]byte, lengthOf(head))
			_, _ = io.ReadFull(c, payload)
			heard = append(heard, payload...)
			return head[3] + 1
		}
		send(0, greeting(plugin))
		number := hear()
		for _, payload := range then {
			send(number, payload)
			number = hear()
		}
		all <- heard
	}()
	return l.Addr().(*net.TCPAddr).Port, func() []byte { return <-all }
}

func greeting(plugin string) []byte {
	g := append([]byte{10}, "8.0.99\x00\x01\x00\x00\x0012345678\x00"...)
	g = append(g, 0xff, 0xf7, 45, 2, 0, 0xff, 0xdf, 21) // all it can, but TLS
	g = append(g, make([]byte, 10)...)
	return append(g, "123456789012\x00"+plugin+"\x00"...)
}

// A server is not given the password by its own key, in whichever order it asks.
func TestServersOwnKey(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	sent := append([]byte{authMoreData}, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
	change := append([]byte{0xfe}, "sha256_password\x0012345678901234567890\x00"...)
	for name, c := range map[string]struct {
		plugin  string
		then    [][]byte
		allowed bool
	}{
		"caching_sha2_password":      {"caching_sha2_password", [][]byte{{authMoreData, 4}, sent}, false},
		"sha256_password":            {"sha256_password", [][]byte{sent}, false},
		"changed to sha256_password": {"caching_sha2_password", [][]byte{change, sent}, false},
		"unasked":                    {"sha256_password", [][]byte{sent, sent}, false},
		"clear text":                 {"caching_sha2_password", [][]byte{append([]byte{0xfe}, "mysql_clear_password\x00"...)}, false},
		"old password":               {"caching_sha2_password", [][]byte{append([]byte{0xfe}, "mysql_old_password\x0012345678\x00"...)}, false},
		"allowed":                    {"caching_sha2_password", [][]byte{{authMoreData, 4}, sent}, true},
	} {
		t.Run(name, func(t *testing.T) {
			port, got := hostile(t, c.plugin, c.then...)
			a := filewise.Address{Scheme: "mysql", Host: "127.0.0.1", Port: port, User: "u", Password: "a-secret-of-mine",
				Options: map[string]string{}}
			if c.allowed {
				a.Options[client.OptionServerKey] = "true"
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, err := mySQL.Open(ctx, filewise.Target{Engine: "mysql", Mode: filewise.External, Address: &a,
				Volumes: []filewise.Volume{{Name: "server"}}})
			if err == nil {
				t.Fatal("it is let in")
			}
			if read := readable(key, got()); read != c.allowed {
				t.Errorf("the server has read the password: %v, want %v: %v", read, c.allowed, err)
			}
			if key := len(c.then) > 0 && bytes.Equal(c.then[len(c.then)-1], sent); key && !c.allowed &&
				!strings.Contains(filewise.RemedyOf(err), client.OptionServerKey) {
				t.Errorf("%v; %s", err, filewise.RemedyOf(err))
			}
		})
	}
}

// readable reports whether a server can read the password in what it has got.
func readable(key *rsa.PrivateKey, got []byte) bool {
	if bytes.Contains(got, []byte("a-secret-of-mine")) {
		return true
	}
	for at := 0; at+key.Size() <= len(got); at++ { // what opens is the password under the server's own scramble
		if _, err := rsa.DecryptOAEP(sha1.New(), nil, key, got[at:at+key.Size()], nil); err == nil {
			return true
		}
	}
	return false
}

// A server that asks for a file of the client's, by LOCAL INFILE, which no statement offered, gets nothing of it.
func TestServerAsksForAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("a-file-of-mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	ok := []byte{0, 0, 0, 2, 0, 0, 0}
	for _, name := range []string{file, "Reader::" + file, "x/Reader::" + file, `"` + file + `"`} {
		port, got := hostile(t, "mysql_native_password", ok, append([]byte{0xfb}, name...), append([]byte{0xfb}, name...))
		a := filewise.Address{Scheme: "mysql", Host: "127.0.0.1", Port: port, User: "u", Password: "x"}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := mySQL.Open(ctx, filewise.Target{Engine: "mysql", Mode: filewise.External, Address: &a,
			Volumes: []filewise.Volume{{Name: "server"}}})
		cancel()
		if sent := got(); err == nil || bytes.Contains(sent, []byte("a-file-of-mine")) {
			t.Errorf("%s: %v, %q", name, err, sent)
		}
	}
}
