//go:build unix

package fleet

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"filewise"
)

// What resume can go on after, a campaign waits for.
func TestMayPass(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.ENOTCONN, syscall.ESTALE, syscall.EROFS, syscall.EMFILE,
		syscall.ENOMEM, filewise.ErrSpace, filewise.ErrConnections, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}} {
		if !mayPass(fmt.Errorf("start: %w", &os.PathError{Op: "open", Path: "/x", Err: err})) {
			t.Errorf("%v ends the job", err)
		}
	}
	for _, err := range []error{errors.New("no such scenario"), filewise.ErrVolume, syscall.EPERM, syscall.EACCES} {
		if mayPass(err) {
			t.Errorf("%v is waited for", err)
		}
	}
}
