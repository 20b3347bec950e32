package external

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"reflect"
	"syscall"

	"filewise/internal/exchange"
)

const (
	// mostColumns is both products' limit on a table's columns.
	mostColumns = 4096
	// longestPacket limits the length of a packet that the driver joins from parts, in bytes.
	longestPacket = 256 << 20
	fullPacket    = 1<<24 - 1 // bytes; a packet of this length continues in another part
	countBytes    = 9         // bytes of a length-encoded integer
)

// countGuard inspects a server's packets as they pass. It ends the connection before the driver allocates the memory
// that a hostile packet announces, because a process cannot recover from being out of memory.
type countGuard struct {
	net.Conn
	head   [headOfPacket + countBytes]byte // of the current packet: length, number, and its first bytes
	have   int
	rest   int  // bytes of it still to come
	before byte // first byte of the packet before
	whole  int  // bytes of its earlier parts
	blind  bool // TLS has begun
	failed error
}

// counted limits what connections read. Over TLS the guard sees only encrypted bytes; see countedTLS.
func counted(dial exchange.Dial) exchange.Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return c, err
		}
		return &countGuard{Conn: c}, nil
	}
}

// countedTLS limits what a driver's connection reads over TLS, which the driver wraps around the dialled connection.
// The driver has no option for that, so a field is set by reflection. TestCounts fails if there is no field with that
// name.
func countedTLS(conn driver.Conn) error {
	inner := netConn(conn)
	if inner == nil {
		return fmt.Errorf("the driver's connection %T has no netConn", conn)
	}
	if _, is := (*inner).(*tls.Conn); is {
		*inner = &countGuard{Conn: *inner}
	}
	return nil
}

// netConn returns the network connection that a driver's connection reads from, or nil.
func netConn(conn driver.Conn) *net.Conn {
	field := reflect.Indirect(reflect.ValueOf(conn)).FieldByName("netConn")
	if !field.IsValid() || field.Type() != reflect.TypeFor[net.Conn]() {
		return nil
	}
	return reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Interface().(*net.Conn)
}

// cut closes a driver's network connection.
func cut(conn driver.Conn) {
	if inner := netConn(conn); inner != nil {
		_ = (*inner).Close()
	}
}

// ended returns why a guard has ended a driver's connection. The driver's own error shows only that the connection is
// invalid.
func ended(conn driver.Conn) error {
	inner := netConn(conn)
	if inner == nil {
		return nil
	}
	c := *inner
	if g, is := c.(*keyGuard); is {
		c = g.Conn
	}
	if g, is := c.(*countGuard); is {
		return g.failed
	}
	return nil
}

// SyscallConn lets the driver check whether an idle connection still lives.
func (g *countGuard) SyscallConn() (syscall.RawConn, error) {
	s, ok := g.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}

// Write notices the beginning of TLS.
func (g *countGuard) Write(b []byte) (int, error) {
	if len(b) >= headOfPacket && b[3] == 1 && lengthOf(b) == sslRequest {
		g.blind = true
	}
	return g.Conn.Write(b)
}

// Read returns an error if the server sends a number that neither product sends.
func (g *countGuard) Read(b []byte) (int, error) {
	if g.failed != nil {
		return 0, g.failed
	}
	n, err := g.Conn.Read(b)
	if g.blind {
		return n, err
	}
	if g.failed = g.pass(b[:max(n, 0)]); g.failed != nil {
		return 0, g.failed
	}
	return n, err
}

// pass inspects the heads of the packets in b.
func (g *countGuard) pass(b []byte) error {
	for len(b) > 0 {
		if g.rest > 0 && g.have == 0 {
			skip := min(g.rest, len(b))
			g.rest, b = g.rest-skip, b[skip:]
			continue
		}
		want := headOfPacket
		if g.have >= headOfPacket {
			want += min(lengthOf(g.head[:]), countBytes)
		}
		n := copy(g.head[g.have:want], b)
		g.have, b = g.have+n, b[n:]
		switch length := lengthOf(g.head[:]); {
		case g.have < headOfPacket, g.have < headOfPacket+min(length, countBytes):
			continue
		default:
			if err := g.look(length); err != nil {
				return err
			}
			g.rest, g.have = length-min(length, countBytes), 0
		}
	}
	return nil
}

// look checks a packet by its first bytes.
func (g *countGuard) look(length int) error {
	first, part := g.head[headOfPacket], g.whole > 0
	if length == fullPacket {
		g.whole += length
	} else {
		g.whole = 0
	}
	if g.whole > longestPacket {
		return fmt.Errorf("the server sends a packet of more than %d MiB", longestPacket>>20)
	}
	if part || length == 0 {
		return nil
	}
	before := g.before
	g.before = first
	// The answer to a command begins with packet 1. Each further result begins after the end of the one before. A text
	// at the beginning of a row is not longer than its packet.
	if g.head[headOfPacket-1] != 1 && before != 0xfe && before != 0 {
		return nil
	}
	payload := g.head[headOfPacket : headOfPacket+min(length, countBytes)]
	var count uint64
	switch {
	case first == 0xfd && len(payload) >= 4:
		count = uint64(payload[1]) | uint64(payload[2])<<8 | uint64(payload[3])<<16
	case first == 0xfe && len(payload) == countBytes:
		count = binary.LittleEndian.Uint64(payload[1:])
	}
	if count > mostColumns && (count > uint64(length) && length < fullPacket || count > longestPacket) {
		return fmt.Errorf("the server announces %d columns, and no table has more than %d", count, mostColumns)
	}
	return nil
}
