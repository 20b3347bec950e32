package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// patient signs in within twice the time that dialling can take. The driver itself would
// wait for good: a server whose workers are all busy takes connections, and answers no one.
type patient struct {
	login  *login
	config msdsn.Config
}

var errUnanswered = errors.New("it took the connection, and did not answer")

// Connect opens a connection.
func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	c := connector(p.login.address, p.config)
	d := &timedDialer{Dialer: net.Dialer{KeepAlive: p.config.KeepAlive}, within: 2 * p.config.DialTimeout,
		readable: p.config.Encryption == msdsn.EncryptionDisabled}
	c.Dialer = d
	conn, err := c.Connect(ctx)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%w within %v: %w", errUnanswered, d.within, err)
	}
	return conn, errors.Join(err, d.signedIn())
}

// Driver returns the driver's.
func (p patient) Driver() driver.Driver { return &mssql.Driver{} }

// timedDialer bounds what its connections wait for, until they are signed in.
type timedDialer struct {
	net.Dialer
	within time.Duration
	// readable allows a login that everyone on the way can read.
	readable bool

	mu   sync.Mutex
	open []net.Conn
}

// DialContext opens a connection, of one address of a host among several.
func (d *timedDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = append(d.open, conn)
	err = conn.SetDeadline(time.Now().Add(d.within))
	if !d.readable {
		conn = loginGuard{conn}
	}
	return conn, err
}

// errReadable: anyone who answers at the address could read the password, which a login merely scrambles.
var errReadable = errors.New("the server takes logins without encryption only, and everybody on the way could read the password")

// loginGuard sends no login but inside TLS.
type loginGuard struct{ net.Conn }

// packetLogin is the type of a LOGIN7 packet, the first byte of what the driver writes (MS-TDS 2.2.3.1.1). A record
// of TLS begins otherwise.
const packetLogin = 0x10

// Write fails on a login in the clear.
func (g loginGuard) Write(b []byte) (int, error) {
	if len(b) > 0 && b[0] == packetLogin {
		return 0, errReadable
	}
	return g.Conn.Write(b)
}

// signedIn has connections wait from now on as long as a statement takes.
func (d *timedDialer) signedIn() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conn := range d.open {
		if err := conn.SetDeadline(time.Time{}); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
	}
	return nil
}
