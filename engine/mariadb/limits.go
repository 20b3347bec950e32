package mariadb

import (
	"syscall"

	"filewise"
)

// checkLimits refuses layouts for which the server could not open its files. It
// raises its own limit up to the hard one.
func (d *design) checkLimits() error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return nil //nolint:nilerr // unknown limits: the server says so itself
	}
	need := uint64(len(d.files) + d.program.Connections + 200) // 200: system tables, logs, sockets
	if l.Max < need {
		return filewise.Errorf(filewise.CodePreflight, "raise it (ulimit -Hn, or LimitNOFILE of the service), or use fewer files",
			"%s and %d connections need %d open files, but the hard limit is %d", filewise.FilesName(len(d.files)), d.program.Connections, need, l.Max)
	}
	return nil
}
