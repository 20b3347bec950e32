package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/installed"
	"filewise/engine/userbackup"
	"filewise/internal/shell"
)

// The tools that back up a user's database, the usual one first.
const pgDump, pgBackRest = "pg_dump", "pgbackrest"

func byPgBackRest(l filewise.Layout) bool {
	v, _ := l.BackupOptions.Get("tool")
	return v == pgBackRest
}

// checkCopied refuses backups that cannot be made from a copy. The copy and its repository both lie on the first
// volume.
func checkCopied(t filewise.Target, l filewise.Layout) error {
	if !byPgBackRest(l) {
		return nil
	}
	if t.Part != nil {
		return filewise.Unsupported("use --backup-option tool=pg_dump with --part",
			"a part of a database by pgBackRest, which copies whole servers")
	}
	if l.Discard {
		return filewise.Unsupported("leave it out", "a backup by pgBackRest that is thrown away")
	}
	if v := userbackup.Volume(t, l); v.Name != t.Volumes[0].Name {
		return filewise.Unsupported("use --backup-option volume="+t.Volumes[0].Name+" with it",
			"pgBackRest's repository on volume %s: the copy that it backs up "+
				"and the repository lie on the first volume", v.Name)
	}
	return nil
}

// postgresCopier is an engine that makes a managed copy of a database, for tools that back up whole servers.
type postgresCopier interface {
	CopyDatabase(context.Context, filewise.Target) (*client.Copy, error)
}

// copyDatabase makes the copy once. pgBackRest backs up the copy, so that the user's stanza and archive_command are not
// touched.
func (s *postgresBackups) copyDatabase(ctx context.Context) (err error) {
	if s.copy == nil {
		s.copy, err = s.engine.CopyDatabase(ctx, s.target)
	}
	return err
}

// copyTool makes the backups of one layout by pgBackRest. It implements userbackup.Tool.
type copyTool struct {
	*postgresTool
	original *client.Link // of the copy
	backups  client.CopyBackups
}

func (s *postgresBackups) copyTool(o *postgresTool) *copyTool {
	return &copyTool{o, s.copy.Link, s.copy.Backups(o.layout)}
}

// Dump makes a backup in a repository next to the copy, where the copy's server can write, and moves the repository.
func (c *copyTool) Dump(ctx context.Context, to string) error {
	if _, err := c.backups.Backup(ctx); err != nil {
		return err
	}
	return os.Rename(c.backups.Dir(), to)
}

// Fill restores a backup to a new server.
func (c *copyTool) Fill(ctx context.Context, from string) error {
	if err := os.Rename(from, c.backups.Dir()); err != nil {
		return err
	}
	err := c.backups.Restore(ctx)
	return errors.Join(err, os.Rename(c.backups.Dir(), from))
}

// Compare compares all tables of the restored server with the copy.
func (c *copyTool) Compare(ctx context.Context) error {
	restored := c.backups.Restored()
	if restored == nil {
		return fmt.Errorf("%w: nothing is restored", filewise.ErrCheck)
	}
	both := [2][]string{}
	for n, link := range []*client.Link{c.original, restored} {
		if err := link.With(ctx, func(conn *pgx.Conn) (err error) { both[n], err = postgresSums(ctx, conn); return err }); err != nil {
			return err
		}
	}
	return userbackup.Same(both[0], both[1])
}

// Drop drops the restored server.
func (c *copyTool) Drop(ctx context.Context) error { return c.backups.Discard(ctx) }

var plainName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// backRestScript returns a pgBackRest configuration with the layout's settings, and the commands that use it.
func backRestScript(t filewise.Target, l filewise.Layout) (out filewise.BackupScript) {
	name := "main"
	if plainName.MatchString(t.Database) {
		name = t.Database
	}
	kind, level := installed.RestCompression(l)
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
	lines := shell.Quoted(append([]string{"printf", `%s\n`}, config...))
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
