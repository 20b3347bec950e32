package oracle

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"sync/atomic"

	"filewise/engine/internal/external"
)

// Limits on what a server announces. The driver allocates memory for lengths and counts before it reads the contents,
// and a process cannot recover from being out of memory.
const (
	longestPacket = 2<<20 + 8 // a session data unit has at most 2 MiB
	leastUnit     = 512
	mostColumns   = 4096
	mostRedirects = 10
	peeked        = 12 + 255 + 2*9 // bytes of a packet up to a description's count of columns
	wideFrom      = 315            // version of TNS from which lengths have four bytes
)

// TNS: types of packets, and the message that describes a result.
const (
	tnsAccept, tnsData = 2, 6
	ttcDescribe        = 16
)

// dialer dials servers, and inspects their packets before the driver reads them.
type dialer struct{}

type redirects struct{}

// countingRedirects returns a context whose dials count as one way to a server.
func countingRedirects(ctx context.Context) context.Context {
	return context.WithValue(ctx, redirects{}, new(atomic.Int32))
}

// DialContext implements configurations.DialerContext.
func (dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if n, ok := ctx.Value(redirects{}).(*atomic.Int32); ok && n.Add(1) > mostRedirects {
		return nil, external.Unreadable("oracle://"+address, fmt.Sprintf("more than %d redirects", mostRedirects))
	}
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &bounded{Conn: c, server: "oracle://" + address}, nil
}

// bounded inspects a connection's packets as they come. It checks their lengths, the unit that the server accepts, and
// the number of columns in a description that begins a packet. It does not see what a message contains later, or
// encrypted.
type bounded struct {
	net.Conn
	server string
	wide   bool   // lengths have four bytes
	tls    bool   // encrypted from here on
	head   []byte // the beginning of the current packet that is inspected
	skip   int    // bytes of the packet after that
}

// Read implements net.Conn.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if wrong := b.look(p[:n]); wrong != nil {
		_ = b.Conn.Close() // nothing more is read from that server
		return 0, external.Unreadable(b.server, wrong)
	}
	return n, err
}

func (b *bounded) look(p []byte) error {
	for len(p) > 0 && !b.tls {
		if b.skip > 0 {
			n := min(b.skip, len(p))
			b.skip, p = b.skip-n, p[n:]
			continue
		}
		need := 8
		if len(b.head) >= need {
			need = min(b.length(), peeked)
		}
		n := min(need-len(b.head), len(p))
		b.head, p = append(b.head, p[:n]...), p[n:]
		if len(b.head) < need {
			return nil
		}
		if b.tls = !b.wide && b.head[0] == 0x16 && b.head[1] == 3; b.tls { // a TLS record, after a redirect to TLS
			return nil
		}
		length := b.length()
		if length < 8 || length > longestPacket {
			return fmt.Errorf("it announces a packet of %d bytes", length)
		}
		if len(b.head) < min(length, peeked) {
			continue
		}
		b.skip = length - len(b.head)
		if err := b.packet(); err != nil {
			return err
		}
		b.head = b.head[:0]
	}
	return nil
}

func (b *bounded) length() int {
	if b.wide {
		return int(binary.BigEndian.Uint32(b.head))
	}
	return int(binary.BigEndian.Uint16(b.head))
}

// packet checks the beginning of a packet.
func (b *bounded) packet() error {
	h := b.head
	switch {
	case h[4] == tnsAccept && len(h) >= 14:
		unit := uint32(binary.BigEndian.Uint16(h[12:]))
		if binary.BigEndian.Uint16(h[8:]) >= wideFrom && len(h) >= 36 {
			b.wide, unit = true, binary.BigEndian.Uint32(h[32:])
		}
		if unit < leastUnit || unit > longestPacket {
			return fmt.Errorf("it accepts a session data unit of %d bytes", unit)
		}
	case h[4] == tnsData && len(h) > 11 && h[10] == ttcDescribe:
		rest := h[min(12+int(h[11]), len(h)):]
		_, rest = compressed(rest) // the longest row
		if columns, _ := compressed(rest); columns > mostColumns {
			return fmt.Errorf("it announces %d columns, and no table has more than %d", columns, mostColumns)
		}
	}
	return nil
}

// compressed reads a number that follows its length. The length's highest bit is a sign.
func compressed(b []byte) (n uint64, rest []byte) {
	if len(b) == 0 {
		return 0, nil
	}
	size := int(b[0] & 0x7f)
	if size > 8 {
		return 1 << 63, nil
	}
	b = b[1:]
	for i := range min(size, len(b)) {
		n = n<<8 | uint64(b[i])
	}
	return n, b[min(size, len(b)):]
}
