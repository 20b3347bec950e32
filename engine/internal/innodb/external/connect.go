package external

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"github.com/go-sql-driver/mysql"
)

// own are the numbers that a server gave this process's connections, which are
// not counted as others'. A server that is restarted numbers anew, so that one of
// others' sessions may then be taken for Filewise's and not be counted.
type own struct {
	mu  sync.Mutex
	ids map[int64]bool
}

// owns are those of every server that this process has opened, by its place.
var owns sync.Map

// ownOf are the connections to a place, whichever target they were opened for.
func ownOf(c *mysql.Config) *own {
	o, _ := owns.LoadOrStore(c.Net+" "+c.Addr, &own{ids: map[int64]bool{}})
	return o.(*own)
}

func (o *own) add(id int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ids[id] = true
}

func (o *own) has(id int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ids[id]
}

// connector opens connections and notes their numbers.
type connector struct {
	driver.Connector
	own *own
}

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	id, err := number(ctx, conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	c.own.add(id)
	return conn, nil
}

// number is the server's number of a connection.
func number(ctx context.Context, conn driver.Conn) (int64, error) {
	q, ok := conn.(driver.QueryerContext)
	if !ok {
		return 0, fmt.Errorf("the driver's connection %T takes no queries", conn)
	}
	rows, err := q.QueryContext(ctx, "SELECT CONNECTION_ID()", nil)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		return 0, err
	}
	var id sql.NullInt64
	err = id.Scan(row[0])
	return id.Int64, err
}

// pool opens up to n connections with a database as the current one; empty: none.
func (s *server) pool(database string, n int) *sql.DB {
	c := s.config.Clone()
	c.DBName = database
	return s.connect(c, n)
}

func (s *server) connect(c *mysql.Config, n int) *sql.DB {
	inner, err := mysql.NewConnector(c)
	if err != nil {
		return sql.OpenDB(broken{err})
	}
	db := sql.OpenDB(connector{inner, s.own})
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}

// broken fails to connect, with the reason.
type broken struct{ err error }

func (b broken) Connect(context.Context) (driver.Conn, error) { return nil, b.err }
func (b broken) Driver() driver.Driver                        { return mysql.MySQLDriver{} }
