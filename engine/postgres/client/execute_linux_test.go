package client

import (
	"context"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"filewise/internal/exchange"
)

// stalled is a connection one Write of which ends only when pgconn, to whom it takes too
// long, has read the reply in the background and reads on.
type stalled struct {
	exchange.Conn
	stall atomic.Bool
	reads atomic.Int64
}

func (s *stalled) Read(b []byte) (int, error) {
	s.reads.Add(1)
	return s.Conn.Read(b)
}

func (s *stalled) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	if s.stall.CompareAndSwap(true, false) {
		for from, limit := s.reads.Load(), time.Now().Add(20*time.Second); s.reads.Load() < from+2 && time.Now().Before(limit); {
			time.Sleep(time.Millisecond)
		}
	}
	return n, err
}

// serve answers as a server does that has nothing to say.
func serve(l net.Listener) error {
	c, err := l.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return err
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(idle)
	for b.Flush() == nil {
		for synced := false; !synced; {
			m, err := b.Receive()
			if err != nil {
				return err
			}
			switch m.(type) {
			case *pgproto3.Parse:
				b.Send(&pgproto3.ParseComplete{})
			case *pgproto3.Describe:
				b.Send(&pgproto3.ParameterDescription{})
				b.Send(&pgproto3.NoData{})
			case *pgproto3.Bind:
				b.Send(bound)
			case *pgproto3.Execute:
				b.Send(tagged)
			case *pgproto3.Sync:
				b.Send(idle)
				synced = true
			}
		}
	}
	return nil
}

// After a write that took long pgconn still reads in the background; what it takes there
// is not waited for in vain.
func TestExecuteAfterStall(t *testing.T) {
	socket := filepath.Join(t.TempDir(), ".s.PGSQL.5432")
	l, err := net.Listen("unix", socket)
	must(t, err)
	defer l.Close()
	go func() { _ = serve(l) }()

	config, err := pgconn.ParseConfig("user=nobody sslmode=disable host=" + filepath.Dir(socket))
	must(t, err)
	var s *stalled
	dial := exchange.Dialing(new(net.Dialer).DialContext, false)
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err == nil {
			s = &stalled{Conn: c.(exchange.Conn)}
			c = s
		}
		return c, err
	}
	conn, err := pgconn.ConnectConfig(t.Context(), config)
	must(t, err)
	const statement = "fw_call"
	s.stall.Store(true)
	_, err = conn.Prepare(t.Context(), statement, "SELECT", nil)
	must(t, err)
	must(t, conn.Conn().SetDeadline(time.Now().Add(20*time.Second)))
	var e Executor
	for range 3 {
		must(t, e.Execute(conn, statement, nil))
	}
	if e.Rows() != 7 {
		t.Errorf("the tag is %q", e.tag)
	}
	must(t, conn.Close(t.Context()))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
