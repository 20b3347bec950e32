package sqlserver

import (
	"errors"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"

	"filewise"
)

// backupOptions lists the options of BACKUP and RESTORE. transfer.check decides which values the server accepts
// together.
var backupOptions = []filewise.BackupOption{
	{Name: "blocksize", Words: "a power of two from 512 to 64KiB", Check: func(v string) error { _, err := bytesOf(v); return err }},
	{Name: "buffercount", Words: "a number of buffers, or auto: the server's own",
		Check: func(v string) error { _, err := buffersOf(v); return err }},
	{Name: "compression", Words: "on or off (default the server's setting)", Check: filewise.OneOf("on", "off")},
	{Name: "maxtransfersize", Words: "a multiple of 64KiB up to 4MiB (default 1MiB)",
		Check: func(v string) error { _, err := bytesOf(v); return err }},
}

// readBackupOptions reads the options of a layout. It refuses unknown options and bad values.
func readBackupOptions(o filewise.BackupOptions, more ...filewise.BackupOption) (t transfer, err error) {
	if err := o.Check(append(slices.Clone(backupOptions), more...)); err != nil {
		return t, err
	}
	t.compression, _ = o.Get("compression")
	if v, ok := o.Get("buffercount"); ok {
		t.bufferCount, err = buffersOf(v)
	}
	for name, to := range map[string]*int{"blocksize": &t.blockSize, "maxtransfersize": &t.maxTransferSize} {
		if v, ok := o.Get(name); ok && err == nil {
			*to, err = bytesOf(v)
		}
	}
	if err != nil {
		return t, err
	}
	return t, t.checkSizes()
}

func buffersOf(v string) (int, error) {
	if v == "auto" {
		return 0, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > maxMemory {
		return 0, errors.New("it must be a whole number, 1 or more")
	}
	return n, nil
}

func bytesOf(v string) (int, error) {
	n, err := humanize.ParseBytes(v)
	if err != nil || n < 1 || n > 4*mib {
		return 0, errors.New("it is no size up to 4MiB")
	}
	return int(n), nil
}
