package external

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"

	"filewise/internal/exchange"
)

// errServerKey is returned because anyone who answers at the address could send their own key, and read the password.
var errServerKey = errors.New("the server asks for the whole password, encrypted by a key that it sends itself, " +
	"on a connection without TLS")

type serverKey struct{}

// withServerKey returns a context with which refused is called if the server's key is refused.
func withServerKey(ctx context.Context, refused func()) context.Context {
	return context.WithValue(ctx, serverKey{}, refused)
}

// withoutServerKey makes network connections fail if the server sends a key for the password (caching_sha2_password's
// full authentication, and sha256_password). The driver accepts any such key, even if it was given another. Over TLS
// and on a Unix socket it requests none.
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

// keyGuard inspects the packets of the authentication as they pass.
type keyGuard struct {
	net.Conn
	refused func()
	over    bool   // the authentication is over, or continues beneath TLS
	head    []byte // of the current packet: length, number, and its first byte
	rest    int    // bytes of it still to come
}

// SyscallConn lets the driver check whether an idle connection still lives.
func (g *keyGuard) SyscallConn() (syscall.RawConn, error) {
	s, ok := g.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}

const (
	headOfPacket = 4
	sslRequest   = 32 // bytes; a client's answer to the greeting is longer without TLS
	authMoreData = 0x01
	longestFlag  = 2 // bytes of an authMoreData that is no key
)

// Write notices where the authentication ends: commands are numbered from 0.
func (g *keyGuard) Write(b []byte) (int, error) {
	if !g.over && len(b) >= headOfPacket {
		g.over = b[3] == 0 || b[3] == 1 && lengthOf(b) == sslRequest
	}
	return g.Conn.Write(b)
}

// Read returns an error if the server has sent a key.
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
