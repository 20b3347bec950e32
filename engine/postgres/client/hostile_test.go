package client

import (
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/enginetest"
)

// message returns one of the protocol's, whose length counts itself.
func message(kind byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

const (
	authOK      = "\x00\x00\x00\x00"
	oneColumn   = "\x00\x01x\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x14\x00\x08\xff\xff\xff\xff\x00\x01" // bigint, binary
	textsColumn = "\x00\x01x\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\xf1\xff\xff\xff\xff\xff\xff\x00\x01" // text[], binary
)

// liar lets everyone in, and answers the first Sync with described, each later one with rows.
func liar(t *testing.T, described, rows []byte) int {
	t.Helper()
	return enginetest.Serve(t, func(c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		head := make([]byte, 4)
		_, _ = io.ReadFull(c, head)
		_, _ = io.ReadFull(c, make([]byte, max(binary.BigEndian.Uint32(head), 4)-4))
		_, _ = c.Write(append(message('R', authOK), message('Z', "I")...))
		for answers := [][]byte{described, rows}; len(answers) > 0; {
			head := make([]byte, 5)
			if _, err := io.ReadFull(c, head); err != nil {
				return
			}
			_, _ = io.ReadFull(c, make([]byte, max(binary.BigEndian.Uint32(head[1:]), 4)-4))
			if head[0] == 'S' || head[0] == 'Q' {
				_, _ = c.Write(answers[0])
				answers = answers[1:]
			}
		}
	})
}

// Whatever a server sends is reported as an error, and takes no memory that it merely announces.
func TestHostileServer(t *testing.T) {
	described := append(message('1', ""), message('t', "\x00\x00")...)
	end := append(message('C', "SELECT 1\x00"), message('Z', "I")...)
	row := func(value string) string {
		return "\x00\x01" + string(binary.BigEndian.AppendUint32(nil, uint32(len(value)))) + value
	}
	for name, c := range map[string]struct{ columns, row string }{
		"65,535 columns":      {"\xff\xff", row("12345678")},
		"a row of 65,535":     {oneColumn, "\xff\xff"},
		"a value of 2 GiB":    {oneColumn, "\x00\x01\x7f\xff\xff\xff1"},
		"a value of −2 bytes": {oneColumn, "\x00\x01\xff\xff\xff\xfe"},
		"2^31−1 elements":     {textsColumn, row("\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x19\x7f\xff\xff\xff\x00\x00\x00\x01")},
		"2^31−1 dimensions":   {textsColumn, row("\x7f\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x19")},
		"2^15 × 2^15 × 2^15 elements": {textsColumn, row("\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x19" +
			strings.Repeat("\x00\x00\x80\x00\x00\x00\x00\x01", 3))},
		"a number of four bytes":       {oneColumn, row("1234")},
		"a description without a name": {"\x00\x01", row("12345678")},
	} {
		t.Run(name, func(t *testing.T) {
			told(t, append(append(described[:len(described):len(described)], message('T', c.columns)...), message('Z', "I")...),
				append(append(message('2', ""), message('D', c.row)...), end...))
		})
	}
	whole := [][]byte{append(append(described[:len(described):len(described)], message('T', textsColumn)...), message('Z', "I")...),
		append(append(message('2', ""), message('D', row("\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00\x01\x00\x00\x00\x01"+
			"\x00\x00\x00\x01x"))...), end...)}
	r := rand.New(rand.NewPCG(40, 41))
	for range 200 {
		which := r.IntN(2)
		mutated := [][]byte{append([]byte(nil), whole[0]...), append([]byte(nil), whole[1]...)}
		for range 1 + r.IntN(3) {
			at := r.IntN(len(mutated[which]))
			mutated[which][at] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.Uint32())}[r.IntN(6)]
		}
		told(t, mutated[0], mutated[1])
	}
}

// A panic of the driver is an error that names the server, and the connection that met it is not used again.
func TestPanicOfTheDriver(t *testing.T) {
	l, err := Open(filewise.Address{Scheme: "postgres", Host: "127.0.0.1", Port: liar(t, nil, nil), User: "u",
		Options: map[string]string{"sslmode": "disable"}}, map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = l.With(t.Context(), func(*pgx.Conn) error { panic("index out of range") })
	if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(err.Error(), "postgres://127.0.0.1:") || len(l.free) > 0 {
		t.Errorf("%v, %d connections kept", err, len(l.free))
	}
}

// A value is only read from what is whole.
func told(t *testing.T, described, rows []byte) {
	t.Helper()
	l, err := Open(filewise.Address{Scheme: "postgres", Host: "127.0.0.1", Port: liar(t, described, rows), User: "u",
		Options: map[string]string{"sslmode": "disable"}}, map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
	defer cancel()
	_, err = l.Rows(ctx, "SELECT 1")
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 2*longestMessage {
		t.Errorf("%x %x took %d MiB: %v", described, rows, took>>20, err)
	}
}
