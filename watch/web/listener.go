package web

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// The most connections at a time, so that the measuring process keeps enough file descriptors: without the token in
// all, from one other host, and with the token.
const (
	mostAnonymous = 128
	mostOfHost    = 16
	mostTrusted   = 128
)

// limitedListener accepts connections. If there are too many without the token, it closes the oldest of them for each
// new one. It never closes a connection that has shown the token, so clients with the token get in whatever others hold
// open.
type limitedListener struct {
	net.Listener
	mu        sync.Mutex
	anonymous []*connection // oldest first
	trusted   int
}

// connection is a counted connection.
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
		_ = out.Close() // this ends its handler
	}
	return v, nil
}

// hostOf returns the address of another host. IPv6 addresses are cut to 64 bits, since a host may choose among its
// addresses. It is empty for this host.
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

// enter counts a connection, and returns the connection to close for it, or nil.
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

// trust marks a connection that has shown the token, so that it is not closed for others.
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

// Close closes the connection and stops counting it.
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

// connectionKey is the context key for a request's connection.
type connectionKey struct{}

func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// markTrusted marks the connection of a request that has shown the token.
func markTrusted(r *http.Request) {
	if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		c.trust()
	}
}
