package postgres

import (
	"errors"
	"strconv"

	"github.com/dustin/go-humanize"

	"filewise"
)

// stripeOptions are the parameters of backups that Filewise copies, dumpOptions
// those of pg_dump.
var (
	stripeOptions = []filewise.BackupOption{
		{Name: "buffer", Words: "the bytes that are read at once, 8KiB to 64MiB, 1MiB being usual",
			Check: func(v string) error { _, err := bufferOf(v); return err }},
		{Name: "compression", Words: "none, as usual, or gzip, at its fastest level", Check: filewise.OneOf("none", "gzip")},
	}
	dumpOptions = []filewise.BackupOption{
		{Name: "compress", Words: "a level from 0 to 9, pg_dump's own being usual",
			Check: filewise.OneOf("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")},
	}
)

const usualBuffer = 1 << 20

func bufferOf(v string) (int, error) {
	n, err := humanize.ParseBytes(v)
	if err != nil || n < 8<<10 || n > 64<<20 {
		return 0, errors.New("it is no size from 8KiB to 64MiB")
	}
	return int(n), nil
}

// buffer is what a stream of a backup reads at once, in bytes.
func (d *design) buffer() int {
	if v, ok := d.layout.BackupOptions.Get("buffer"); ok {
		if n, err := bufferOf(v); err == nil { // checked by checkBackup
			return n
		}
	}
	return usualBuffer
}

// compresses tells whether a backup's files are compressed.
func (d *design) compresses() bool {
	v, _ := d.layout.BackupOptions.Get("compression")
	return v == "gzip"
}

// dumpLevel is pg_dump's argument for compression.
func (d *design) dumpLevel() []string {
	v, ok := d.layout.BackupOptions.Get("compress")
	if _, err := strconv.Atoi(v); !ok || err != nil {
		return nil
	}
	return []string{"-Z", v}
}
