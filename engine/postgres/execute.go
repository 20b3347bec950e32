package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"filewise/engine/internal/exchange"
)

// executor executes prepared statements, in the messages of the extended protocol
// (PostgreSQL's documentation, “Extended Query”) that are needed for it and no
// others: results have a form that nobody asks for. pgconn's own way sets a timer for each
// call, which wakes the runtime's poller, in case a message fills the socket's
// buffer; here they are of some hundred bytes.
type executor struct {
	bind pgproto3.Bind
	tag  []byte // of the last statement, valid until the next
}

var (
	executeMessage pgproto3.Execute
	syncMessage    pgproto3.Sync
)

// execute runs a prepared statement to its end.
func (e *executor) execute(conn *pgconn.PgConn, name string, params [][]byte) error {
	e.bind.PreparedStatement, e.bind.Parameters, e.tag = name, params, e.tag[:0]
	to := conn.Frontend()
	to.SendBind(&e.bind)
	to.SendExecute(&executeMessage)
	to.SendSync(&syncMessage)
	exchange.Of(conn.Conn()).Hold()
	if err := to.Flush(); err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // what the server got of it is not known
		return err
	}
	var failed error
	for {
		m, err := conn.ReceiveMessage(context.Background())
		if err != nil {
			if failed != nil { // it said why, and ended the connection
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

// rows is the number of rows that the last statement has met.
func (e *executor) rows() int64 { return pgconn.NewCommandTag(string(e.tag)).RowsAffected() }
