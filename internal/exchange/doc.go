// Package exchange makes connections that send a request and wait for its reply in as few system calls as possible. A
// client's processor time is lost for the server that it measures. A transaction of orders takes less of the client's
// processor time than with connections of package net: 0.63 of it on PostgreSQL, 0.55 on MariaDB and 0.56 on MySQL (go
// -C proof run ./bench hotpath; proof/README.md has the figures).
package exchange

import (
	"context"
	"net"
	"sync/atomic"
)

// Off makes Dialing open connections as package net does. It serves to measure the gain of this package (go -C proof
// run ./bench hotpath).
var Off atomic.Bool

// Dial opens a connection, as drivers take it in their configuration.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

type noted struct{}

// Note returns a context under which Dialing calls opened with each new connection.
func Note(ctx context.Context, opened func(net.Conn)) context.Context {
	return context.WithValue(ctx, noted{}, opened)
}

// Dialing returns a Dial whose connections need fewer system calls. If always is set, each short Write is held until
// the next Read, Write or Close, for protocols in which one of them always follows at once. Otherwise only Holder.Hold
// holds one.
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
	// Unread makes the next Reads begin with b. It keeps a copy of b.
	Unread(b []byte)
}

// Holder can hold a request until its reply is waited for.
type Holder interface {
	// Hold makes the next Write, if it is short, go out with the Read, Write or Close after it. The caller promises that
	// one of them follows at once. If a Read is under way, the Write goes out by itself.
	Hold()
}

// Of returns the Holder of the connection, or of the connection below its TLS. If there is none, it returns a Holder
// that holds nothing.
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

// plain is a Holder that holds nothing.
type plain struct{}

func (plain) Hold() {}
