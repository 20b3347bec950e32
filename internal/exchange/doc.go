// Package exchange makes connections that send a request and wait for its reply in as few system calls as possible: a
// client's processor time is lost for the server that it measures. A transaction of orders takes 0.63 of the client's
// processor time that connections of package net take on PostgreSQL, 0.55 on MariaDB and 0.56 on MySQL (go -C proof
// run ./bench hotpath; proof/README.md has the figures).
package exchange

import (
	"context"
	"net"
	"sync/atomic"
)

// Off leaves the connections that Dialing opens as package net makes them: for the
// measurement of what this package buys, go -C proof run ./bench hotpath.
var Off atomic.Bool

// Dial opens a connection, as drivers take it in their configuration.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

type noted struct{}

// Note has opened called with each connection that Dialing opens with the context.
func Note(ctx context.Context, opened func(net.Conn)) context.Context {
	return context.WithValue(ctx, noted{}, opened)
}

// Dialing has the connections of dial made cheap. With always, every short Write is kept
// until the Read, Write or Close after it: for protocols in which nothing is sent that
// is not followed by one of them at once. Otherwise see Holder.
func Dialing(dial Dial, always bool) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return c, err
		}
		if opened, is := ctx.Value(noted{}).(func(net.Conn)); is {
			opened(c)
		}
		if Off.Load() {
			return c, nil
		}
		return wrap(c, always), nil
	}
}

// Conn is a connection that Dialing has made cheap.
type Conn interface {
	net.Conn
	Holder
	// Unread has the next Reads begin with b, of which it keeps a copy.
	Unread(b []byte)
}

// Holder can keep a request until its reply is waited for.
type Holder interface {
	// Hold has the next Write, if it is short, go out with the Read, Write or Close after it. The caller promises
	// that one of them follows at once. If a Read is under way, the Write goes out itself.
	Hold()
}

// Of is the connection, or that under TLS's, that can hold a request; one that holds nothing if there is none.
func Of(conn net.Conn) Holder {
	for {
		switch c := conn.(type) {
		case Holder:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return plain{}
		}
	}
}

// plain holds nothing.
type plain struct{}

func (plain) Hold() {}
