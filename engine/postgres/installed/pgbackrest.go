package installed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/internal/server"
)

// PgBackRest is the program pgbackrest. Tested with 2.45 of Debian 12.
var PgBackRest = server.Binary{Names: []string{"pgbackrest"}, Package: "pgbackrest"}

// firstKnowing lists the first release of pgBackRest (2.x) that supports each release of PostgreSQL. Later releases of
// pgBackRest still support earlier servers.
var firstKnowing = []struct{ minor, server int }{{36, 14}, {41, 15}, {48, 16}, {54, 17}, {57, 18}}

var pgBackRestVersion = regexp.MustCompile(`pgBackRest 2\.(\d+)`)

// BackRest returns an error with CodePreflight if pgBackRest cannot back this server up.
func (in Server) BackRest(ctx context.Context) error {
	path, err := PgBackRest.Find("")
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "apt-get install "+PgBackRest.Package+otherTools,
			"backups by several processes are made by pgBackRest: %w: %w", err, filewise.ErrUnsupported)
	}
	out, err := server.Said(ctx, path, "version")
	m := pgBackRestVersion.FindStringSubmatch(out)
	if err != nil || m == nil {
		return filewise.Errorf(filewise.CodePreflight, "apt-get install --reinstall "+PgBackRest.Package, "%s version prints %q: %w", path, out,
			cmp.Or(err, filewise.ErrUnsupported))
	}
	minor, _ := strconv.Atoi(m[1]) // digits
	for _, f := range firstKnowing {
		if in.Number/10000 == f.server && minor < f.minor {
			return filewise.Errorf(filewise.CodePreflight, fmt.Sprintf("install pgBackRest 2.%d or later", f.minor)+otherTools,
				"pgBackRest 2.%d (%s) does not support PostgreSQL %d: %w", minor, path, f.server, filewise.ErrUnsupported)
		}
	}
	return nil
}

// otherTools names the tools that remain without pgBackRest.
const otherTools = ", or use --backup-option tool=pg_basebackup --files 1 --data-files 1,8, or scenario dump (pg_dump -j)"

// Stanza is the name of Filewise's stanza. It is always the same, as each build has its own repository.
const Stanza = "filewise"

// RestArguments returns the arguments of a pgBackRest command. It reads no configuration file, so the user's stanzas
// cannot be reached.
func RestArguments(command, repository, data string, more ...string) []string {
	return append([]string{command, "--no-config", "--stanza=" + Stanza, "--repo1-path=" + repository, "--pg1-path=" + data,
		"--lock-path=" + repository + "/lock", "--log-level-file=off", "--log-level-console=warn"}, more...)
}

// RestBackup returns the arguments of pgBackRest for a full backup that contains all the WAL it needs.
func RestBackup(l filewise.Layout, repository, data string) []string {
	kind, level := RestCompression(l)
	more := []string{"--type=full", "--start-fast", "--archive-copy", "--repo1-bundle", "--repo1-retention-full=1",
		"--process-max=" + strconv.Itoa(max(l.Backup.Files, 1)), "--compress-type=" + kind,
		"--pg1-socket-path=" + data, "--pg1-port=5432", "--pg1-user=" + Superuser}
	if level != "" {
		more = append(more, "--compress-level="+level)
	}
	if v, ok := l.BackupOptions.Get("buffer"); ok {
		n, _ := BufferOf(v) // the layout's check has checked it
		more = append(more, "--buffer-size="+strconv.Itoa(n))
	}
	return RestArguments("backup", repository, data, more...)
}

// RestCompression returns pgBackRest's compression type, and the level if one is given. In scenario backup the option
// uses pgBackRest's names; for a user's database, pg_dump's.
func RestCompression(l filewise.Layout) (kind, level string) {
	if v, ok := l.BackupOptions.Get("compression"); ok {
		return v, ""
	}
	v, _ := l.BackupOptions.Get("compress")
	method, level, divided := strings.Cut(v, ":")
	switch {
	case v == "" || v == "0":
		return "none", ""
	case !divided:
		return "gz", v
	}
	return map[string]string{"gzip": "gz", "lz4": "lz4", "zstd": "zst"}[method], level
}

// BufferOf reads a buffer size that pgBackRest accepts: a power of two.
func BufferOf(v string) (int, error) {
	n, err := humanize.ParseBytes(v)
	if err != nil || n < 16<<10 || n > 16<<20 || n&(n-1) != 0 {
		return 0, errors.New("it must be one of 16KiB, 32KiB, … 16MiB")
	}
	return int(n), nil
}
