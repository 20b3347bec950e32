package sqlserver

import (
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
)

// Packet types (MS-TDS 2.2.3.1.1).
const (
	packBatch     = 1
	packRPC       = 3
	packReply     = 4
	packAttention = 6
	packBulk      = 7
	packLogin     = 16
	packPrelogin  = 18

	statusEnd   = 1
	statusReset = 8
	packetSize  = 4096
)

// message is a request of a client, of one or more packets.
type message struct {
	kind  byte
	reset bool
	body  []byte
}

func readMessage(r io.Reader) (message, error) {
	var m message
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return m, err
		}
		size := int(binary.BigEndian.Uint16(head[2:]))
		if size < len(head) {
			return m, fmt.Errorf("a packet of %d bytes", size)
		}
		part := make([]byte, size-len(head))
		if _, err := io.ReadFull(r, part); err != nil {
			return m, err
		}
		m.kind = head[0]
		m.reset = m.reset || head[1]&statusReset != 0
		m.body = append(m.body, part...)
		if head[1]&statusEnd != 0 {
			return m, nil
		}
	}
}

// writePackets sends a part of a reply; the last packet of the last part ends it.
func writePackets(w io.Writer, body []byte, last bool) error {
	for number := byte(1); ; number++ {
		n := min(len(body), packetSize-8)
		head := [8]byte{packReply, 0, 0, 0, 0, 1, number}
		if last && n == len(body) {
			head[1] = statusEnd
		}
		binary.BigEndian.PutUint16(head[2:], uint16(n+8))
		if _, err := w.Write(append(head[:], body[:n]...)); err != nil {
			return err
		}
		if body = body[n:]; len(body) == 0 {
			return nil
		}
	}
}

func ucs2(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func fromUCS2(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// reader takes a message apart; reading beyond its end fails the whole.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.rest) {
		if r.err == nil {
			r.err = io.ErrUnexpectedEOF
		}
		return make([]byte, max(min(n, 8), 0))
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) u8() int    { return int(r.take(1)[0]) }
func (r *reader) u16() int   { return int(binary.LittleEndian.Uint16(r.take(2))) }
func (r *reader) u32() int   { return int(binary.LittleEndian.Uint32(r.take(4))) }
func (r *reader) u64() int64 { return int64(binary.LittleEndian.Uint64(r.take(8))) }

// headers skips ALL_HEADERS, which come before batches and calls.
func (r *reader) headers() {
	if n := r.u32(); n >= 4 {
		r.take(n - 4)
	}
}
