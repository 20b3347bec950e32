package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/internal/script"
	"filewise/engine/postgres/internal/client"
	"filewise/engine/postgres/internal/dump"
	"filewise/engine/userbackup"
)

// toolDump is the tool that backs up a user's database unless another is requested.
const toolDump = "pg_dump"

func copied(l filewise.Layout) bool {
	v, _ := l.BackupOptions.Get("tool")
	return v == toolPgBackRest
}

// checkCopied refuses backups that cannot be made from a copy. The copy and its repository both lie on the first
// volume.
func checkCopied(t filewise.Target, l filewise.Layout) error {
	if !copied(l) {
		return nil
	}
	if t.Part != nil {
		return refuse("use --backup-option tool=pg_dump with --part", "a part of a database by pgBackRest, which copies whole servers")
	}
	if l.Discard {
		return refuse("leave it out", "a backup by pgBackRest that is thrown away")
	}
	if v := userbackup.Volume(t, l); v.Name != t.Volumes[0].Name {
		return refuse("use --backup-option volume="+t.Volumes[0].Name+" with it",
			"pgBackRest's repository on volume %s: the copy that it backs up "+
				"and the repository lie on the first volume", v.Name)
	}
	return nil
}

// copyProgram makes a managed server ready to be backed up.
var copyProgram = filewise.Program{Workload: trialStart.Workload, Phases: append(trialStart.Phases[:1:1],
	filewise.Phase{Act: filewise.ActBackup, Connections: 1, CommitEvery: 1},
	filewise.Phase{Act: filewise.ActRestore, Connections: 1, CommitEvery: 1})}

// copyDatabase makes a managed copy of the database. pgBackRest backs up the copy, so that the user's stanza and
// archive_command are not touched.
func (s *ownServer) copyDatabase(ctx context.Context) error {
	if s.copy != nil {
		return nil
	}
	bin, err := Engine{}.ServerBin(ctx, s.target)
	if err != nil {
		return err
	}
	opened, err := openManaged(ctx, filewise.Target{Engine: s.target.Engine, Mode: filewise.Managed, Volumes: s.target.Volumes[:1],
		ServerBin: bin, OnStart: s.target.OnStart})
	if err != nil {
		return err
	}
	server := opened.(*managedServer)
	if err := s.fillCopy(ctx, server); err != nil {
		return errors.Join(client.Failed("copying "+s.target.Database, err), server.Close())
	}
	s.managed = server
	return nil
}

func (s *ownServer) fillCopy(ctx context.Context, server *managedServer) error {
	if err := server.install.BackRest(ctx); err != nil {
		return err
	}
	l := trialLayout
	l.Backup, l.BackupOptions = filewise.Spread{Files: 1}, "tool="+toolPgBackRest
	i, err := server.launch(ctx, server.target, l, copyProgram)
	if err != nil {
		return err
	}
	path := filepath.Join(s.target.Volumes[0].Dir, "copy.dump")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	from, address := s.target, *s.target.Address
	address.Path, from.Address = s.target.Database, &address
	if err := errors.Join(Engine{}.Dump(ctx, from, f), f.Close()); err != nil {
		return err
	}
	if err := dump.Restore(ctx, server.install, path, i.link, func(string) map[string]customsql.Place { return nil }); err != nil {
		return err
	}
	s.copy = i
	return i.link.Exec(ctx, checkpoint)
}

// copyTool makes the backups of one layout by pgBackRest. It implements userbackup.Tool.
type copyTool struct {
	*ownTool
	backups *backuper
}

func (s *ownServer) copyTool(o *ownTool) *copyTool {
	d := *s.copy.design
	d.layout.Backup.Files, d.layout.BackupOptions = o.layout.Backup.Files, o.layout.BackupOptions
	return &copyTool{o, &backuper{server: s.managed, instance: s.copy, build: &build{design: &d, link: s.copy.link}}}
}

// Dump makes a backup in a repository next to the copy, where the copy's server can write, and moves the repository.
func (c *copyTool) Dump(ctx context.Context, to string) error {
	if _, err := c.backups.Backup(ctx); err != nil {
		return err
	}
	return os.Rename(c.backups.dir, to)
}

// Fill restores a backup to a new server.
func (c *copyTool) Fill(ctx context.Context, from string) error {
	if err := os.Rename(from, c.backups.dir); err != nil {
		return err
	}
	err := c.backups.Restore(ctx)
	return errors.Join(err, os.Rename(c.backups.dir, from))
}

// Compare compares all tables of the restored server with the copy.
func (c *copyTool) Compare(ctx context.Context) error {
	if c.backups.restored == nil {
		return fmt.Errorf("%w: nothing is restored", filewise.ErrCheck)
	}
	both := [2][]string{}
	for n, link := range []*client.Link{c.backups.instance.link, c.backups.restored.link} {
		if err := link.With(ctx, func(conn *pgx.Conn) (err error) { both[n], err = sums(ctx, conn); return err }); err != nil {
			return err
		}
	}
	return userbackup.Same(both[0], both[1])
}

// Drop drops the restored server.
func (c *copyTool) Drop(ctx context.Context) error { return c.backups.Discard(ctx) }

var _ userbackup.Tool = (*copyTool)(nil)

var plainName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// backRestScript returns a pgBackRest configuration with the layout's settings, and the commands that use it.
func backRestScript(t filewise.Target, l filewise.Layout) (out filewise.BackupScript) {
	name := "main"
	if plainName.MatchString(t.Database) {
		name = t.Database
	}
	kind, level := restCompression(l)
	config := []string{"[global]", fmt.Sprintf("process-max=%d", l.Backup.Files), "compress-type=" + kind}
	if level != "" {
		config = append(config, "compress-level="+level)
	}
	config = append(config, "start-fast=y", "repo1-bundle=y", "repo1-retention-full=2")
	out.Proof = "all tables were restored to a second managed server and compared with the copy's"
	out.Notes = []string{
		"pgBackRest backs up whole servers, on their own host, as the account of the server. The setting is process-max and compress-type;",
		"the backups that were measured were of a managed copy of the database, and its restore was compared with it.",
		"PGDATA is the server's data directory. The server archives into the repository: archive_mode=on, and archive_command=",
		"'pgbackrest --config=NEW-DIRECTORY/pgbackrest.conf --stanza=" + name + " archive-push %p': both are yours to set, before a backup.",
		"EMPTY-DATABASE is a new data directory. A repository that you have already needs the two lines of its configuration alone.",
	}
	lines := script.Quoted(append([]string{"printf", `%s\n`}, config...))
	command := func(from, act string) string {
		return fmt.Sprintf(`pgbackrest --config="$%s/pgbackrest.conf" --stanza=%s %s "$@"`, from, name, act)
	}
	out.Backup = []string{`mkdir -p "$to"`, "{", lines,
		`printf 'repo1-path=%s\n[` + name + `]\npg1-path=%s\n' "$(cd "$to" && pwd)" "${PGDATA:?}"`, `} > "$to/pgbackrest.conf"`,
		command("to", "stanza-create"), command("to", "backup --type=full")}
	out.Restore = []string{command("from", `restore --pg1-path="$database"`)}
	out.Others = []filewise.OtherScript{{Suffix: "-pgbackrest.conf", Comment: "# ", Text: strings.Join(config, "\n")}}
	return out
}
