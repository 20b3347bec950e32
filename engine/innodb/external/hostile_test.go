package external

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
)

// liar lets everyone in, over TLS if it has a certificate, and answers each of the first commands with packets, the
// first of them numbered 1.
func liar(t *testing.T, certificate *tls.Config, answers ...[][]byte) (port int) {
	t.Helper()
	return enginetest.Serve(t, func(c net.Conn) { lie(c, certificate, answers) })
}

func lie(c net.Conn, certificate *tls.Config, answers [][][]byte) {
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	send := func(number byte, payload []byte) {
		_, _ = c.Write(append([]byte{byte(len(payload)), byte(len(payload) >> 8), byte(len(payload) >> 16), number}, payload...))
	}
	hear := func() (number byte, ok bool) {
		head := make([]byte, headOfPacket)
		if _, err := io.ReadFull(c, head); err != nil {
			return 0, false
		}
		payload := make([]byte, lengthOf(head))
		_, err := io.ReadFull(c, payload)
		return head[3] + 1, err == nil
	}
	hello := greeting("mysql_native_password")
	if certificate != nil {
		hello[len("\x0a8.0.99\x00\x01\x00\x00\x0012345678\x00")+1] |= 0x08 // CLIENT_SSL
	}
	send(0, hello)
	number, _ := hear()
	if certificate != nil {
		c = tls.Server(c, certificate)
		number, _ = hear()
	}
	send(number, []byte{0, 0, 0, 2, 0, 0, 0})
	for _, answer := range answers {
		number, _ := hear()
		for i, payload := range answer {
			send(number+byte(i), payload)
		}
	}
}

// columns returns the packet that announces a number of columns.
func columns(n uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0xfe}, n) }

var definition = append([]byte("\x03def\x00\x00\x00\x01x\x00"), 0x0c, 45, 0, 255, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0)

// whole is the answer 7.
var whole = [][]byte{{1}, definition, {0xfe, 0, 0, 2, 0}, {1, '7'}, {0xfe, 0, 0, 2, 0}}

// answers holds what servers send that are after the client's memory or life, as packets that follow a command.
var answers = map[string][][]byte{
	"2^62 columns":                    {columns(1 << 62)},
	"2^40 columns":                    {columns(1 << 40)},
	"2^64-1 columns":                  {columns(1<<64 - 1)},
	"2^31 columns":                    {columns(1 << 31)},
	"16,777,215 columns":              {{0xfd, 0xff, 0xff, 0xff}},
	"2^40 columns, and more":          {append(columns(1<<40), make([]byte, 99)...)},
	"2^40 columns of a second result": {{1}, definition, {0xfe, 0, 0, 10, 0}, {1, 'x'}, {0xfe, 0, 0, 10, 0}, columns(1 << 40)},
	"nothing":                         {{}},
	"OK cut":                          {{0, 0}},
	"OK of one byte":                  {{0}},
	"an error cut":                    {{0xff, 1}},
	"an error without a text":         {{0xff}},
	"a file is asked for":             {{0xfb, '/', 'e', 't', 'c', '/', 'p', 'a', 's', 's', 'w', 'd'}},
	"a definition cut":                {{1}, definition[:9], {0xfe, 0, 0, 2, 0}},
	"a row without columns":           {{1}, definition, {0xfe, 0, 0, 2, 0}, {}, {0xfe, 0, 0, 2, 0}},
	"a row that is too long": {{1}, definition, {0xfe, 0, 0, 2, 0},
		{0xfe, 255, 255, 255, 255, 255, 255, 255, 127}, {0xfe, 0, 0, 2, 0}},
	"no end": {{1}, definition, {0xfe, 0, 0, 2, 0}, {1, 'x'}},
}

// Whatever a server sends, it is reported as an error, and takes no memory that it merely announces.
func TestCounts(t *testing.T) {
	https := httptest.NewUnstartedServer(nil)
	https.StartTLS()
	https.Close()
	for name, answer := range answers {
		for way, certificate := range map[string]*tls.Config{"plain": nil, "TLS": https.TLS} {
			t.Run(name+"/"+way, func(t *testing.T) {
				err := told(t, certificate, answer)
				_ = told(t, certificate, whole, answer)
				if number := strings.Contains(name, " columns"); number && name != "a row without columns" &&
					(!strings.Contains(err.Error(), "announces") || filewise.RemedyOf(err) == "") {
					t.Errorf("%v; %s", err, filewise.RemedyOf(err))
				}
			})
		}
	}
	r := rand.New(rand.NewPCG(40, 40))
	for range 300 {
		var mutated [][]byte
		for _, packet := range whole {
			p := append([]byte(nil), packet...)
			switch p = append(p, make([]byte, 9)...)[:len(p)+r.IntN(2)*r.IntN(9)]; r.IntN(4) {
			case 0:
				p[r.IntN(len(p))] = []byte{0, 1, 0xfb, 0xfc, 0xfd, 0xfe, 0xff}[r.IntN(7)]
			case 1:
				p = p[:r.IntN(len(p))]
			case 2:
				p = columns(r.Uint64() >> r.IntN(64))
			}
			mutated = append(mutated, p)
		}
		mutated = mutated[:1+r.IntN(len(mutated))]
		if r.IntN(2) == 0 {
			_ = told(t, nil, mutated)
		} else {
			_ = told(t, nil, whole, mutated)
		}
	}
}

func told(t *testing.T, certificate *tls.Config, answers ...[][]byte) error {
	t.Helper()
	a := filewise.Address{Scheme: "mysql", Host: "127.0.0.1", Port: liar(t, certificate, answers...), User: "u",
		Options: map[string]string{}}
	if certificate != nil {
		a.Options["tls"] = "skip-verify"
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	s, err := mySQL.Open(ctx, filewise.Target{Engine: "mysql", Mode: filewise.External, Address: &a,
		Volumes: []filewise.Volume{{Name: "server"}}})
	if err == nil {
		_ = s.Close()
		t.Fatalf("it is a server: %x", answers)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%x took %d MiB", answers, took>>20)
	}
	return err
}
