package sqlserver

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"filewise"
	"filewise/engine/internal/external"
)

// liar answers with what its table has, or with a mutation of a result.
type liar struct {
	scripted
	answer []byte
	random *rand.Rand
}

func (l *liar) Handle(_ context.Context, _ Request, r *Reply) error {
	if l.answer != nil {
		r.b = append(r.b, l.answer...)
		return nil
	}
	r.Result(Column{"big", BigInt}, Column{"text", Text}, Column{"long", Long}, Column{"bytes", VarChar}).
		Row(int64(7), "text", "long", "bytes")
	for range 1 + l.random.IntN(3) {
		r.b[l.random.IntN(len(r.b))] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(l.random.Uint32())}[l.random.IntN(6)]
	}
	return nil
}

// Whatever a server sends is reported as an error or as values, and takes no memory that it merely announces.
func TestHostileServer(t *testing.T) {
	l := &liar{random: rand.New(rand.NewPCG(40, 42))}
	s, err := Start(l)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := filewise.Address{Scheme: "sqlserver", Host: "127.0.0.1", Port: s.Port(), User: "ada", Password: "pä ss",
		Options: map[string]string{"encrypt": "disable"}}
	login, err := newLogin(a)
	if err != nil {
		t.Fatal(err)
	}
	told := func(what string) {
		t.Helper()
		db := sql.OpenDB(external.Recovering(patient{login, login.config}, external.Traits{Server: "the server"}))
		defer db.Close()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := query(ctx, db, "SELECT 1")
		runtime.ReadMemStats(&after)
		// The driver asks for what a text or image announces, 2 GiB at most, and touches what has come.
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 && what != "an image of 2 GiB" {
			t.Errorf("%s took %d MiB: %v", what, took>>20, err)
		}
	}
	for name, answer := range map[string]string{
		"65,534 columns": "\x81\xfe\xff", "a result without columns": "\x81\xff\xff\xd1", "a row without a result": "\xd1\x01",
		"an unknown token": "\x01", "an error of 65,535 bytes": "\xaa\xff\xff", "an image of 2 GiB": "\x81\x01\x00\x00\x00\x00\x00\x00\x00" +
			"\x22\xff\xff\xff\x7f\x01\x00\x00\x01x\x00\xd1\x01\x0012345678\xff\xff\xff\x7f", "a change of 65,535 bytes": "\xe3\xff\xff\x07",
		"a value of 2^62 bytes": "\x81\x01\x00\x00\x00\x00\x00\x00\x00\xa5\xff\xff\x01x\x00\xd1\x00\x00\x00\x00\x00\x00\x00\x40",
	} {
		l.answer = []byte(answer)
		told(name)
	}
	l.answer = nil
	for range 150 {
		told("a mutation")
	}
}
