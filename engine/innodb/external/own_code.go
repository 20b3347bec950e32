package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/dumpfile"
)

// codeFile is the file beside mydumper's that has triggers, routines and events, as the server's own
// program writes them: with their SQL modes, character sets and time zones, which mydumper leaves out.
const codeFile = "code"

// codePlace is how these programs come to the server, as well secured as mydumper is.
func (d Engine) codePlace(a filewise.Address) ([]string, error) {
	args, err := d.clientPlace(a)
	secured, unsaid := d.dumpTLS(a.Options)
	if unsaid != nil {
		secured = []string{map[string]string{"mariadb": "--ssl", "mysql": "--ssl-mode=REQUIRED"}[d.Name]}
	}
	return append(args, secured...), err
}

func codeArgs(database string) []string {
	return []string{"--no-data", "--no-create-info", "--triggers", "--routines", "--events", "--skip-lock-tables", "--no-tablespaces",
		"--loose-set-gtid-purged=OFF", database}
}

// dumpCode writes that file.
func (o *ownTool) dumpCode(ctx context.Context, to string) error {
	s := o.server
	d := Engine{s.product}
	program, err := dumpers[d.Name].Find("")
	if err != nil {
		return err
	}
	place, err := d.codePlace(*s.target.Address)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(to, codeFile))
	if err != nil {
		return err
	}
	return errors.Join(dumpfile.Take(ctx, f, []string{"MYSQL_PWD=" + s.target.Address.Password.Reveal()}, program,
		slices.Concat([]string{"--no-defaults"}, place, codeArgs(s.target.Database))...), f.Close())
}

// seesCode warns where routines of others are hidden, which would not be in a backup.
func (s *ownServer) seesCode(ctx context.Context, e *examination) {
	sees, right := s.rights.global["SHOW_ROUTINE"] || s.rights.global["SELECT"], s.grant([]string{"SHOW_ROUTINE"}, "*.*")
	if s.product == dialect.MariaDB {
		_, err := s.db.ExecContext(ctx, "SELECT 1 FROM mysql.proc LIMIT 0")
		sees, right = err == nil, s.grant([]string{"SELECT"}, "mysql.proc")
	}
	if !sees {
		e.Warn("routines", right, "the account does not see those of others: if there are any, they are not in its backups")
	}
}

// checkCode looks whether all triggers, routines and events that the account sees are in it.
func (o *ownTool) checkCode(ctx context.Context, from string) error {
	text, err := os.ReadFile(filepath.Join(from, codeFile))
	if err != nil {
		return err
	}
	of := dialect.Literal(o.server.target.Database)
	names, err := dialect.Column(ctx, o.server.db, "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = "+of+
		" UNION ALL SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = "+of+
		" UNION ALL SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = "+of)
	if err != nil {
		return o.server.explain(err)
	}
	for _, name := range names {
		if !strings.Contains(string(text), name) && !strings.Contains(string(text), dialect.Ident(name)) {
			return fmt.Errorf("%w: %s, a trigger, routine or event, is not in it", filewise.ErrCheck, name)
		}
	}
	return nil
}
