package external

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"sync"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/innodb/client"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/external"
	"filewise/internal/exchange"
)

// config returns the driver's configuration for an address, with the dial function that follows the URL's options.
func (d Engine) config(a filewise.Address) (*mysql.Config, error) {
	c, err := client.Config(d.Product, a)
	if err == nil {
		c.DialFunc = dialer(a)
	}
	return c, err
}

// dialer returns a dial function that follows a URL's options.
func dialer(a filewise.Address) exchange.Dial {
	dial := dialing
	if !client.On(a, client.OptionCompress) {
		dial = counted(dial)
	}
	if !client.On(a, client.OptionServerKey) {
		dial = withoutServerKey(dial)
	}
	return dial
}

var dialing = dialect.Dialing(new(net.Dialer).DialContext)

// numbers holds the numbers that a server gave this process's connections, which are not counted as others'. A
// restarted server numbers from the start again. Then another user's session can be mistaken for Filewise's, and is not
// counted.
type numbers struct {
	sync.Map
	left sync.Map // numbers of claims that were given up
}

// opened holds the numbers of all connections that this process has opened, by the server's place.
var opened sync.Map

// numbersAt returns the numbers of the connections to a place, whichever target opened them.
func numbersAt(c *mysql.Config) *numbers {
	o, _ := opened.LoadOrStore(c.Net+" "+c.Addr, &numbers{})
	return o.(*numbers)
}

func (o *numbers) has(id int64) bool {
	_, is := o.Load(id)
	return is
}

// connector opens connections and records their numbers.
type connector struct {
	driver.Connector
	numbers    *numbers
	compressed bool
	server     string // the server's name in messages
}

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	keyRefused := false
	conn, err := c.Connector.Connect(withServerKey(ctx, func() { keyRefused = true }))
	if keyRefused { // the driver itself only closed the connection
		err = errServerKey
	}
	if err != nil {
		return nil, err
	}
	if !c.compressed {
		if err := countedTLS(conn); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	id, err := number(ctx, conn)
	if err != nil {
		if why := ended(conn); why != nil {
			err = external.Unreadable(c.server, why)
		}
		return nil, errors.Join(err, conn.Close())
	}
	c.numbers.Store(id, true)
	return conn, nil
}

// number returns the number that the server gave a connection.
func number(ctx context.Context, conn driver.Conn) (int64, error) {
	q, ok := conn.(driver.QueryerContext)
	if !ok {
		return 0, fmt.Errorf("the driver's connection %T takes no queries", conn)
	}
	rows, err := q.QueryContext(ctx, "SELECT CONNECTION_ID()", nil)
	if err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, func() { cut(conn) })() // closing reads the rest of the answer
	defer rows.Close()
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		return 0, err
	}
	var id sql.NullInt64
	err = id.Scan(row[0])
	return id.Int64, err
}

// pool returns a pool of up to n connections with a current database; "" means none. Without a database, the server
// ends a silent connection after this process would have closed it itself.
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
		panic(err) // client.Config has tried it
	}
	address := s.target.Address
	db := sql.OpenDB(external.Recovering(connector{inner, s.numbers, client.On(*address, client.OptionCompress), address.String()},
		external.Traits{Server: address.String(), Why: ended, Cut: cut, Code: dialect.Code}))
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}
