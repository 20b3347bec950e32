package client

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// errClearText is returned because anyone who answers at the address could ask this way, and read the password.
var errClearText = errors.New("the server asks for the password in clear text on a connection without TLS")

// methodPassword is libpq's name in require_auth for passwords in clear text.
const methodPassword = "password"

// refuseClearText makes connections fail if the server asks for the password in clear text. It allows that over TLS, on
// a Unix socket, and if the address asks for it.
func refuseClearText(config *pgconn.Config) {
	for method := range strings.SplitSeq(config.RequireAuth, ",") {
		if strings.TrimSpace(method) == methodPassword {
			return
		}
	}
	build := config.BuildFrontend
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		if _, encrypted := w.(*tls.Conn); encrypted {
			return build(r, w)
		}
		if c, ok := w.(net.Conn); ok && c.RemoteAddr() != nil && c.RemoteAddr().Network() == "unix" {
			return build(r, w)
		}
		return build(&clearTextGuard{Reader: r}, w)
	}
}

// clearTextGuard inspects the server's messages until the authentication ends.
type clearTextGuard struct {
	io.Reader
	over bool
	head []byte // of the message being read: type, length, and method
	rest int    // bytes of the message still to come
}

const (
	headOfMessage  = 5 // bytes: the type, and a length that includes itself
	methodEnds     = headOfMessage + 4
	authentication = 'R'
	authOk         = 0
	authClearText  = 3
)

// Read returns an error if the server asks for a password in clear text.
func (g *clearTextGuard) Read(b []byte) (int, error) {
	n, err := g.Reader.Read(b)
	if !g.over && g.asks(b[:max(n, 0)]) {
		return 0, errClearText
	}
	return n, err
}

func (g *clearTextGuard) asks(b []byte) bool {
	for len(b) > 0 && !g.over {
		if g.rest > 0 {
			skip := min(g.rest, len(b))
			g.rest, b = g.rest-skip, b[skip:]
			continue
		}
		g.head, b = append(g.head, b[0]), b[1:]
		if len(g.head) < headOfMessage || g.head[0] == authentication && len(g.head) < methodEnds {
			continue
		}
		length := int(binary.BigEndian.Uint32(g.head[1:])) + 1
		if g.head[0] == authentication {
			switch binary.BigEndian.Uint32(g.head[headOfMessage:]) {
			case authClearText:
				return true
			case authOk:
				g.over = true
			}
		}
		g.rest, g.head = max(length-len(g.head), 0), g.head[:0]
	}
	return false
}
