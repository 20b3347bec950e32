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
	mostStrangers = 128
	mostOfHost    = 16
	mostFriends   = 128
)

// doors accept connections. Beyond what is held of strangers the oldest is closed for
// each new one, never one that has shown the token: whoever has it gets in, whatever
// others hold open.
type doors struct {
	net.Listener
	mu        sync.Mutex
	strangers []*visitor // the oldest first
	friends   int
}

// visitor is one connection.
type visitor struct {
	net.Conn
	doors  *doors
	host   string
	friend bool
	gone   atomic.Bool
}

func (d *doors) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	v := &visitor{Conn: conn, doors: d, host: hostOf(conn.RemoteAddr())}
	if out := d.enter(v); out != nil {
		_ = out.Close() // its handler ends by that
	}
	return v, nil
}

// hostOf is the other host, which may choose among its addresses of IPv6; empty: this one.
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

// enter counts a visitor and says who has to go for it; nil: nobody.
func (d *doors) enter(v *visitor) *visitor {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.strangers = append(d.strangers, v)
	same := func(x *visitor) bool { return x.host == v.host }
	n := 0
	for _, x := range d.strangers {
		if same(x) {
			n++
		}
	}
	switch {
	case v.host != "" && n > mostOfHost:
		return d.strangers[slices.IndexFunc(d.strangers, same)]
	case len(d.strangers) > mostStrangers:
		return d.strangers[0]
	}
	return nil
}

// befriend is for a visitor that has shown the token: it is not closed for others.
func (v *visitor) befriend() {
	d := v.doors
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.strangers, v); i >= 0 && d.friends < mostFriends {
		d.strangers = slices.Delete(d.strangers, i, i+1)
		v.friend = true
		d.friends++
	}
}

// Close also counts the visitor out.
func (v *visitor) Close() error {
	if !v.gone.Swap(true) {
		d := v.doors
		d.mu.Lock()
		if v.friend {
			d.friends--
		} else if i := slices.Index(d.strangers, v); i >= 0 {
			d.strangers = slices.Delete(d.strangers, i, i+1)
		}
		d.mu.Unlock()
	}
	return v.Conn.Close()
}

// visit is the key of a request's visitor.
type visit struct{}

func visited(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, visit{}, c)
}

// befriended notes that a request has shown the token.
func befriended(r *http.Request) {
	if v, ok := r.Context().Value(visit{}).(*visitor); ok {
		v.befriend()
	}
}
