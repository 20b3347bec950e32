package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/sqlserver/dialect"
)

// null is the device that makes a backup and stores nothing, to see how fast a server can read.
const null = "NUL"

const (
	maxStripes = 64      // devices of a backup
	maxMemory  = 1 << 30 // BUFFERCOUNT × MAXTRANSFERSIZE is outside the buffer pool
)

// transfer holds the options of a striped backup or restore. 0 means the server's default.
type transfer struct {
	stripes         []string
	compression     string // "on", "off", or "" for the server's default
	bufferCount     int
	maxTransferSize int      // bytes
	blockSize       int      // bytes
	part            []string // filegroups; nil means all
	theirs          bool     // Filewise has not made the backup
	again           bool     // the files belong to an earlier backup of this run with the same name
}

// check refuses options that the server would refuse late, or that take too much memory.
func (t transfer) check(i identity) error {
	if len(t.stripes) < 1 || len(t.stripes) > maxStripes {
		return usage(fmt.Sprintf("give 1 to %d files", maxStripes), "a backup to %d files", len(t.stripes))
	}
	seen := map[string]bool{}
	for _, s := range t.stripes {
		if s == null {
			continue
		}
		dir, err := parseDir(s)
		if err != nil {
			return usage("name files as the server sees them", "backup file %w", err)
		}
		if dir.System != i.data.System {
			return usage("name files as the server sees them", "backup file %s is a path of %s, the server is one of %s", s, dir.System,
				i.data.System)
		}
		if key := strings.ToUpper(s); seen[key] {
			return usage("name each once", "backup file %s is named twice", s)
		}
		seen[strings.ToUpper(s)] = true
	}
	return t.checkSizes()
}

// checkSizes refuses buffers that the server would refuse, or that take too much memory.
func (t transfer) checkSizes() error {
	size := t.maxTransferSize
	switch {
	case t.compression != "" && t.compression != "on" && t.compression != "off":
		return usage("use on or off", "compression %q", t.compression)
	case size != 0 && (size < extent || size > 4*mib || size%extent != 0):
		return usage("give a multiple of 64 KiB up to 4 MiB", "MAXTRANSFERSIZE %d", size)
	case t.blockSize != 0 && (t.blockSize < 512 || t.blockSize > extent || t.blockSize&(t.blockSize-1) != 0):
		return usage("give a power of two from 512 to 65536", "BLOCKSIZE %d", t.blockSize)
	case t.bufferCount < 0:
		return usage("give 1 or more", "BUFFERCOUNT %d", t.bufferCount)
	}
	if size == 0 {
		size = mib // the server's default
	}
	if int64(t.bufferCount)*int64(size) > maxMemory {
		return usage("give fewer or smaller buffers", "%d buffers of %d bytes are more than 1 GiB outside the buffer pool", t.bufferCount, size)
	}
	return nil
}

func (t transfer) vars() map[string]any {
	return map[string]any{"Stripes": t.stripes, "Compression": t.compression, "BufferCount": t.bufferCount,
		"MaxTransferSize": t.maxTransferSize, "BlockSize": t.blockSize, "Theirs": t.theirs, "Again": t.again, "Part": t.part}
}

// mayBackup refuses options that the server does not support.
func (s *externalServer) mayBackup(t transfer) error {
	if t.compression == "on" && !s.identity.compressesBackups() {
		return filewise.Errorf(filewise.CodeUsage, "leave compression off", "%s does not compress backups: %w", s.identity.edition,
			filewise.ErrUnsupported)
	}
	return t.check(s.identity)
}

// backup makes a COPY_ONLY backup of a database, which can be the user's. It overwrites no files except the ones of an
// earlier backup of this run with the same name.
func (l *long) backup(ctx context.Context, database string, t transfer) error {
	if err := l.server.mayBackup(t); err != nil {
		return err
	}
	vars := t.vars()
	vars["Source"] = database
	return l.run(ctx, "backup", vars)
}

// first returns the variables for questions about a backup. They name only its first file: each file reports the whole
// backup, and the statements are documented for one device.
func (t transfer) first() map[string]any {
	t.stripes = t.stripes[:1]
	return t.vars()
}

// move is a file of a backup and the path to restore it to.
type move struct{ Logical, Path string }

// restore restores a backup under a new name of Filewise's and marks the database with text. to returns the directory
// for each file, by its name in the database.
func (l *long) restore(ctx context.Context, t transfer, name, text string, to func(logical string, log bool) joiner) (err error) {
	s := l.server
	if err := t.check(s.identity); err != nil {
		return err
	}
	vars := t.vars()
	vars["Name"], vars["Mark"] = name, text
	if vars["Moves"], err = s.moves(ctx, t, name, to); err != nil {
		return err
	}
	err = l.run(ctx, "restore", vars)
	if err == nil || hasNumber(err, errNameTaken) {
		return err
	}
	return errors.Join(err, s.dropRestoring(ctx, name))
}

// moves returns a new path for every file of the backup.
func (s *externalServer) moves(ctx context.Context, t transfer, name string, to func(logical string, log bool) joiner) ([]move, error) {
	rows, err := askAll(ctx, s.control, "backup-files", t.first())
	if err != nil {
		return nil, s.login.explain(fmt.Errorf("files of the backup: %w", err))
	}
	var all []move
	for i, r := range rows {
		extension := map[string]string{"L": "ldf", "D": "ndf"}[r.Text("Type")]
		if extension == "" {
			extension = "dir" // a directory, for FILESTREAM and full-text
		}
		path, err := to(r.Text("LogicalName"), extension == "ldf").Join(fmt.Sprintf("%s_restored_%02d.%s", name, i+1, extension))
		if err != nil {
			return nil, usage("name a shorter --volume", "%w", err)
		}
		all = append(all, move{r.Text("LogicalName"), path})
	}
	if len(all) == 0 {
		return nil, filewise.Errorf(filewise.CodeTrials, "", "the backup lists no files")
	}
	return all, nil
}

// dropRestoring drops what a failed RESTORE of this call has left. It has no marker, but the name that this call made. It
// is still being restored, or is a copy that the account may not mark.
func (s *externalServer) dropRestoring(ctx context.Context, name string) error {
	statement, err := server.Statement("drop-restoring", map[string]any{"Name": name})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropPatience)
	defer cancel()
	if _, err := s.control.ExecContext(ctx, statement); err != nil {
		return filewise.Errorf(filewise.CodeTrials, administrator("DROP DATABASE "+dialect.Ident(name)), "database %s is left over: %w", name,
			s.login.explain(err))
	}
	return nil
}
