package sqlserver

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// scripted answers by the statement's text.
type scripted struct {
	bulk atomic.Int64 // rows of the last bulk load
}

func (*scripted) Login(s *Session) error {
	if s.Login.Password != "pä ss" {
		return errors.New("Login failed")
	}
	return nil
}

func (*scripted) Closed(*Session) {}

func (h *scripted) Handle(ctx context.Context, q Request, r *Reply) error {
	switch {
	case q.Kind == Bulk:
		h.bulk.Store(int64(strings.Count(string(q.Body), "\xD1\x08"))) // ROW, a bigint of 8 bytes
		r.Affected(int(h.bulk.Load()))
	case strings.Contains(q.SQL, "types"):
		r.Result(Column{"big", BigInt}, Column{"small", Int}, Column{"text", Text}, Column{"long", Long}, Column{"bytes", VarChar}).
			Row(int64(1)<<40, -5, "ü𝄞", strings.Repeat("x", 9000), "abc").Row(nil, nil, nil, nil, nil)
	case strings.Contains(q.SQL, "errors"):
		r.Error(1, 16, "first").Error(2, 16, "second")
	case strings.Contains(q.SQL, "@p1"):
		r.Result(Column{"n", BigInt}, Column{"s", Text}).Row(q.Args[0], fmt.Sprint(q.Args[1:]))
	case strings.Contains(q.SQL, "wait"):
		<-ctx.Done()
	case strings.Contains(q.SQL, "hang up"):
		return ErrHangUp
	case strings.Contains(q.SQL, "select * from"): // of a bulk load: columns only
		r.Result(Column{"id", BigInt})
	case strings.Contains(q.SQL, "select"):
		r.Result(Column{"x", Int}).Row(42)
	}
	return nil
}

func start(t *testing.T) (*Server, *scripted, *sql.DB) {
	t.Helper()
	h := &scripted{}
	s, err := Start(h)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(mssql.NewConnectorConfig(msdsn.Config{Host: "127.0.0.1", Port: uint64(s.Port()), User: "ada", Password: "pä ss",
		Protocols: []string{"tcp"}, Parameters: map[string]string{}, DisableRetry: true}))
	t.Cleanup(func() { db.Close(); s.Close() })
	return s, h, db
}

func TestTypesErrorsAndArguments(t *testing.T) {
	_, _, db := start(t)
	rows, err := db.QueryContext(t.Context(), "select types")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var big, small sql.NullInt64
	var text, long, bytes sql.NullString
	for _, valid := range []bool{true, false} {
		if !rows.Next() || rows.Scan(&big, &small, &text, &long, &bytes) != nil || big.Valid != valid || text.Valid != valid ||
			long.Valid != valid || bytes.Valid != valid {
			t.Fatalf("%v %v %v %v %v: %v", big, small, text, long.Valid, bytes, rows.Err())
		}
		if valid && (big.Int64 != 1<<40 || small.Int64 != -5 || text.String != "ü𝄞" || len(long.String) != 9000 || bytes.String != "abc") {
			t.Errorf("%v %v %v %v %v", big, small, text, len(long.String), bytes)
		}
	}
	_, err = db.ExecContext(t.Context(), "errors")
	var e mssql.Error
	if !errors.As(err, &e) || e.Number != 2 || len(e.All) != 2 {
		t.Errorf("%v", err)
	}
	var n int64
	var s string
	if err := db.QueryRowContext(t.Context(), "select @p1, @p2", int64(7), "it's").Scan(&n, &s); err != nil || n != 7 || s != "[it's]" {
		t.Errorf("%d %q %v", n, s, err)
	}
}

func TestCancelAndLostConnection(t *testing.T) {
	_, _, db := start(t)
	// A deadline instead of a cancel would cost the connection: the driver takes
	// context.DeadlineExceeded for an error of the network.
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "wait"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled statement says %v", err)
	}
	var x int
	if err := conn.QueryRowContext(t.Context(), "select 42").Scan(&x); err != nil || x != 42 {
		t.Errorf("after a confirmed cancel: %d %v", x, err)
	}
	if _, err := db.ExecContext(t.Context(), "hang up"); err == nil {
		t.Error("a lost connection says nothing")
	}
}

// TestBulkCopyHidesABadRow is the driver's trap: after a row that it refuses, the
// last call of a bulk copy reports what was sent before, or nothing at all, and no
// error. Whoever loads in bulk must check every row's error and the final count.
func TestBulkCopyHidesABadRow(t *testing.T) {
	_, h, db := start(t)
	for _, good := range []int{0, 3} {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		stmt, err := conn.PrepareContext(t.Context(), mssql.CopyIn("rows", mssql.BulkOptions{}, "id"))
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		for i := range good {
			if _, err := stmt.ExecContext(t.Context(), int64(i)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := stmt.ExecContext(t.Context(), "no number"); err == nil {
			t.Error("a bad row is taken")
		}
		result, err := stmt.ExecContext(t.Context())
		if err != nil {
			t.Fatalf("the driver now reports a bad row at the end: %v; this trap is gone", err)
		}
		if n, err := result.RowsAffected(); err != nil || n != int64(good) || h.bulk.Load() != int64(good) {
			t.Errorf("%d rows, the server took %d, want %d: %v", n, h.bulk.Load(), good, err)
		}
	}
}

// TestFreeTDS is a second client's word on the protocol.
func TestFreeTDS(t *testing.T) {
	tsql, err := osexec.LookPath("tsql")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no tsql: apt-get install freetds-bin")
		}
		t.Skip("NO TSQL: apt-get install freetds-bin")
	}
	s, _, _ := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := osexec.CommandContext(ctx, tsql, "-o", "q", "-H", "127.0.0.1", "-p", strconv.Itoa(s.Port()), "-U", "ada", "-P", "pä ss")
	c.Env = append(os.Environ(), "TDSVER=7.4", "LC_ALL=C.UTF-8")
	c.Stdin = strings.NewReader("select types\ngo\nselect 42\ngo\nerrors\ngo\nexit\n")
	out, err := c.CombinedOutput()
	text := string(out)
	for _, want := range []string{"1099511627776", "-5", "ü", "abc", "NULL", "42", "first", "second"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in what tsql shows (%v):\n%.2000s", want, err, text)
		}
	}
}

func FuzzRequests(f *testing.F) {
	f.Add([]byte{22, 0, 0, 0, 1, 0, 0, 0}, true)
	f.Add(binary.LittleEndian.AppendUint16(nil, 0xFFFF), false)
	f.Fuzz(func(_ *testing.T, body []byte, login bool) {
		if login {
			_, _ = parseLogin(body)
			return
		}
		_, _, _ = parseRPC(body)
	})
}
