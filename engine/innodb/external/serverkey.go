package external

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"

	"filewise/internal/exchange"
)

// optionServerKey lets a server without TLS send the key that encrypts the password. Connector/J
// has the same name.
const optionServerKey = "allowPublicKeyRetrieval"

// errServerKey: anyone who answers at the address could send a key of their own, and read the password.
var errServerKey = errors.New("the server asks for the whole password, encrypted by a key that it sends itself, " +
	"on a connection without TLS")

type serverKey struct{}

// withServerKey has refused called if the server's key is refused.
func withServerKey(ctx context.Context, refused func()) context.Context {
	return context.WithValue(ctx, serverKey{}, refused)
}

// withoutServerKey has connections over a network end when the server sends a key for the password
// (caching_sha2_password's full authentication, and sha256_password). The driver takes any, also if it
// was given another. Over TLS, and on a Unix socket, none is requested.
func withoutServerKey(dial exchange.Dial) exchange.Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil || strings.HasPrefix(network, "unix") {
			return c, err
		}
		refused, _ := ctx.Value(serverKey{}).(func())
		return &keyGuard{Conn: c, refused: refused}, nil
	}
}

// keyGuard reads the packets of the authentication as they pass.
type keyGuard struct {
	net.Conn
	refused func()
	over    bool   // the authentication is, or it goes on beneath TLS
	head    []byte // of the packet that is being read: length, number, and its first byte
	rest    int    // bytes of it that follow
}

// SyscallConn is for the driver, which looks whether an idle connection still stands.
func (g *keyGuard) SyscallConn() (syscall.RawConn, error) {
	s, ok := g.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}

const (
	headOfPacket = 4
	sslRequest   = 32 // bytes; a client's answer to the greeting without TLS has more
	authMoreData = 0x01
	longestFlag  = 2 // bytes of authMoreData that are no key
)

// Write sees where the authentication ends: commands are numbered from 0.
func (g *keyGuard) Write(b []byte) (int, error) {
	if !g.over && len(b) >= headOfPacket {
		g.over = b[3] == 0 || b[3] == 1 && lengthOf(b) == sslRequest
	}
	return g.Conn.Write(b)
}

// Read fails when what it has read is a key.
func (g *keyGuard) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if g.over || !g.isKey(b[:max(n, 0)]) {
		return n, err
	}
	if g.refused != nil {
		g.refused()
	}
	return 0, errServerKey
}

func (g *keyGuard) isKey(b []byte) bool {
	for len(b) > 0 {
		if g.rest > 0 {
			skip := min(g.rest, len(b))
			g.rest, b = g.rest-skip, b[skip:]
			continue
		}
		g.head, b = append(g.head, b[0]), b[1:]
		if len(g.head) < headOfPacket || len(g.head) == headOfPacket && lengthOf(g.head) > 0 {
			continue
		}
		length := lengthOf(g.head)
		if length > longestFlag && g.head[headOfPacket] == authMoreData {
			return true
		}
		g.rest, g.head = max(length-1, 0), g.head[:0]
	}
	return false
}

func lengthOf(packet []byte) int { return int(packet[0]) | int(packet[1])<<8 | int(packet[2])<<16 }
