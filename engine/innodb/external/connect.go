package external

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"github.com/go-sql-driver/mysql"

	"filewise/engine/internal/external"
)

// numbers are those that a server gave this process's connections, which are
// not counted as others'. A server that is restarted numbers anew, so that one of
// others' sessions may then be taken for Filewise's and not be counted.
type numbers struct {
	sync.Map
	left sync.Map // those of claims that were given up
}

// opened are those of every server that this process has opened, by its place.
var opened sync.Map

// numbersAt are the connections to a place, whichever target they were opened for.
func numbersAt(c *mysql.Config) *numbers {
	o, _ := opened.LoadOrStore(c.Net+" "+c.Addr, &numbers{})
	return o.(*numbers)
}

func (o *numbers) has(id int64) bool {
	_, is := o.Load(id)
	return is
}

// connector opens connections and notes their numbers.
type connector struct {
	driver.Connector
	numbers *numbers
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
	c.numbers.Store(id, true)
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

// pool opens up to n connections with a database as the current one; empty: none. Those
// without are ended by the server where it hears nothing of them, after this process would
// have closed them itself.
func (s *server) pool(database string, n int) *sql.DB {
	c := s.config.Clone()
	c.DBName = database
	if database != "" {
		return s.connect(c, n)
	}
	c.Params = maps.Clone(c.Params)
	c.Params["wait_timeout"] = strconv.Itoa(int(external.Silence.Seconds()))
	db := s.connect(c, n)
	db.SetConnMaxIdleTime(external.Silence / 2)
	return db
}

func (s *server) connect(c *mysql.Config, n int) *sql.DB {
	inner, err := mysql.NewConnector(c)
	if err != nil {
		panic(err) // Engine.config has tried it
	}
	db := sql.OpenDB(connector{inner, s.numbers})
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}
