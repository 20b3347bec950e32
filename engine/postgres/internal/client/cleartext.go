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

// errClearText: anyone who answers at the address could ask so, and read the password.
var errClearText = errors.New("the server asks for the password in clear text on a connection without TLS")

// methodPassword is libpq's word for that method in require_auth.
const methodPassword = "password"

// refuseClearText has connections fail on which a server asks for the password in clear text, but over
// TLS, on a Unix socket, or if the address asks for that method.
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

// clearTextGuard reads the server's messages up to the end of the authentication as they pass.
type clearTextGuard struct {
	io.Reader
	over bool
	head []byte // of the message that is being read: type, length, and the method
	rest int    // bytes of it that follow
}

const (
	headOfMessage  = 5 // bytes: its type, and a length that counts itself
	methodEnds     = headOfMessage + 4
	authentication = 'R'
	authOk         = 0
	authClearText  = 3
)

// Read fails when the server asks for a password in clear text.
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
