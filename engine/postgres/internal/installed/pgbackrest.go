package installed

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"

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
