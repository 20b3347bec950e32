package client

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// encoded are messages as a server sends them.
func encoded(t testing.TB, messages ...pgproto3.BackendMessage) []byte {
	t.Helper()
	var all []byte
	for _, m := range messages {
		var err error
		if all, err = m.Encode(all); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

var (
	bound  = &pgproto3.BindComplete{}
	tagged = &pgproto3.CommandComplete{CommandTag: []byte("SELECT 7")}
	idle   = &pgproto3.ReadyForQuery{TxStatus: 'I'}
)

func TestPlainReply(t *testing.T) {
	whole := encoded(t, bound, &pgproto3.DataRow{Values: [][]byte{[]byte("1"), nil}}, tagged, idle)
	var e Executor
	if !e.plain(whole) || e.Rows() != 7 {
		t.Errorf("a plain reply is not taken, or its tag is %q", e.tag)
	}
	if n := testing.AllocsPerRun(100, func() { e.plain(whole) }); n > 0 {
		t.Errorf("%v allocations a reply", n)
	}
	for at := range whole {
		if e.plain(whole[:at]) {
			t.Errorf("the first %d of %d bytes are taken for a reply", at, len(whole))
		}
	}
	for name, reply := range map[string][]byte{
		"more after it":      append(bytes.Clone(whole), 'N'),
		"open transaction":   encoded(t, bound, tagged, &pgproto3.ReadyForQuery{TxStatus: 'T'}),
		"failed":             encoded(t, bound, &pgproto3.ErrorResponse{Severity: "ERROR", Code: "23505"}, idle),
		"notice":             encoded(t, bound, &pgproto3.NoticeResponse{Severity: "WARNING"}, tagged, idle),
		"changed parameter":  encoded(t, bound, &pgproto3.ParameterStatus{Name: "TimeZone", Value: "UTC"}, tagged, idle),
		"length of nothing":  {'2', 0, 0, 0, 3, 'Z'},
		"enormous length":    {'2', 0xff, 0xff, 0xff, 0xff, 'Z'},
		"another's protocol": []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
	} {
		if e.plain(reply) {
			t.Errorf("%s: taken for a plain reply", name)
		}
	}
}

// What is taken for a plain reply is one to the library too.
func FuzzPlainReply(f *testing.F) {
	f.Add(encoded(f, bound, tagged, idle))
	f.Add(encoded(f, bound, &pgproto3.DataRow{Values: [][]byte{[]byte("1")}}, tagged, idle))
	f.Add(encoded(f, bound, &pgproto3.ErrorResponse{Code: "40P01"}, idle))
	f.Fuzz(func(t *testing.T, reply []byte) {
		var e Executor
		if !e.plain(reply) {
			return
		}
		from := pgproto3.NewFrontend(bytes.NewReader(reply), nil)
		for {
			m, err := from.Receive()
			switch m := m.(type) {
			case *pgproto3.ErrorResponse, *pgproto3.NoticeResponse:
				t.Fatalf("%q has %T", reply, m)
			case *pgproto3.ReadyForQuery:
				if m.TxStatus != 'I' || from.ReadBufferLen() > 0 {
					t.Fatalf("%q does not end there", reply)
				}
				return
			}
			if err != nil {
				return // a body that the library looks into, and Filewise does not
			}
		}
	})
}
