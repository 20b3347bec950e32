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

// patient limits signing in to twice the dial timeout. The driver itself would wait forever: a server whose workers are
// all busy accepts connections and answers none.
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

// Driver returns the wrapped driver.
func (p patient) Driver() driver.Driver { return &mssql.Driver{} }

// timedDialer dials connections whose reads and writes have a time limit until they are signed in.
type timedDialer struct {
	net.Dialer
	within time.Duration
	// readable allows a login that everyone on the network path can read.
	readable bool

	mu   sync.Mutex
	open []net.Conn
}

// DialContext opens a connection to one of a host's addresses.
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

// errReadable is returned because anyone who answers at the address could read the password, which a login only
// scrambles.
var errReadable = errors.New("the server takes logins without encryption only, and everybody on the way could read the password")

// loginGuard refuses to send a login outside TLS.
type loginGuard struct{ net.Conn }

// packetLogin is the type of a LOGIN7 packet, the first byte that the driver writes (MS-TDS 2.2.3.1.1). A TLS record
// begins with another byte.
const packetLogin = 0x10

// Write returns an error for a login in clear text.
func (g loginGuard) Write(b []byte) (int, error) {
	if len(b) > 0 && b[0] == packetLogin {
		return 0, errReadable
	}
	return g.Conn.Write(b)
}

// signedIn lets connections wait as long as a statement takes from now on.
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
