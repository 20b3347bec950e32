package managed

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/builds"
	"filewise/engine/internal/dumpfile"
)

const dumpPrograms = "mariadb-dump, mysqldump or mydumper"

// CheckDump reads a program's dump, and refuses layouts that cannot hold its tables.
func (e Engine) CheckDump(ctx context.Context, t filewise.Target, layouts []filewise.Layout, p filewise.Program) error {
	all, database := map[string]definition{}, ""
	err := eachStatement(ctx, "reading", p.Custom.From, func(text string) error {
		if m := uses.FindStringSubmatch(text); m != nil {
			if database != "" && database != m[1] {
				return errSeveral
			}
			database = m[1]
		}
		d, is := define(text)
		if is {
			all[d.name] = d
		} else if createsTable.MatchString(text) {
			return dumpfile.NotWritten(dumpPrograms, "its CREATE TABLE is not in their form: %.60q", text)
		}
		return nil
	})
	if len(all) == 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) { // a file of rows is one statement that does not end
		err = dumpfile.NotWritten(dumpPrograms, "there is no CREATE TABLE in it")
	}
	if err == nil {
		err = dumpfile.CheckTables(p.Custom, func(name string) bool { return all[name].name != "" }, "")
	}
	for _, l := range layouts {
		if err != nil {
			break
		}
		var d *design
		if d, err = newDesign(e.Product, t, l, p, builds.First); err == nil {
			err = d.holds(all)
		}
	}
	return dumpfile.Failed(p.Custom.From, dumpPrograms, err)
}

var (
	createsTable = regexp.MustCompile(`(?i)^\s*CREATE\s+TABLE\b`)
	sets         = regexp.MustCompile(`^(/\*!\d+ )?SET `)
)

// holds refuses tables that a layout cannot hold.
func (d *design) holds(all map[string]definition) error {
	if d.isSystem() {
		return nil
	}
	why := map[string]error{}
	for _, t := range d.Program.Custom.Tables {
		why[t.Name] = d.holdsTable(t, all)
	}
	return dumpfile.Refused(d.Program.Custom.Tables, why, func(name string) bool { return all[name].name != "" }, filewise.KindPerTable)
}

func (d *design) holdsTable(t filewise.CustomTable, all map[string]definition) error {
	def := all[t.Name]
	switch {
	case def.engine != "InnoDB" && def.engine != "": // --compatible=ansi writes no engine
		return dumpfile.Refuse("table %s is of engine %s, whose files the layout does not place", t.Name, def.engine)
	case def.divided:
		return dumpfile.Refuse("table %s is divided into partitions already", t.Name)
	case len(d.Spaces) > 0 && def.packed:
		return dumpfile.Refuse("table %s has compressed rows, which general tablespaces do not take", t.Name)
	case d.Layout.Kind != filewise.KindPartitions:
		return nil
	case len(def.other) > 0:
		return dumpfile.Refuse("table %s cannot be divided: %s", t.Name, strings.Join(def.other, "; "))
	}
	for _, key := range def.keys {
		if err := dumpfile.CheckKey(t, key); err != nil {
			return err
		}
	}
	for _, from := range all {
		for _, to := range from.refers {
			if from.name == t.Name || to == t.Name {
				return dumpfile.Refuse("table %s cannot be divided: InnoDB has no foreign keys from or to partitioned tables, and table %s "+
					"refers to %s", t.Name, from.name, to)
			}
		}
	}
	return nil
}

// eachStatement calls each for every statement of a dump. It reads and unpacks the next statements while the server
// executes one.
func eachStatement(ctx context.Context, what, path string, each func(text string) error) (err error) {
	in, err := openDump(path)
	if err != nil {
		return err
	}
	step := dumpfile.Shown(ctx, what, path)
	defer step.End()
	type read struct {
		text string
		err  error
	}
	ahead, stop := make(chan read, 2), make(chan struct{})
	go func() {
		defer close(ahead)
		all := statements{in: bufio.NewReaderSize(step.Reader(in), 1<<20), delimiter: ";"}
		for {
			text, err := all.next()
			select {
			case ahead <- read{text, err}:
			case <-stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for r := range ahead {
		if errors.Is(r.err, io.EOF) {
			break
		}
		if err = r.err; err == nil {
			err = each(r.text)
		}
		if err != nil {
			break
		}
	}
	close(stop)
	for range ahead { // until the reader has stopped
	}
	return errors.Join(err, in.Close())
}

// restoreDump fills the database from the dump that a study names.
func (i *instance) restoreDump(ctx context.Context) error {
	control := i.pool(Database)
	defer control.Close()
	conn, err := control.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	r := restorer{design: i.design, conn: conn, tables: map[string]definition{}}
	err = r.exec(ctx, "SET SESSION sql_log_bin = 0, foreign_key_checks = 0, unique_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
	if err == nil {
		err = eachStatement(ctx, "loading", i.design.Program.Custom.From, func(text string) error {
			placed, err := r.placed(text)
			if r.binary && strings.HasPrefix(placed, "CREATE TABLE ") {
				err = errors.Join(err, r.exec(ctx, "SET NAMES utf8mb4"))
			}
			if placed == "" || err != nil {
				return err
			}
			return r.make(ctx, placed)
		})
	}
	if err == nil && len(r.late) > 0 {
		err = r.late[0].failed
	}
	if err == nil {
		err = r.analyze(ctx)
	}
	return dumpfile.Failed(i.design.Program.Custom.From, dumpPrograms, err)
}

// restorer executes a dump's statements.
type restorer struct {
	design   *design
	conn     *sql.Conn
	database string                // the database that the dump uses; "" if it names none
	binary   bool                  // mydumper makes the server read definitions as bytes, which garbles names of foreign keys
	tables   map[string]definition // tables with generated columns
	late     []late
}

// late is a table or view that needs something further on in the dump. mydumper writes tables before their sequences
// and views before their functions. All programs order views by name, and CHECK OPTION refuses a view on another one
// whose stand-in is still there.
type late struct {
	text, letters, order string // order is the connection's collation; views remember it and their character set
	failed               error
}

var (
	// makes matches statements that can be executed later than in the dump.
	makes  = regexp.MustCompile("^(?:/\\*!50001 )?CREATE (?:TABLE |(?s:.*?)\\bVIEW )`")
	uses   = regexp.MustCompile("^USE `((?:[^`]|``)*)`$")
	alters = regexp.MustCompile("^(?:ALTER DATABASE|CREATE DATABASE(?: /\\*!\\d+ IF NOT EXISTS ?\\*/)?) `((?:[^`]|``)*)`")
	// apart matches statements about things outside the database: accounts, replication, other databases. It also matches
	// table locks, under which MariaDB draws no default from a sequence.
	apart = regexp.MustCompile(`^(/\*!\d+ )?(LOCK TABLES|UNLOCK TABLES|DROP DATABASE|CREATE USER|CREATE ROLE|GRANT|REVOKE|SET PASSWORD|` +
		`SET DEFAULT ROLE|CHANGE MASTER|CHANGE REPLICATION|SET @@GLOBAL|SET GLOBAL|INSTALL |CREATE SERVER)`)
	// definer matches an account that a managed server does not have.
	definer = regexp.MustCompile("DEFINER ?= ?`(?:[^`]|``)*`@`(?:[^`]|``)*`")
	// places matches where a table's files lie: directories, or MySQL's tablespace, which a dump does not make.
	places = regexp.MustCompile(" (?:DATA|INDEX) DIRECTORY ?= ?'(?:[^']|'')*'| /\\*!50100 TABLESPACE `(?:[^`]|``)*` \\*/")
)

// placed returns a statement as this layout needs it, or "" to leave it out.
func (r *restorer) placed(text string) (string, error) {
	if strings.HasPrefix(text, "INSERT ") {
		return r.making(text), nil
	}
	if m := uses.FindStringSubmatch(text); m != nil {
		if r.database != "" && r.database != m[1] {
			return "", errSeveral
		}
		r.database = m[1]
		return "", nil
	}
	if apart.MatchString(text) {
		return "", nil
	}
	text = r.moved(text)
	if at := definer.FindStringIndex(text); at != nil {
		return text[:at[0]] + text[at[1]:], nil
	}
	def, is := define(text)
	if !is {
		if strings.Contains(text, "SET NAMES ") {
			r.binary = strings.Contains(text, "SET NAMES binary")
		}
		if m := alters.FindStringSubmatch(text); m != nil { // its words about character sets
			r.database = cmp.Or(r.database, m[1])
			if text = text[len(m[0]):]; strings.TrimSpace(text) != "" {
				text = "ALTER DATABASE " + dialect.Ident(Database) + text
			}
		}
		return text, nil
	}
	if len(def.made) > 0 {
		r.tables[def.name] = def
	}
	// The places of the original's files do not apply to a build.
	text = text[:def.tail] + places.ReplaceAllLiteralString(text[def.tail:], "")
	for n, t := range r.design.Program.Custom.Tables {
		if t.Name == def.name && !r.design.isSystem() {
			options := r.design.Tables[n].Options
			if !whole.MatchString(def.types[t.Key]) {
				options = strings.Replace(options, "PARTITION BY HASH", "PARTITION BY KEY", 1)
			}
			text += options
		}
	}
	return text, nil
}

// moved replaces the original database's name in a definition by the build's. Servers write it before sequences in
// defaults and functions in views, and people before tables. A table can have the same name.
func (r *restorer) moved(text string) string {
	name := strings.ReplaceAll(r.database, "``", "`")
	if name == "" || !strings.Contains(text, r.database) {
		return text
	}
	all := definitionTokens(text)
	at := func(i int) string {
		if i < 0 || i >= len(all) || all[i].Quoted {
			return ""
		}
		return all[i].Text
	}
	before := func(i int) int {
		for i--; i >= 0 && all[i].Gap; {
			i--
		}
		return i
	}
	var b strings.Builder
	for i, t := range all {
		last := before(i)
		called := at(last) == "(" && slices.Contains([]string{"NEXTVAL", "LASTVAL", "SETVAL"}, at(before(last)))
		named := slices.Contains([]string{"FROM", "JOIN", "INTO", "UPDATE", "TABLE", "CALL", "FOR"}, at(last))
		if (t.Raw == name || t.Raw == dialect.Ident(name)) && at(i+1) == "." && at(last) != "." &&
			(called || named || at(i+3) == "(" || at(i+3) == ".") {
			t.Raw = dialect.Ident(Database)
		}
		b.WriteString(t.Raw)
	}
	return b.String()
}

var versioned = regexp.MustCompile(`^/\*M?!\d*`)

// definitionTokens returns a text's tokens, including those in comments that servers execute.
func definitionTokens(text string) (all []customsql.Token) {
	for _, t := range dialect.CustomRules.Tokens(text) {
		if head := versioned.FindString(t.Raw); head != "" && t.Gap {
			all = append(append(all, customsql.Token{Raw: head, Gap: true}), definitionTokens(t.Raw[len(head):])...)
			continue
		}
		all = append(all, t)
	}
	return all
}

// make executes a statement, and then the late statements that it makes possible.
func (r *restorer) make(ctx context.Context, text string) error {
	err := r.exec(ctx, text)
	switch {
	case err != nil && makes.MatchString(text):
		l := late{text: text, failed: err}
		err = r.conn.QueryRowContext(ctx, "SELECT @@character_set_client, @@collation_connection").Scan(&l.letters, &l.order)
		r.late = append(r.late, l)
		return err
	case err != nil && len(r.late) > 0: // a late statement may be the cause
		return r.late[0].failed
	case err != nil || len(r.late) == 0 || !strings.Contains(text, "CREATE "):
		return err
	}
	return r.makeLate(ctx)
}

// makeLate executes the late statements that can be executed now.
func (r *restorer) makeLate(ctx context.Context) error {
	var now late
	err := r.conn.QueryRowContext(ctx, "SELECT @@character_set_client, @@collation_connection").Scan(&now.letters, &now.order)
	for left := -1; err == nil && len(r.late) != left; {
		left = len(r.late)
		r.late = slices.DeleteFunc(r.late, func(l late) bool {
			return r.speaks(ctx, l) == nil && r.exec(ctx, l.text) == nil
		})
	}
	return errors.Join(err, r.speaks(ctx, now))
}

// speaks sets the connection's character set and collation for a late statement.
func (r *restorer) speaks(ctx context.Context, as late) error {
	return r.exec(ctx, "SET character_set_client = "+as.letters+", collation_connection = "+as.order)
}

func (r *restorer) exec(ctx context.Context, text string) error {
	_, err := r.conn.ExecContext(ctx, text)
	if n, _ := dialect.Number(err); n == 1193 && sets.MatchString(text) { // ER_UNKNOWN_SYSTEM_VARIABLE: another release's variable
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %.200s", err, text)
	}
	return nil
}

// analyze gathers statistics. Otherwise the server would do that at some time during trials.
func (r *restorer) analyze(ctx context.Context) error {
	names, err := dialect.Column(ctx, r.conn, "SELECT TABLE_NAME FROM information_schema.TABLES "+
		"WHERE TABLE_SCHEMA = "+dialect.Literal(Database)+" AND TABLE_TYPE = 'BASE TABLE'")
	for some := range slices.Chunk(names, 1000) { // a statement with many more would be too long
		err = errors.Join(err, r.exec(ctx, "ANALYZE LOCAL TABLE "+strings.Join(filewise.Each(some, dialect.Ident), ", ")))
	}
	return err
}
