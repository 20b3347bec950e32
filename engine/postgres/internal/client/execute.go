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

// Executor executes prepared statements, in the messages of the extended protocol
// (PostgreSQL's documentation, “Extended Query”) that are needed for it and no
// others: results have a form that no one asks for. pgconn's own way sets a timer for each
// call, which wakes the runtime's poller, in case a message fills the socket's
// buffer; here they are of some hundred bytes.
type Executor struct {
	bind pgproto3.Bind
	tag  []byte // of the last statement, valid until the next
	// direct: pgconn reads nothing in the background, as it goes on to after a write that
	// took long. That ends with the first reply that it then gets.
	direct bool
	// reply has room for the workloads' replies; a longer one is taken piece by piece.
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
	e.direct = err == nil // after an error others work on the connection
	return err
}

// lost closes a connection on which err happened: what the server got is not known.
func lost(conn *pgconn.PgConn, err error) error {
	if err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}
	return err
}

// glance takes a reply that comes in one piece and states that all is done, as nearly every
// one does. Any other is left for receive.
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

// plain reports whether messages are a whole reply without an error, a notice or
// anything else that is not a result (PostgreSQL's documentation, “Message Formats”).
func (e *Executor) plain(messages []byte) bool {
	const head = 5 // a type, and a length that counts itself
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
		case 'Z': // ReadyForQuery, and no transaction is open
			return size == int64(len(messages)) && string(body) == "I"
		default:
			return false
		}
		messages = messages[size:]
	}
	return false
}

// receive takes a reply message by message.
func (e *Executor) receive(conn *pgconn.PgConn) error {
	e.tag = e.tag[:0]
	var failed error
	for {
		m, err := conn.ReceiveMessage(context.Background())
		if err != nil {
			if failed != nil { // it explained why, and ended the connection
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

// Rows returns the number of rows that the last statement has met.
func (e *Executor) Rows() int64 { return pgconn.NewCommandTag(string(e.tag)).RowsAffected() }
