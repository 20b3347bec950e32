package fault

import "golang.org/x/sys/windows"

// The beginnings of remedies: this system has no limits that a user can raise.
const MoreFiles, largerFiles = "", ""

// host maps the numbers of GetLastError, which syscall's names of errno(3) never equal.
var host = []row{
	{full, []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL}},
	{quota, []error{windows.ERROR_DISK_QUOTA_EXCEEDED}},
	{gone, []error{windows.ERROR_IO_DEVICE, windows.ERROR_CRC, windows.ERROR_NOT_READY, windows.ERROR_DEV_NOT_EXIST, windows.ERROR_BAD_NETPATH,
		windows.ERROR_NETNAME_DELETED, windows.ERROR_UNEXP_NET_ERR, windows.ERROR_DEVICE_NOT_CONNECTED, windows.ERROR_SEM_TIMEOUT,
		windows.ERROR_NO_SUCH_DEVICE, windows.ERROR_DEVICE_REMOVED, windows.ERROR_FILE_INVALID}},
	{readOnly, []error{windows.ERROR_WRITE_PROTECT}},
	{tooLarge, []error{windows.ERROR_FILE_TOO_LARGE}},
	{files, []error{windows.ERROR_TOO_MANY_OPEN_FILES}},
	{memory, []error{windows.ERROR_NOT_ENOUGH_MEMORY, windows.ERROR_OUTOFMEMORY, windows.ERROR_COMMITMENT_LIMIT}},
}

var (
	refused    = []error{windows.WSAECONNREFUSED}
	notEmpty   = []error{windows.ERROR_DIR_NOT_EMPTY}
	closedPipe = []error{windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA, windows.ERROR_PIPE_NOT_CONNECTED}
	// If a file is deleted while another program has it open, Windows denies it to everybody until that program closes it.
	heldOpen = []error{windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, windows.ERROR_USER_MAPPED_FILE,
		windows.ERROR_ACCESS_DENIED, windows.ERROR_DELETE_PENDING}
)
