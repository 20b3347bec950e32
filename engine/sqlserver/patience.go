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

	"filewise/engine/sqlserver/internal/signin"
)

// patient signs in within twice the time that dialling may take. The driver itself would
// wait for good: a server whose workers are all busy takes connections, and answers nobody.
type patient struct {
	login  *login
	config msdsn.Config
}

var errUnanswered = errors.New("it took the connection, and did not answer")

// Connect opens a connection.
func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	c := signin.Connector(p.login.address, p.config)
	d := &timedDialer{Dialer: net.Dialer{KeepAlive: p.config.KeepAlive}, within: 2 * p.config.DialTimeout}
	c.Dialer = d
	conn, err := c.Connect(ctx)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%w within %v: %w", errUnanswered, d.within, err)
	}
	return conn, errors.Join(err, d.signedIn())
}

// Driver is the driver's.
func (p patient) Driver() driver.Driver { return &mssql.Driver{} }

// timedDialer bounds what its connections wait for, until they are signed in.
type timedDialer struct {
	net.Dialer
	within time.Duration

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
	return conn, conn.SetDeadline(time.Now().Add(d.within))
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
