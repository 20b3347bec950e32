//go:build unix

package fault

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"filewise"
)

// Each error of the table is a fault with a remedy, also within others; a lost connection is none.
func TestOf(t *testing.T) {
	for _, e := range []error{syscall.ENOTCONN, syscall.ESTALE, syscall.EIO, syscall.ETIMEDOUT, syscall.EFBIG, syscall.ENOSPC, syscall.EDQUOT,
		syscall.EROFS, syscall.EACCES, syscall.EMFILE, syscall.ENOMEM, filewise.ErrSpace, filewise.ErrVolume, filewise.ErrConnections} {
		f, ok := Of(fmt.Errorf("measure: %w", errors.Join(errors.New("other"), &os.PathError{Op: "write", Path: "/x", Err: e})))
		if !ok || f.Remedy == "" || f.What == "" || f.Code != filewise.CodePreflight && f.Code != filewise.CodeStopped {
			t.Errorf("%v: %v, %+v", e, ok, f)
		}
	}
	for _, e := range []error{nil, errors.New("EIO"), syscall.ECONNREFUSED, syscall.ENOENT,
		&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)},
		&filewise.Classed{Class: filewise.ClassConnection, Err: syscall.EIO}} {
		if f, ok := Of(e); ok {
			t.Errorf("%v: %+v", e, f)
		}
	}
}
