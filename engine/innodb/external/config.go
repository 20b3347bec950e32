package external

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/external"
	"filewise/internal/exchange"
)

// config returns the driver's configuration for an address. It is a struct and never a text that would contain the
// password. Session variables are set on every connection, so that the result does not depend on the server's defaults.
func (d Engine) config(a filewise.Address) (*mysql.Config, error) {
	if a.Scheme != d.Name {
		return nil, filewise.Errorf(filewise.CodeUsage, "use --target "+d.Name+"://…", "the scheme of a target of %s is %s, not %q", d.Name,
			d.Name, a.Scheme)
	}
	if path := strings.Trim(a.Path, "/"); path != "" {
		return nil, filewise.Errorf(filewise.CodeUsage,
			"leave /"+path+" out of the URL: inspect looks at the whole server, and backup takes --database "+path,
			"the URL names the database %q, but Filewise measures in separate databases", path)
	}
	if a.User == "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "use --target "+d.Name+"://USER@HOST", "the target names no user")
	}
	c := mysql.NewConfig()
	c.User, c.Passwd = a.User, a.Password.Reveal()
	c.Logger = &mysql.NopLogger{} // errors are returned instead
	c.InterpolateParams = true
	c.ConnectionAttributes = "program_name:filewise"
	c.Params = d.External.Session(d.External.Oldest)
	if err := network(c, a, Port); err != nil {
		return nil, err
	}
	given, err := options.Apply(c, a)
	if err != nil {
		return nil, err
	}
	if err := secure(c, given); err != nil {
		return nil, err
	}
	c.DialFunc = dialer(a)
	if _, err := mysql.NewConnector(c); err != nil {
		return nil, filewise.Errorf(filewise.CodeUsage, "correct the target's options", "%w", err)
	}
	return c, nil
}

// dialer returns a dial function that follows a URL's options.
func dialer(a filewise.Address) exchange.Dial {
	dial := dialing
	if !on(a, optionCompress) {
		dial = counted(dial)
	}
	if !on(a, optionServerKey) {
		dial = withoutServerKey(dial)
	}
	return dial
}

// optionCompress is the option that compresses packets. Only the driver can read the numbers of compressed packets.
const optionCompress = "compress"

func on(a filewise.Address, option string) (yes bool) {
	_ = truth(&yes, a.Options[option]) // options.Apply has refused other values
	return yes
}

var dialing = dialect.Dialing(new(net.Dialer).DialContext)

// network sets the server's place: a Unix socket, given as the host or by an option, or a host and port.
func network(c *mysql.Config, a filewise.Address, port int) error {
	places := map[string]bool{}
	for _, path := range []string{a.Host, a.Options["host"], a.Options["socket"]} {
		if path != "" {
			places[path] = true
		}
	}
	if len(places) > 1 {
		return filewise.Errorf(filewise.CodeUsage, "leave all but one out", "the target is in several places: %s",
			strings.Join(slices.Sorted(maps.Keys(places)), ", "))
	}
	host := "127.0.0.1" // the driver's own default
	for place := range places {
		host = place
	}
	if host[0] == '/' || host[0] == '@' {
		c.Net, c.Addr = "unix", host
		if a.Port != 0 {
			return filewise.Errorf(filewise.CodeUsage, "leave the port out", "%s is a Unix socket, which has no port", host)
		}
		return nil
	}
	if a.Options["socket"] != "" {
		return filewise.Errorf(filewise.CodeUsage, "give its absolute path", "socket=%s is no absolute path", a.Options["socket"])
	}
	if a.Port != 0 {
		port = a.Port
	}
	c.Net, c.Addr = "tcp", net.JoinHostPort(host, strconv.Itoa(port))
	return nil
}

// options describes the options of a URL's query. Names are the driver's own (README of go-sql-driver/mysql,
// “Parameters”). The options for TLS files are Filewise's, because the driver accepts those only from a program.
var options = external.Options[mysql.Config]{
	Driver: "the driver of MySQL and MariaDB", Fold: func(name string) string { return name },
	Known: map[string]func(*mysql.Config, string) error{
		"host": nil, "socket": nil, // network
		"tls": nil, optionCA: nil, optionCert: nil, optionKey: nil, optionServerName: nil, // secure
		"allowCleartextPasswords":  func(c *mysql.Config, v string) error { return truth(&c.AllowCleartextPasswords, v) },
		"allowFallbackToPlaintext": func(c *mysql.Config, v string) error { return truth(&c.AllowFallbackToPlaintext, v) },
		"allowNativePasswords":     func(c *mysql.Config, v string) error { return truth(&c.AllowNativePasswords, v) },
		"allowOldPasswords":        func(c *mysql.Config, v string) error { return truth(&c.AllowOldPasswords, v) },
		"rejectReadOnly":           func(c *mysql.Config, v string) error { return truth(&c.RejectReadOnly, v) },
		optionCompress: func(c *mysql.Config, v string) error {
			var on bool
			if err := truth(&on, v); err != nil {
				return err
			}
			return c.Apply(mysql.EnableCompression(on))
		},
		"timeout":      func(c *mysql.Config, v string) error { return duration(&c.Timeout, v) },
		"readTimeout":  func(c *mysql.Config, v string) error { return duration(&c.ReadTimeout, v) },
		"writeTimeout": func(c *mysql.Config, v string) error { return duration(&c.WriteTimeout, v) },
		"maxAllowedPacket": func(c *mysql.Config, v string) error {
			n, err := strconv.ParseUint(v, 10, 31)
			if err != nil {
				return fmt.Errorf("%q is not a number of bytes", v)
			}
			c.MaxAllowedPacket = int(n)
			return nil
		},
		"connectionAttributes": func(c *mysql.Config, v string) error { c.ConnectionAttributes += "," + v; return nil },
		"serverPubKey":         publicKey,
		optionServerKey:        func(_ *mysql.Config, v string) error { return truth(new(bool), v) }, // dialer
	},
	Unwanted: map[string]string{"allowAllFiles": decided, "charset": decided, "checkConnLiveness": decided, "clientFoundRows": decided,
		"collation": decided, "columnsWithAlias": decided, "interpolateParams": decided, "loc": decided, "multiStatements": decided,
		"parseTime": decided, "timeTruncate": decided},
}

// decided is the reason why the driver's options that Filewise sets itself are refused.
const decided = "Filewise decides it"

// truth reads the values that the driver accepts for true and false.
func truth(to *bool, value string) error {
	if external.Truth(to, value) != nil {
		return fmt.Errorf("%q is not true or false", value)
	}
	return nil
}

func duration(to *time.Duration, value string) (err error) {
	if *to, err = time.ParseDuration(value); err != nil || *to < 0 {
		return fmt.Errorf("%q is not a duration such as 30s", value)
	}
	return nil
}

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
		panic(err) // Engine.config has tried it
	}
	address := s.target.Address
	db := sql.OpenDB(external.Recovering(connector{inner, s.numbers, on(*address, optionCompress), address.String()},
		external.Traits{Server: address.String(), Why: ended, Cut: cut, Code: dialect.Code}))
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}
