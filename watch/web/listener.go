package web

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// The connections that are held at once, so that the process that measures keeps its
// descriptors: of all who have not shown the token, of one other host's, and of those who have.
const (
	mostAnonymous = 128
	mostOfHost    = 16
	mostTrusted   = 128
)

// limitedListener accepts connections. Of too many without the token the oldest is closed for each new one, never one
// that has shown it: anyone who has it gets in, whatever others hold open.
type limitedListener struct {
	net.Listener
	mu        sync.Mutex
	anonymous []*connection // the oldest first
	trusted   int
}

// connection is one that is counted.
type connection struct {
	net.Conn
	listener *limitedListener
	host     string
	trusted  bool
	gone     atomic.Bool
}

func (l *limitedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	v := &connection{Conn: conn, listener: l, host: hostOf(conn.RemoteAddr())}
	if out := l.enter(v); out != nil {
		_ = out.Close() // its handler ends by that
	}
	return v, nil
}

// hostOf returns the other host, which may choose among its addresses of IPv6. Empty means this one.
func hostOf(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	switch {
	case !ok || tcp.IP.IsLoopback():
		return ""
	case tcp.IP.To4() == nil:
		return tcp.IP.Mask(net.CIDRMask(64, 128)).String()
	}
	return tcp.IP.String()
}

// enter counts a connection and returns the one that has to go for it. Nil means none.
func (l *limitedListener) enter(v *connection) *connection {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.anonymous = append(l.anonymous, v)
	same := func(x *connection) bool { return x.host == v.host }
	n := 0
	for _, x := range l.anonymous {
		if same(x) {
			n++
		}
	}
	switch {
	case v.host != "" && n > mostOfHost:
		return l.anonymous[slices.IndexFunc(l.anonymous, same)]
	case len(l.anonymous) > mostAnonymous:
		return l.anonymous[0]
	}
	return nil
}

// trust is for a connection that has shown the token: it is not closed for others.
func (c *connection) trust() {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.anonymous, c); i >= 0 && l.trusted < mostTrusted {
		l.anonymous = slices.Delete(l.anonymous, i, i+1)
		c.trusted = true
		l.trusted++
	}
}

// Close also counts the connection out.
func (c *connection) Close() error {
	if !c.gone.Swap(true) {
		l := c.listener
		l.mu.Lock()
		if c.trusted {
			l.trusted--
		} else if i := slices.Index(l.anonymous, c); i >= 0 {
			l.anonymous = slices.Delete(l.anonymous, i, i+1)
		}
		l.mu.Unlock()
	}
	return c.Conn.Close()
}

// connectionKey is the context key of a request's connection.
type connectionKey struct{}

func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// markTrusted notes that a request has shown the token.
func markTrusted(r *http.Request) {
	if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		c.trust()
	}
}
