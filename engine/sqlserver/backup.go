package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/sqlserver/dialect"
)

// null takes a backup and keeps nothing, to see how fast a server can read.
const null = "NUL"

const (
	maxStripes = 64      // devices of a backup
	maxMemory  = 1 << 30 // BUFFERCOUNT × MAXTRANSFERSIZE lies outside the buffer pool
)

// transfer are the options of a striped backup or restore. 0 means the server's own.
type transfer struct {
	stripes         []string
	compression     string // "on", "off", "": the server's own
	bufferCount     int
	maxTransferSize int      // bytes
	blockSize       int      // bytes
	part            []string // filegroups. Nil means all
	theirs          bool     // a backup that Filewise has not made
	again           bool     // the files are of a backup that this run made before under the same name
}

// check refuses what the server would refuse late, and too much memory.
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

// checkSizes refuses buffers that the server would refuse, and too much memory for them.
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
		size = mib // the server's own
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

// mayBackup refuses options that the server does not have.
func (s *externalServer) mayBackup(t transfer) error {
	if t.compression == "on" && !s.identity.compressesBackups() {
		return filewise.Errorf(filewise.CodeUsage, "leave compression off", "%s does not compress backups: %w", s.identity.edition,
			filewise.ErrUnsupported)
	}
	return t.check(s.identity)
}

// backup makes a COPY_ONLY backup of a database, which can be the user's. No
// file is overwritten except the files of a backup that this run made under a name of its own.
func (l *long) backup(ctx context.Context, database string, t transfer) error {
	if err := l.server.mayBackup(t); err != nil {
		return err
	}
	vars := t.vars()
	vars["Source"] = database
	return l.run(ctx, "backup", vars)
}

// first returns what questions about a backup name: each of its files reports the whole, and
// they are documented for one device.
func (t transfer) first() map[string]any {
	t.stripes = t.stripes[:1]
	return t.vars()
}

// move is a file of a backup and where it goes.
type move struct{ Logical, Path string }

// restore restores a backup under a new name of Filewise's, every file in the
// directory that is recognized by its name in the database, and marks it with the text.
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

// moves give every file of the backup a path of its own.
func (s *externalServer) moves(ctx context.Context, t transfer, name string, to func(logical string, log bool) joiner) ([]move, error) {
	rows, err := askAll(ctx, s.control, "backup-files", t.first())
	if err != nil {
		return nil, s.login.explain(fmt.Errorf("files of the backup: %w", err))
	}
	var all []move
	for i, r := range rows {
		extension := map[string]string{"L": "ldf", "D": "ndf"}[r.Text("Type")]
		if extension == "" {
			extension = "dir" // FILESTREAM and full-text: a directory
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

// dropRestoring removes what a failed RESTORE of ours has left: it has no mark, but a name that this call has made,
// and is being restored, or a copy that the account may not mark.
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
