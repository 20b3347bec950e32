package client

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"filewise/internal/exchange"
)

// Executor executes prepared statements with only the messages of the extended protocol that this needs (PostgreSQL's
// documentation, “Extended Query”). It does not ask for a description of the results. pgconn itself sets a timer for
// each call, which wakes the runtime's poller, in case a message fills the socket's buffer. Here messages have some
// hundred bytes.
type Executor struct {
	bind pgproto3.Bind
	tag  []byte // of the last statement; valid until the next one
	// direct is true if pgconn does not read in the background. It does so after a slow write, until the first reply that
	// follows.
	direct bool
	// reply is large enough for the workloads' replies. A longer reply is read message by message.
	reply [2048]byte
}

var (
	executeMessage pgproto3.Execute
	syncMessage    pgproto3.Sync
)

// Execute runs a prepared statement to its end.
func (e *Executor) Execute(conn *pgconn.PgConn, name string, params [][]byte) error {
	e.bind.PreparedStatement, e.bind.Parameters, e.tag = name, params, e.tag[:0]
	to := conn.Frontend()
	to.SendBind(&e.bind)
	to.SendExecute(&executeMessage)
	to.SendSync(&syncMessage)
	exchange.Of(conn.Conn()).Hold()
	if err := to.Flush(); err != nil {
		return lost(conn, err)
	}
	if direct, ok := conn.Conn().(exchange.Conn); ok && e.direct && to.ReadBufferLen() == 0 {
		if done, err := e.glance(direct); done || err != nil {
			return lost(conn, err)
		}
	}
	err := e.receive(conn)
	e.direct = err == nil // after an error other code uses the connection
	return err
}

// lost closes a connection after err, because it is unknown what the server received.
func lost(conn *pgconn.PgConn, err error) error {
	if err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}
	return err
}

// glance reads a reply that comes in one piece, as nearly every reply does, and returns done if it was complete. Any
// other reply is left to receive.
func (e *Executor) glance(conn exchange.Conn) (done bool, err error) {
	n, err := conn.Read(e.reply[:])
	if err != nil {
		return false, err
	}
	if e.plain(e.reply[:n]) {
		return true, nil
	}
	conn.Unread(e.reply[:n])
	return false, nil
}

// plain reports whether messages form a complete reply that contains only results: no error, no notice, nothing else
// (PostgreSQL's documentation, “Message Formats”).
func (e *Executor) plain(messages []byte) bool {
	const head = 5 // a type, and a length that includes itself
	for len(messages) >= head {
		size := 1 + int64(binary.BigEndian.Uint32(messages[1:]))
		if size < head || size > int64(len(messages)) {
			return false
		}
		body := messages[head:size]
		switch messages[0] {
		case '2', 'D': // BindComplete, DataRow
		case 'C': // CommandComplete
			e.tag = append(e.tag[:0], bytes.TrimSuffix(body, []byte{0})...)
		case 'Z': // ReadyForQuery, with no transaction open
			return size == int64(len(messages)) && string(body) == "I"
		default:
			return false
		}
		messages = messages[size:]
	}
	return false
}

// receive reads a reply message by message.
func (e *Executor) receive(conn *pgconn.PgConn) error {
	e.tag = e.tag[:0]
	var failed error
	for {
		m, err := conn.ReceiveMessage(context.Background())
		if err != nil {
			if failed != nil { // the server explained why, and ended the connection
				return failed
			}
			return err
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			failed = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.CommandComplete:
			e.tag = append(e.tag, m.CommandTag...)
		case *pgproto3.ReadyForQuery:
			return failed
		}
	}
}

// Rows returns how many rows the last statement met.
func (e *Executor) Rows() int64 { return pgconn.NewCommandTag(string(e.tag)).RowsAffected() }
