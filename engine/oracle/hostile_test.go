package oracle

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
)

// packet returns one of TNS, with a length of two bytes, or of four.
func packet(kind byte, wide bool, body string) []byte {
	head := make([]byte, 8)
	if head[4] = kind; wide {
		binary.BigEndian.PutUint32(head, uint32(8+len(body)))
	} else {
		binary.BigEndian.PutUint16(head, uint16(8+len(body)))
	}
	return append(head, body...)
}

// accept returns a packet that accepts a connection with a session data unit.
func accept(unit uint32) []byte {
	body := make([]byte, 37)
	binary.BigEndian.PutUint16(body, 319)
	binary.BigEndian.PutUint16(body[4:], 8192)
	binary.BigEndian.PutUint32(body[24:], unit)
	binary.BigEndian.PutUint32(body[28:], unit)
	return packet(tnsAccept, false, string(body))
}

// listening answers each packet of a client by the next of these, then with the last for ever.
func listening(t *testing.T, answers ...[]byte) int {
	t.Helper()
	return enginetest.Serve(t, func(c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		for i, buffer := 0, make([]byte, 64<<10); ; i++ {
			if _, err := c.Read(buffer); err != nil {
				return
			}
			if _, err := c.Write(answers[min(i, len(answers)-1)]); err != nil {
				return
			}
		}
	})
}

// Whatever a server sends before anybody has signed in is reported as an error, in time, and takes no memory that it merely announces.
func TestHostileServer(t *testing.T) {
	whole := [][]byte{accept(8192), packet(tnsData, true, "\x00\x00\x01\x06\x00x86_64\x00\x69\x03\x41\x00\x00\x00"),
		packet(tnsData, true, "\x00\x00\x02")}
	huge := packet(tnsData, true, "\x00\x00\x01")
	binary.BigEndian.PutUint32(huge, 1<<31-1)
	for name, answers := range map[string][][]byte{
		"a unit of 0": {accept(0)}, "a unit of 64": {accept(64), whole[1]}, "a unit of 2^32−1": {accept(1<<32 - 1)},
		"a packet of 2 GiB": {whole[0], huge}, "a packet of 0": {make([]byte, 64)},
		"nothing but refusals":          {packet(4, false, "\x00\x00\x00\x00")},
		"a refusal of 65,535 bytes":     {packet(4, false, "\x00\x00\xff\xff")},
		"a redirect without an address": {packet(5, false, "\x00\x00")},
		"resends":                       {packet(11, false, "")},
		"markers":                       {whole[0], packet(12, true, "\x01\x00\x01")},
		"no TNS":                        {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n")},
	} {
		t.Run(name, func(t *testing.T) { signIn(t, listening(t, answers...)) })
	}
	r := rand.New(rand.NewPCG(40, 43))
	for range 60 {
		mutated := [][]byte{append([]byte(nil), whole[0]...), append([]byte(nil), whole[1]...), append([]byte(nil), whole[2]...)}
		for range 1 + r.IntN(3) {
			which := r.IntN(len(mutated))
			at := r.IntN(len(mutated[which]))
			mutated[which][at] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.Uint32())}[r.IntN(6)]
		}
		signIn(t, listening(t, mutated...))
	}
}

// A server that sends anyone who asks back to itself is left after a few times.
func TestRedirectsWithoutEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx := countingRedirects(t.Context())
	for i := range mostRedirects + 1 {
		c, err := dialer{}.DialContext(ctx, "tcp", l.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		if (err != nil) != (i == mostRedirects) {
			t.Errorf("way %d: %v", i, err)
		}
	}
}

func signIn(t *testing.T, port int) {
	t.Helper()
	c, err := configOf(&filewise.Address{Scheme: "oracle", Host: "127.0.0.1", Port: port, User: "u", Password: "p", Path: "s"})
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(c, nil)
	defer p.close() //nolint:errcheck // of a server that is none
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- p.db.PingContext(ctx) }()
	select {
	case err = <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for ever")
	}
	if err == nil {
		t.Error("it has signed in")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("it took %d MiB: %v", took>>20, err)
	}
}

// What a message describes is counted before the driver allocates memory for it, however the packet comes.
func TestCounts(t *testing.T) {
	describe := func(columns string) string {
		return "\x00\x00\x10\x03abc\x02\x10\x00" + columns + strings.Repeat("x", 400)
	}
	for columns, want := range map[string]string{"\x01\x05": "", "\x02\x10\x00": "", "\x02\x10\x01": "4097 columns",
		"\x04\x7f\xff\xff\xff": "2147483647 columns", "\x08\x01\x00\x00\x00\x00\x00\x00\x00": "72057594037927936 columns", "\x7f": "columns"} {
		for _, step := range []int{1, 7, 1 << 10} {
			near, far := net.Pipe()
			go func() {
				text := append(accept(8192), packet(tnsData, true, describe(columns))...)
				for len(text) > 0 {
					n := min(step, len(text))
					if _, err := far.Write(text[:n]); err != nil {
						return
					}
					text = text[n:]
				}
				_ = far.Close()
			}()
			_, err := io.ReadAll(&bounded{Conn: near, server: "oracle://here"})
			if (err == nil) != (want == "") || err != nil && !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%q by %d: %v, want %q", columns, step, err, want)
			}
			_ = near.Close()
		}
	}
}
