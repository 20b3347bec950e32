//go:build unix

package fault

import "syscall"

// host maps the numbers of errno(3).
var host = []row{
	{full, []error{syscall.ENOSPC}},
	{quota, []error{syscall.EDQUOT}},
	// ENOTCONN, ESHUTDOWN: a daemon of FUSE has died. ESTALE, EHOSTDOWN: NFS. ENODEV, ENXIO: a disk was taken away.
	{gone, []error{syscall.EIO, syscall.ENOTCONN, syscall.ESTALE, syscall.ETIMEDOUT, syscall.ESHUTDOWN, syscall.EHOSTDOWN, syscall.ENODEV,
		syscall.ENXIO, syscall.ECONNABORTED}},
	{readOnly, []error{syscall.EROFS}},
	{tooLarge, []error{syscall.EFBIG}},
	{files, []error{syscall.EMFILE, syscall.ENFILE}},
	{memory, []error{syscall.ENOMEM}},
}

var (
	refused  = []error{syscall.ECONNREFUSED}
	notEmpty = []error{syscall.ENOTEMPTY, syscall.EEXIST}
	heldOpen = []error{syscall.EBUSY, syscall.ETXTBSY}

	closedPipe []error // SIGPIPE
)
