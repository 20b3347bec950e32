package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/innodb/client"
	"filewise/engine/innodb/dialect"
	"filewise/engine/userbackup"
	"filewise/internal/findings"
	"filewise/internal/shell"
)

// InnoDB backs up users' databases with mydumper, or with the product's own program, on this machine.
type InnoDB struct{ Product *dialect.Product }

// innodbServer is an opened server on which Filewise makes and drops marked databases.
type innodbServer interface {
	filewise.ExternalServer
	Care() client.Care
	ExamineRights(*findings.Examination)
	ExamineActivity(context.Context, *findings.Examination)
	MakeDatabase(context.Context) (name string, drop func(context.Context) error, err error)
}

// innodbBackups is an existing server on which a user's database is backed up, by mydumper on this machine. Filewise only
// reads that database. It restores to a database with a marked name.
type innodbBackups struct {
	innodbServer
	client.Care
	product *dialect.Product
	target  filewise.Target // its volumes are directories on this machine
}

// OpenOwn opens the server of a user's database.
func (i InnoDB) OpenOwn(ctx context.Context, e filewise.Engine, t filewise.Target) (filewise.Server, error) {
	there := t
	there.Volumes, there.Database = []filewise.Volume{{Name: "default"}}, ""
	if _, err := mydumperPrograms(); err != nil {
		return nil, err
	}
	if _, err := client.Dumpers.Find(i.Product); err != nil {
		return nil, err
	}
	opened, err := e.Open(ctx, there)
	if err != nil {
		return nil, err
	}
	on := opened.(innodbServer)
	return &innodbBackups{on, on.Care(), i.Product, t}, nil
}

// mydumperPrograms returns the paths of mydumper and myloader.
func mydumperPrograms() (paths [2]string, err error) {
	if paths[0], err = dialect.Mydumper.Find(""); err == nil {
		paths[1], err = dialect.Myloader.Find("")
	}
	return paths, err
}

// bytes returns the size of the tables.
func (s *innodbBackups) bytes(ctx context.Context) (n int64, err error) {
	err = s.DB.QueryRowContext(ctx, "SELECT COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) FROM information_schema.TABLES "+
		"WHERE TABLE_SCHEMA = ?", s.target.Database).Scan(&n)
	return n, s.Explain(err)
}

// BackupSize returns the size of the tables to back up.
func (s *innodbBackups) BackupSize(ctx context.Context) (filewise.BackupSize, error) {
	parts, whole := map[string]int64{}, int64(0)
	err := dialect.Each(ctx, s.DB, func(scan dialect.Scan) error {
		var name string
		var n int64
		err := scan(&name, &n)
		parts[name], whole = n, whole+n
		return err
	}, "SELECT TABLE_NAME, COALESCE(DATA_LENGTH, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE IN "+
		"('BASE TABLE', 'SYSTEM VERSIONED')", s.target.Database)
	if err != nil {
		return filewise.BackupSize{}, s.Explain(err)
	}
	return userbackup.SizeOf(s.target, parts, whole)
}

// Facts returns facts about the server and the database, and how long a statement takes while no backup runs.
func (s *innodbBackups) Facts(ctx context.Context) ([]filewise.Fact, error) {
	all, err := s.innodbServer.Facts(ctx)
	if err != nil {
		return nil, err
	}
	bytes, err := s.bytes(ctx)
	if err != nil {
		return nil, err
	}
	paths, err := mydumperPrograms()
	if err != nil {
		return nil, err
	}
	more, err := userbackup.Facts(ctx, s.target.Database, bytes, paths[0], s.probes())
	return append(all, more...), err
}

// Offers returns what an external server offers, and backups.
func (s *innodbBackups) Offers() map[filewise.Capability]error {
	all := s.innodbServer.Offers()
	all[filewise.CanBackup] = nil
	return all
}

// dumpRights lists the rights that a dump needs in addition to the rights on Filewise's own databases.
const dumpRights = "SELECT, SHOW VIEW, TRIGGER, EVENT, LOCK TABLES"

// Examine checks whether there is space for a backup here, and whether a backup can be restored and compared.
func (s *innodbBackups) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	e := &findings.Examination{Demand: d}
	e.OK("version", "%s", s.Server)
	s.ExamineRights(e)
	if !s.Global["RELOAD"] && byMydumper(d.Layouts) {
		e.Fail("right RELOAD", s.Grant([]string{"RELOAD"}, "*.*")+"; "+s.Grant([]string{dumpRights}, dialect.Ident(s.target.Database)+".*"),
			"the account does not have it: mydumper locks all tables for the moment in which its threads begin")
	}
	if !s.OnOurs("REFERENCES") {
		e.Warn("right REFERENCES", s.Grant([]string{"REFERENCES"}, s.Ours), "the account does not have it on databases of Filewise's: "+
			"a backup with foreign keys cannot be restored and compared")
	}
	s.seesCode(ctx, e, d.Layouts)
	s.ExamineActivity(ctx, e)
	e.Leftovers(ctx, s, s.target.Address.String())
	bytes, err := s.bytes(ctx)
	switch {
	case err != nil:
		e.Unseen("size of the database", err)
		return e.Findings
	case bytes == 0:
		e.Fail("database", "check its name, and the account's right to SELECT there", "%s has no tables that the account sees",
			s.target.Database)
	}
	userbackup.CheckSpace(e, s.target.Volumes, bytes)
	return e.Findings
}

// Build returns a database that offers only backups. It builds nothing.
func (s *innodbBackups) Build(_ context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if err := (InnoDB{s.product}).check(s.target, l, p); err != nil {
		return nil, err
	}
	return userbackup.Database(s.target, l, &innodbTool{server: s, layout: l, proof: p.Restores()}, s.probes()), nil
}

// probes returns the probe that counts the statements of others, except statements that backups use.
func (s *innodbBackups) probes() []filewise.Probe {
	if !s.Instrumented {
		return nil
	}
	const query = "SELECT COALESCE(SUM(COUNT_STAR), 0), COALESCE(SUM(SUM_TIMER_WAIT), 0) FROM " +
		"performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = ? AND DIGEST_TEXT REGEXP '^(SELECT|INSERT|UPDATE|DELETE|" +
		"REPLACE|CALL|WITH)' AND DIGEST_TEXT NOT REGEXP 'SQL_NO_CACHE|^SELECT \\\\* FROM [^ ]+ \\\\. [^ ]+ ?$|information_schema'"
	read := userbackup.Work(func(ctx context.Context) (calls, seconds float64, err error) {
		err = s.DB.QueryRowContext(ctx, query, s.target.Database).Scan(&calls, &seconds)
		return calls, seconds * dialect.Picosecond, s.Explain(err)
	})
	if _, err := read.Read(context.Background()); err != nil { // the account may lack the right
		return nil
	}
	return []filewise.Probe{read}
}

// mydumperOptions lists the options of mydumper.
var mydumperOptions = []filewise.BackupOption{
	{Name: "compress", Words: "no, as usual, or yes, by gzip", Check: filewise.OneOf("no", "yes")},
	{Name: "rows", Words: "how many rows a piece of a table has, 1000 to 1000000000, or 0: the whole table; a job takes a piece",
		Check: func(v string) error {
			n, err := strconv.Atoi(v)
			if err == nil && n != 0 && (n < 1000 || n > 1_000_000_000) {
				err = errors.New("it is neither 0 nor between 1000 and 1000000000")
			}
			return err
		}},
}

const (
	mostInnoDBJobs = 64
	mydumperBytes  = 16 << 20 // a statement being written, a row, and the compressor
)

func (i InnoDB) check(t filewise.Target, l filewise.Layout, p filewise.Program) error {
	tool := filewise.BackupOption{Name: optionTool, Words: toolMydumper + ", as usual, or " + i.ownProgram() + ", which writes one stream",
		Check: filewise.OneOf(toolMydumper, i.ownProgram())}
	if err := userbackup.Check(t, l, p, append([]filewise.BackupOption{tool}, mydumperOptions...), mostInnoDBJobs, mydumperBytes); err != nil {
		return err
	}
	return i.checkStream(l)
}

// mydumperArguments returns mydumper's arguments for a layout. All InnoDB tables are dumped in one snapshot, for which all tables
// are locked until mydumper's threads have begun.
func mydumperArguments(t filewise.Target, l filewise.Layout) []string {
	args := []string{"--database=" + t.Database, "--threads=" + strconv.Itoa(l.Backup.Files), "--trx-consistency-only"}
	if v, _ := l.BackupOptions.Get("compress"); v == "yes" {
		args = append(args, "--compress")
	}
	if v, _ := l.BackupOptions.Get("rows"); inPieces(l) {
		args = append(args, "--rows="+v)
	}
	if t.Part != nil {
		names := filewise.Each(t.Part, func(name string) string { return regexp.QuoteMeta(t.Database + "." + name) })
		args = append(args, "--regex=^("+strings.Join(names, "|")+")$")
	}
	return args
}

// inPieces reports whether mydumper divides tables into pieces.
func inPieces(l filewise.Layout) bool {
	v, _ := l.BackupOptions.Get("rows")
	return v != "" && v != "0"
}

// loaders returns the number of threads for a restore by myloader, which loads without checking unique and foreign
// keys. MariaDB from 10.6 on then lets the first insert lock an empty table (bulk insert). Threads that load pieces of
// one table could wait for each other, so one thread loads them.
func (i InnoDB) loaders(l filewise.Layout) string {
	if inPieces(l) && i.Product == dialect.MariaDB {
		return "--threads=1"
	}
	return "--threads=" + strconv.Itoa(l.Backup.Files)
}

// OwnStatements describes what a trial on a user's database executes.
func (i InnoDB) OwnStatements(t filewise.Target, l filewise.Layout, p filewise.Program) (out filewise.Statements, err error) {
	place, err := client.Mydumper(i.Product, *t.Address)
	if err != nil {
		return out, err
	}
	if err := i.check(t, l, p); err != nil {
		return out, err
	}
	text := "SELECT * FROM each table, over " + filewise.Counted(l.Backup.Files, "connection")
	switch {
	case writesStream(l):
		text = shell.Quoted(slices.Concat([]string{i.ownProgram()}, place, streamArgs(t)))
	case !l.Discard:
		text = shell.Quoted(append(append([]string{"mydumper"}, place...), append(mydumperArguments(t, l),
			"--outputdir="+filepath.Join(userbackup.Volume(t, l).Dir, "backup"))...))
	}
	out.Steps = []filewise.Step{{Stage: filewise.StageMeasure, On: shell.Place, SQL: text}}
	return out, nil
}

// BackupArms returns what to compare: compression, and tables whole or in pieces.
func (i InnoDB) BackupArms(filewise.Target, filewise.Program) ([]string, error) {
	return []string{"compress=no,yes", "rows=0,100000"}, nil
}

// BackupScript returns a script with a dump by mydumper and its restore by myloader. The server's own programs dump and
// restore the code.
func (i InnoDB) BackupScript(t filewise.Target, l filewise.Layout, p filewise.Program) (out filewise.BackupScript, err error) {
	if err := i.check(t, l, p); err != nil {
		return out, err
	}
	place, err := client.Mydumper(i.Product, *t.Address)
	if err != nil {
		return out, err
	}
	codePlace, err := client.Place(i.Product, *t.Address)
	if err != nil {
		return out, err
	}
	code := func(name string, args ...string) string {
		return shell.Quoted(slices.Concat([]string{name}, codePlace, args))
	}
	moment := "All tables are locked for the moment in which mydumper's threads begin (FLUSH TABLES WITH READ LOCK)."
	if writesStream(l) {
		moment = "InnoDB's tables are of one moment, for which nothing is locked (--single-transaction)."
	}
	out.Notes = []string{"It holds this database only: accounts are the server's, and are not in it.",
		"The password is MYSQL_PWD, or in ~/.my.cnf.", moment,
		"Routines are in its file " + routineFile + ", triggers and events in " + codeFile + "; a " +
			"trigger or event that names the database keeps that name."}
	if inPieces(l) && i.Product == dialect.MariaDB {
		out.Notes = append(out.Notes,
			"myloader has one thread: MariaDB from 10.6 on locks an empty table for the first that inserts, and threads "+
				"with pieces of it can deadlock.")
	}
	program := func(name, home string, args ...string) string {
		return `MYSQL_HOME="$` + home + `" ` + readsUTF8 + " " + shell.Quoted(append(append([]string{name}, place...), args...))
	}
	dump := func(file string) string {
		return code(client.Dumpers[i.Product.Name].Names[0], codeArgs(file, t.Database)...) + ` > "$to/` + file + `"`
	}
	// Each product's client has its name.
	load := func(file string) string { return code(i.Product.Name) + ` "$@" "$database" < "$from/` + file + `"` }
	if writesStream(l) {
		lines, restore := i.streamLines(l, t.Database, codePlace)
		out.Backup = slices.Concat([]string{`mkdir -p "$to"`}, lines, []string{dump(routineFile), dump(codeFile)})
		out.Restore = []string{load(routineFile), restore, load(codeFile)}
		return out, nil
	}
	out.Backup = []string{`mkdir -p "$to"`, `printf '%s\n' ` + shell.Quoted(strings.Split(mydumperFile, "\n")) + ` > "$to/my.cnf"`,
		program("mydumper", "to", mydumperArguments(t, l)...) + ` --outputdir="$to" "$@"`, dump(routineFile), dump(codeFile)}
	out.Restore = []string{load(routineFile),
		program("myloader", "from", "--source-db="+t.Database, i.loaders(l)) +
			` --database="$database" --directory="$from" "$@"`, load(codeFile)}
	return out, nil
}

// readsUTF8 makes GLib take names as they are, because these programs set no locale.
const readsUTF8 = "CHARSET=UTF-8"

// mydumperFile is the option file of mydumper and myloader. Without it they would read the machine's. Zero dates are
// restored unchanged, and quotes mean the same in a dump and its restore, whatever the server's SQL mode.
const mydumperFile = "[client]\ninit-command=\"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'\""

func writeMydumperFile(dir string) (string, error) {
	path := filepath.Join(dir, "my.cnf")
	return path, os.WriteFile(path, []byte(mydumperFile+"\n"), 0o600)
}

// namesOriginal reports whether a trial restore must leave a file of a dump out: a copy's views can name the original.
func namesOriginal(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), "-schema-view.sql")
}
