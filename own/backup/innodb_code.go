package backup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"filewise"
	"filewise/engine/innodb/client"
	"filewise/engine/innodb/dialect"
	"filewise/host/machine"
	"filewise/internal/findings"
)

// codeFile has triggers and events, and routineFile has routines, which views call and so come first. Both lie next to
// mydumper's files. The server's own program writes them with their SQL modes, character sets and time zones, which
// mydumper leaves out.
const codeFile, routineFile = "code", "routines"

func codeArgs(file, database string) []string {
	what := []string{"--triggers", "--events"}
	if file == routineFile {
		what = []string{"--skip-triggers", "--routines"}
	}
	return slices.Concat([]string{"--no-data", "--no-create-info"}, what, []string{"--skip-lock-tables", "--no-tablespaces",
		"--loose-set-gtid-purged=OFF", database})
}

// dumpCode writes both files.
func (o *innodbTool) dumpCode(ctx context.Context, to string) error {
	s := o.server
	for _, name := range []string{routineFile, codeFile} {
		f, err := os.Create(filepath.Join(to, name))
		if err != nil {
			return err
		}
		if err := errors.Join(client.Dump(ctx, f, s.product, *s.target.Address, client.Secured(s.product, s.target.Address.Options),
			codeArgs(name, s.target.Database)...), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// seesCode warns if routines of others are hidden or views cannot be read, because a backup would lack them.
func (s *innodbBackups) seesCode(ctx context.Context, e *findings.Examination, layouts []filewise.Layout) {
	sees, right := s.Global["SHOW_ROUTINE"] || s.Global["SELECT"], s.Grant([]string{"SHOW_ROUTINE"}, "*.*")
	if s.product == dialect.MariaDB {
		_, err := s.DB.ExecContext(ctx, "SELECT 1 FROM mysql.proc LIMIT 0")
		sees, right = err == nil, s.Grant([]string{"SELECT"}, "mysql.proc")
	}
	if !sees {
		e.Warn("routines", right, "the account does not see other users' routines: if there are any, they are not in its backups")
	}
	// The default names the original's sequence, so a trial restore would draw numbers from it.
	if columns := s.columns(ctx, "COLUMN_DEFAULT LIKE '%nextval(%'"); columns != "" && s.product == dialect.MariaDB {
		e.Fail("defaults", "back it up by mariadb-dump --single-transaction --skip-add-locks", "columns whose default draws from a sequence "+
			"cannot be restored next to the original, whose sequence they name: %s", columns)
	}
	if slices.ContainsFunc(layouts, writesStream) {
		s.unstreamed(ctx, e)
	}
	if tools, err := mydumperPrograms(); err == nil && byMydumper(layouts) {
		out, err := machine.Command(ctx, tools[0], "--version").Output()
		if err == nil && earlyMydumper.Match(out) {
			s.leftOut(ctx, e)
		}
	}
	if views := s.unread(ctx); len(views) > 0 {
		e.Warn("views", "mend them, or "+s.Grant([]string{"EXECUTE"}, dialect.Ident(s.target.Database)+".*"),
			"mydumper leaves out views that cannot be read, or what it writes of them ends the restore to another name: %s",
			strings.Join(views, "; "))
	}
}

// unread lists the views that cannot be read, with the reason.
func (s *innodbBackups) unread(ctx context.Context) (all []string) {
	comments, err := dialect.Pairs(ctx, s.DB, "SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES WHERE "+
		"TABLE_TYPE = 'VIEW' AND TABLE_SCHEMA = "+dialect.Literal(s.target.Database))
	if err != nil {
		return nil // the backup reports the error
	}
	for _, view := range slices.Sorted(maps.Keys(comments)) {
		why := comments[view]
		if why == "VIEW" { // MariaDB also reports this if the view's definer is gone
			err := s.prepares(ctx, "SELECT 1 FROM "+dialect.Ident(s.target.Database)+"."+dialect.Ident(view))
			if err == nil {
				continue
			}
			why = "its definer may be gone: " + err.Error()
		}
		all = append(all, view+": "+why)
	}
	return all
}

func (s *innodbBackups) prepares(ctx context.Context, statement string) error {
	st, err := s.DB.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer st.Close()
	return nil
}

// earlyMydumper matches the versions of mydumper with which these losses were seen.
var earlyMydumper = regexp.MustCompile(`\b0\.(9|10)\.`)

// byMydumper reports whether mydumper dumps any of the layouts, or, if there are none, the default.
func byMydumper(layouts []filewise.Layout) bool {
	return len(layouts) == 0 || slices.ContainsFunc(layouts, func(l filewise.Layout) bool { return !writesStream(l) })
}

// leftOut refuses what mydumper 0.10 leaves out, so that no time is spent on incomplete backups.
func (s *innodbBackups) leftOut(ctx context.Context, e *findings.Examination) {
	instead := InnoDB{s.product}.insteadOf()
	names, err := dialect.Column(ctx, s.DB, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE "+
		"CONCAT(TABLE_SCHEMA, TABLE_NAME) LIKE '%`%' AND TABLE_SCHEMA = "+dialect.Literal(s.target.Database)+" ORDER BY 1 LIMIT 10")
	if err == nil && len(names) > 0 {
		e.Fail("names of tables", instead, "mydumper 0.10 fails on names with a backtick in them: %s",
			strings.Join(names, ", "))
	}
	if columns := s.columns(ctx, "EXTRA LIKE '%INVISIBLE%'"); columns != "" {
		e.Fail("invisible columns", instead, "mydumper 0.10 leaves out their values: %s", columns)
	}
	if s.product == dialect.MariaDB {
		s.unrestored(ctx, e)
		return
	}
	if strings.ContainsFunc(s.target.Database, func(c rune) bool { return c > unicode.MaxASCII }) {
		e.Fail("name of the database", instead,
			"mydumper 0.10 does not find a database whose name is not ASCII: No database selected")
	}
	if columns := s.columns(ctx, "EXTRA LIKE '%DEFAULT_GENERATED%'"); columns != "" {
		e.Fail("defaults", instead, "mydumper 0.10 leaves out the values of columns whose default is an expression, "+
			"CURRENT_TIMESTAMP among them: %s", columns)
	}
}

// columns returns the first of the database's columns that meet a condition.
func (s *innodbBackups) columns(ctx context.Context, where string) string {
	all, err := dialect.Column(ctx, s.DB, "SELECT CONCAT(TABLE_NAME, '.', COLUMN_NAME) FROM information_schema.COLUMNS WHERE "+where+
		" AND TABLE_SCHEMA = "+dialect.Literal(s.target.Database)+" ORDER BY 1 LIMIT 10")
	if err != nil {
		return "" // the comparison after the restore finds what is lost
	}
	return strings.Join(all, ", ")
}

// unrestored refuses what MariaDB does not accept in the form that mydumper writes.
func (s *innodbBackups) unrestored(ctx context.Context, e *findings.Examination) {
	// mydumper writes their texts as binary strings, which MariaDB takes for the 4 or 16 bytes themselves.
	if columns := s.columns(ctx, "DATA_TYPE IN ('uuid', 'inet4', 'inet6')"); columns != "" {
		e.Fail("types of columns", InnoDB{s.product}.insteadOf(), "what mydumper 0.10 writes of columns of types uuid, "+
			"inet4 and inet6 cannot be restored: %s", columns)
	}
}

// checkCode checks that the files contain all triggers, routines and events that the account sees.
func (o *innodbTool) checkCode(ctx context.Context, from string) error {
	text, err := os.ReadFile(filepath.Join(from, codeFile))
	if err != nil {
		return err
	}
	routines, err := os.ReadFile(filepath.Join(from, routineFile))
	if err != nil {
		return err
	}
	text = append(text, routines...)
	of := dialect.Literal(o.server.target.Database)
	names, err := dialect.Column(ctx, o.server.DB, "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = "+of+
		" UNION ALL SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = "+of+
		" UNION ALL SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = "+of)
	if err != nil {
		return o.server.Explain(err)
	}
	for _, name := range names {
		if !strings.Contains(string(text), name) && !strings.Contains(string(text), dialect.Ident(name)) {
			return fmt.Errorf("%w: %s, a trigger, routine or event, is not in it", filewise.ErrCheck, name)
		}
	}
	return nil
}
