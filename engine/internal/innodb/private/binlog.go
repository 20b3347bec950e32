package private

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
)

// With durability full the private server writes a binary log, as a server that
// replicates does, and syncs it at each commit: each transaction is prepared and
// committed in order with the others, and waits for both logs. Why a product needs
// that, its FullNote says.
const (
	binlogName = "fw-bin"
	// binlogBytes is the size at which a next file of the log is begun.
	binlogBytes = 128 * innodb.MiB
)

// binlog says whether the server writes a binary log.
func (d *design) binlog() bool {
	return d.target.Durability == filewise.DurabilityFull || d.target.Durability == ""
}

func (d *design) binlogDir() string { return filepath.Join(d.log.dir, "binlog") }

// binlogRoom is what the binary log of the program's work takes, in bytes; of
// work without an end, that of a whole layout.
func (d *design) binlogRoom() int64 {
	if !d.binlog() {
		return 0
	}
	bytes := d.program.WorkBytes
	if bytes == 0 {
		bytes = d.layout.Data.Bytes
	}
	if d.schema.Loads() && !d.schema.Grows() { // its load is not logged
		return innodb.MiB
	}
	if n := len(d.program.Phases); n > 0 {
		bytes *= int64(n)
	}
	rows := bytes / max(d.program.OpBytes, 1)
	return bytes + rows*d.product.Files.BinlogPerRow + rows/int64(d.program.CommitEvery)*d.product.Files.BinlogPerCommit + innodb.MiB
}

// binlogFiles are the files of the binary log as they lie on the storage.
func (d *design) binlogFiles() ([]string, error) {
	if !d.binlog() {
		return nil, nil
	}
	entries, err := os.ReadDir(d.binlogDir())
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), binlogName+".") {
			files = append(files, filepath.Join(d.binlogDir(), e.Name()))
		}
	}
	slices.Sort(files)
	return files, nil
}
