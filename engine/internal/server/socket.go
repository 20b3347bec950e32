package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// maxSocketPath is the longest path of a Unix socket in bytes, its final NUL
// not counted (unix(7): sun_path has 108; BSD systems have 104).
const maxSocketPath = 103

// Socket is a Unix socket in a directory. The server is given Name alone and
// works in Dir, so however long the path is, it fits.
type Socket struct{ Dir, Name string }

// Dial connects to the socket. Where its path is too long for a socket address,
// the directory is opened and the address goes through that descriptor.
func (s Socket) Dial(ctx context.Context) (net.Conn, error) {
	path := filepath.Join(s.Dir, s.Name)
	if len(path) > maxSocketPath {
		dir, err := os.Open(s.Dir)
		if err != nil {
			return nil, fmt.Errorf("socket %s: %w", path, err)
		}
		defer dir.Close()
		path = fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), s.Name)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, errors.Join(context.Cause(ctx), err)
	}
	return conn, nil
}
