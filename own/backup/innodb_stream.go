package backup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/client"
	"filewise/engine/innodb/dialect"
	"filewise/engine/userbackup"
	"filewise/host/machine"
	"filewise/internal/findings"
	"filewise/internal/shell"
)

// Tools for backups of a user's database. mydumper's threads divide the work. The product's own program writes one
// stream of one snapshot, and covers all features of the product.
const (
	optionTool   = "tool"
	toolMydumper = "mydumper"
)

// ownProgram returns the name of the product's own program.
func (i InnoDB) ownProgram() string { return client.Dumpers[i.Product.Name].Names[0] }

// writesStream reports whether the product's own program makes a layout's backups.
func writesStream(l filewise.Layout) bool {
	v, given := l.BackupOptions.Get(optionTool)
	return given && v != toolMydumper
}

// insteadOf returns the remedy if mydumper loses something.
func (i InnoDB) insteadOf() string {
	return fmt.Sprintf("use a later mydumper, or --backup-option tool=%s --backup-option compress=no,yes --files 1", i.ownProgram())
}

// checkStream refuses options that the product's own program does not have.
func (i InnoDB) checkStream(l filewise.Layout) error {
	switch {
	case !writesStream(l):
		return nil
	case l.Backup.Files > 1:
		return filewise.Errorf(filewise.CodeUsage, "use --files 1 with it", "%d jobs of %s: it writes one stream: %w", l.Backup.Files,
			i.ownProgram(), filewise.ErrUnsupported)
	case inPieces(l):
		return filewise.Errorf(filewise.CodeUsage, "leave it out, or use tool="+toolMydumper, "rows: %s writes tables whole: %w",
			i.ownProgram(), filewise.ErrUnsupported)
	}
	return nil
}

// unstreamed refuses tables of MySQL if mysqldump is MariaDB's, as in Debian. MySQL does not accept what that program
// writes of them.
func (s *innodbBackups) unstreamed(ctx context.Context, e *findings.Examination) {
	program, err := client.Dumpers.Find(s.product)
	if err != nil || s.product == dialect.MariaDB {
		return
	}
	out, err := machine.Command(ctx, program, "--version").Output()
	columns := s.columns(ctx, "EXTRA IN ('STORED GENERATED', 'VIRTUAL GENERATED')")
	if err == nil && strings.Contains(string(out), "MariaDB") && columns != "" {
		e.Fail("generated columns", "put MySQL's own mysqldump into PATH, or use tool="+toolMydumper+" where it takes the tables",
			"%s is MariaDB's, and what it writes of MySQL's generated columns cannot be restored: %s", program, columns)
	}
}

// streamFile is the name of the dump within a backup's directory.
const streamFile = "dump.sql"

func streamArgs(t filewise.Target) []string {
	return append([]string{"--single-transaction", "--quick", "--skip-triggers", "--skip-add-locks", "--no-tablespaces",
		"--loose-set-gtid-purged=OFF", t.Database}, t.Part...)
}

// stream dumps the tables with the product's own program and compresses them. Views are left out, because a trial
// restores only the tables.
func (o *innodbTool) stream(ctx context.Context, to string) error {
	s := o.server
	program, place, err := o.ownCommand(client.Dumpers)
	if err != nil {
		return err
	}
	views, err := dialect.Column(ctx, s.DB, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'VIEW' "+
		"AND TABLE_SCHEMA = "+dialect.Literal(s.target.Database))
	if err != nil {
		return s.Explain(err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	path := filepath.Join(to, streamFile)
	args := append(place, "--result-file="+path)
	for _, v := range views {
		args = append(args, "--ignore-table="+s.target.Database+"."+v)
	}
	if err := o.runOwn(ctx, filepath.Dir(to), append([]string{program}, append(args, streamArgs(s.target)...)...)); err != nil {
		return err
	}
	if v, _ := o.layout.BackupOptions.Get("compress"); v != "yes" {
		return nil
	}
	return o.runOwn(ctx, filepath.Dir(to), []string{"/bin/sh", "-c", `exec gzip "$0"`, path})
}

// unstream restores the tables with the product's client.
func (o *innodbTool) unstream(ctx context.Context, from string) error {
	program, place, err := o.ownCommand(client.Clients)
	if err != nil {
		return err
	}
	path, read := filepath.Join(from, streamFile), `exec "$@" < "$0"`
	if v, _ := o.layout.BackupOptions.Get("compress"); v == "yes" {
		path, read = path+".gz", `gzip -dc "$0" | "$@"`
	}
	return o.runOwn(ctx, filepath.Dir(from), slices.Concat([]string{"/bin/sh", "-c", read, path, program}, place, []string{o.restored}))
}

// ownCommand returns one of the product's own programs, and the arguments with which it connects to the server.
func (o *innodbTool) ownCommand(p client.Programs) (program string, place []string, err error) {
	if program, err = p.Find(o.server.product); err != nil {
		return "", nil, err
	}
	place, err = client.Place(o.server.product, *o.server.target.Address)
	return program, append([]string{"--no-defaults"}, place...), err
}

func (o *innodbTool) runOwn(ctx context.Context, dir string, command []string) error {
	return userbackup.Run(ctx, o.server.target, dir, []string{"MYSQL_PWD=" + o.server.target.Address.Password.Reveal()}, command)
}

// streamLines returns the script's lines that make a backup with the product's own program, and restore its tables and
// views.
func (i InnoDB) streamLines(l filewise.Layout, database string, place []string) (backup []string, restore string) {
	line := func(program string, args ...string) string {
		return shell.Quoted(slices.Concat([]string{program}, place, args))
	}
	backup = []string{line(i.ownProgram(), streamArgs(filewise.Target{Database: database})...) + ` --result-file="$to/` + streamFile +
		`" "$@"`}
	restore = line(i.Product.Name) + ` "$@" "$database"`
	if v, _ := l.BackupOptions.Get("compress"); v == "yes" {
		return append(backup, `gzip "$to/`+streamFile+`"`), `gzip -dc "$from/` + streamFile + `.gz" | ` + restore
	}
	return backup, restore + ` < "$from/` + streamFile + `"`
}
