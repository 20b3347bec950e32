//go:build unix

package fault

import "syscall"

// The beginnings of remedies, if this system has limits that a user can raise.
const (
	MoreFiles   = "raise Filewise's own limit of open files (ulimit -n), or "
	largerFiles = "raise the limit of this shell (ulimit -f unlimited), or "
)

// host maps the numbers of errno(3).
var host = []row{
	{full, []error{syscall.ENOSPC}},
	{quota, []error{syscall.EDQUOT}},
	// ENOTCONN, ESHUTDOWN: a daemon of FUSE has died. ESTALE, EHOSTDOWN: NFS. ENODEV, ENXIO: a disk was taken away.
	{gone, []error{syscall.EIO, syscall.ENOTCONN, syscall.ESTALE, syscall.ETIMEDOUT, syscall.ESHUTDOWN, syscall.EHOSTDOWN, syscall.ENODEV,
		syscall.ENXIO, syscall.ECONNABORTED}},
	{denied, []error{syscall.EACCES}},
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
