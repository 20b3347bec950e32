package backup

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/innodb"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/servertest"
	"filewise/engine/userbackup"
	"filewise/internal/longtest"
	"filewise/internal/marker"
	"filewise/lab/workload"
)

// innodbServed is a server with databases of others.
type innodbServed struct {
	*servertest.Server
	engine  innodb.Engine
	product *dialect.Product
}

func (b innodbServed) care() InnoDB { return InnoDB{b.product} }

// TestServer backs up a user's database on a server of each product. What is not Filewise's is the same before and after.
func TestServer(t *testing.T) {
	products := map[innodb.Engine]servertest.Product{innodb.MariaDB: servertest.MariaDB}
	if longtest.Wanted() {
		products[innodb.MySQL] = servertest.MySQL
	}
	for e, p := range products {
		t.Run(e.Name(), func(t *testing.T) {
			b := innodbServed{servertest.Start(t, p), e, e.Product()}
			b.Populate(t, e.Describe().Rights)
			before := b.Others(t)
			t.Run("Backup", func(t *testing.T) { testBackup(t, b) })
			servertest.Same(t, before, b.Others(t))
		})
	}
}

func deadline(t *testing.T) context.Context { return enginetest.Within(t, 2*time.Minute) }

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
}

// grant returns the GRANT for the account of the description's rights.
func grant(rights, on string) string { return "GRANT " + rights + " ON " + on + " TO `filewise`@`%`" }

// part: of a part that table alone is dumped, by either program, and a part that is not there is refused.
func (b innodbServed) part(t *testing.T, target filewise.Target, layout filewise.Layout) {
	t.Helper()
	target.Part = []string{"order lines"}
	opened, err := b.care().OpenOwn(deadline(t), b.engine, target)
	fatal(t, err)
	server := opened.(*innodbBackups)
	defer func() { fatal(t, server.Close()) }()
	for _, dumped := range [][2]string{{toolMydumper, "INSERT INTO `order lines`"}, {b.care().ownProgram(), "INSERT INTO `order lines`"}} {
		l := layout
		l.BackupOptions = filewise.BackupOptions("").With(optionTool, dumped[0])
		if writesStream(l) {
			l.Backup.Files = 1
		}
		db := userbackup.Database(target, l, &innodbTool{server: server, layout: l}, nil)
		files, err := db.Backup.Backup(deadline(t))
		fatal(t, err)
		all := ""
		for _, f := range files {
			text, err := os.ReadFile(f.Path)
			fatal(t, err)
			all += string(text)
		}
		if strings.Contains(all, "INSERT INTO `orders`") || !strings.Contains(all, dumped[1]) {
			t.Errorf("by %s: %s", dumped[0], all)
		}
		fatal(t, db.Drop(deadline(t)))
	}
	size, err := server.BackupSize(deadline(t))
	if err != nil || size.Bytes <= 0 || size.Bytes >= size.Whole {
		t.Errorf("the part takes %+v: %v", size, err)
	}
	server.target.Part = []string{"order liens"}
	if _, err := server.BackupSize(deadline(t)); err == nil || !strings.Contains(filewise.RemedyOf(err), "order lines") {
		t.Errorf("a table that is not there: %v", err)
	}
}

// testBackup: a database of the user's is backed up, restored to a marked name without what
// could write to the original, and compared; nothing of it changes, and the script makes and
// restores the same backup without Filewise.
func testBackup(t *testing.T, b innodbServed) {
	database := "mein lädchen"
	if b.product == dialect.MySQL { // which mydumper 0.10 asks for such a name in a character set that it does not say
		database = "mein laden"
	}
	odd := dialect.Ident(database)
	b.Exec(t, "CREATE DATABASE "+odd+" CHARACTER SET utf8mb4", "CREATE DATABASE again CHARACTER SET utf8mb4",
		"CREATE TABLE "+odd+".orders (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(50), raw VARBINARY(9), paid DECIMAL(9,2), "+
			"twice DECIMAL(9,2) AS (paid * 2) STORED, KEY (what))",
		"INSERT INTO "+odd+".orders (what, raw, paid) VALUES ('Öl', X'00ff27', 1.5), (NULL, NULL, 0), ('x''\\\\\\n', '', NULL)",
		"CREATE TABLE "+odd+".`order lines` (id INT PRIMARY KEY, `order` INT, "+
			"CONSTRAINT up FOREIGN KEY (`order`) REFERENCES "+odd+".orders (id))",
		"INSERT INTO "+odd+".`order lines` VALUES (1, 1), (2, 3)",
		"CREATE TRIGGER "+odd+".twin AFTER INSERT ON "+odd+".`order lines` FOR EACH ROW UPDATE "+
			odd+".orders SET paid = 7 WHERE id = 1",
		"CREATE EVENT "+odd+".`night;ly` ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 01:00:00' DO SELECT 1",
		"CREATE FUNCTION "+odd+".joined() RETURNS TEXT DETERMINISTIC RETURN 'a' || 'ö'",
		"CREATE VIEW "+odd+".late AS SELECT id, "+odd+".joined() AS said FROM "+odd+".orders")
	conn, err := b.Root.Conn(deadline(t))
	fatal(t, err)
	for _, s := range []string{"SET sql_mode = ''", "CREATE TABLE " + odd + ".born (day DATE NOT NULL DEFAULT '0000-00-00')",
		"INSERT INTO " + odd + ".born VALUES ()", "SET sql_mode = DEFAULT"} {
		_, err := conn.ExecContext(deadline(t), s)
		fatal(t, err)
	}
	fatal(t, conn.Close())
	seesCode := grant("SELECT", "mysql.proc")
	if b.product == dialect.MySQL {
		seesCode = grant("SHOW_ROUTINE", "*.*")
	}
	b.Account(t, "keeper", append(b.engine.Describe().Rights, seesCode, grant("RELOAD, REPLICATION CLIENT", "*.*"),
		grant("REFERENCES", "`filewise\\_%`.*"),
		grant(dumpRights+", EXECUTE", odd+".*")))
	defer b.Exec(t, "DROP DATABASE "+odd, "DROP DATABASE again", "DROP USER keeper")
	before := b.Dump(t, database)
	code := b.code(t, database)
	target := b.Target("keeper", filewise.Volume{Name: "a", Dir: t.TempDir()}, filewise.Volume{Name: "b", Dir: t.TempDir()})
	target.Database = database
	server, err := b.care().OpenOwn(deadline(t), b.engine, target)
	fatal(t, err)
	defer func() { fatal(t, server.Close()) }()
	for _, found := range server.(filewise.ExternalServer).Examine(deadline(t), filewise.Demand{}) {
		if found.Status == filewise.StatusFailed || found.Check == "routines" || found.Check == "views" {
			t.Errorf("%+v", found)
		}
	}
	warned := func(check, detail string) bool {
		return slices.ContainsFunc(server.(filewise.ExternalServer).Examine(deadline(t), filewise.Demand{}), func(f filewise.Finding) bool {
			return f.Check == check && strings.Contains(f.Detail, detail)
		})
	}
	stamped := []string{"CREATE TABLE " + odd + ".`stam``ped` (at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, h INT INVISIBLE)"}
	if b.product == dialect.MariaDB {
		stamped = []string{"CREATE SEQUENCE " + odd + ".n",
			"CREATE TABLE " + odd + ".`stam``ped` (at INT DEFAULT NEXTVAL(" + odd + ".n), h INET6 INVISIBLE)"}
	}
	b.Exec(t, append(stamped, "CREATE DEFINER = gone@nowhere VIEW "+odd+".lost AS SELECT id FROM "+odd+".orders")...)
	if !warned("defaults", "stam`ped.at") || !warned("names of tables", "backtick in them: stam`ped") ||
		!warned("invisible columns", "stam`ped.h") || warned("types of columns", "stam`ped.h") != (b.product == dialect.MariaDB) {
		t.Error("nothing is said of a default, a name, and a column that mydumper does not take")
	}
	if !warned("views", "lost: ") {
		t.Error("nothing is said of a view whose definer is gone")
	}
	b.Exec(t, "DROP VIEW "+odd+".lost")
	b.streamed(t, target, server.(*innodbBackups))
	b.Exec(t, "DROP TABLE "+odd+".`stam``ped`", "DROP TABLE IF EXISTS "+odd+".n")
	layout := filewise.Layout{Name: "2 jobs", Kind: filewise.KindPerTable, Backup: filewise.Spread{Files: 2},
		BackupOptions: filewise.BackupOptions("").With("compress", "yes").With("volume", "b")}
	w, err := workload.NewDump(workload.Params{Own: true, Proof: true}, 1)
	fatal(t, err)
	tool := &innodbTool{server: server.(*innodbBackups), layout: layout, proof: true}
	db := userbackup.Database(target, layout, tool, nil)
	files, err := db.Backup.Backup(deadline(t))
	fatal(t, err)
	if len(files) < 4 || files[0].Volume != "b" {
		t.Errorf("the backup is %+v", files)
	}
	fatal(t, db.Backup.Restore(deadline(t)))
	fatal(t, db.Backup.Verify(deadline(t)))
	b.part(t, target, layout)
	if !marker.IsName(tool.restored) {
		t.Errorf("it was restored to %s", tool.restored)
	}
	restored := dialect.Ident(tool.restored)
	b.Exec(t, "INSERT INTO "+restored+".`order lines` VALUES (3, 2)") // whose trigger would write to the original
	err = db.Backup.Verify(deadline(t))
	if !errors.Is(err, filewise.ErrCheck) || !strings.Contains(err.Error(), "table order lines has 2 rows") {
		t.Errorf("a row too many: %v", err)
	}
	b.Exec(t, "DELETE FROM "+restored+".`order lines` WHERE id = 3", "UPDATE "+restored+".orders SET raw = NULL WHERE id = 3")
	if err := db.Backup.Verify(deadline(t)); !errors.Is(err, filewise.ErrCheck) || !strings.Contains(err.Error(), "table orders") {
		t.Errorf("a NULL for an empty value: %v", err)
	}
	tool.after["orders"] = innodbSum{"9", "1"} // it was written to while it was dumped
	fatal(t, db.Backup.Verify(deadline(t)))
	fatal(t, db.Drop(deadline(t)))
	thrown := layout
	thrown.Discard = true
	if db, err = server.Build(deadline(t), thrown, w.Program()); err == nil {
		files, err = db.Backup.Backup(deadline(t))
	}
	if err != nil || files != nil {
		t.Errorf("thrown away: %v, %v", files, err)
	}

	text, err := b.care().BackupScript(target, layout, w.Program())
	fatal(t, err)
	to := filepath.Join(t.TempDir(), "backup")
	for i, lines := range [][]string{text.Backup, text.Restore} {
		cmd := exec.CommandContext(deadline(t), "sh", "-euc", strings.Join(lines, "\n"), "sh", []string{"--verbose=2", "--user=root"}[i])
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MYSQL_PWD=" + []string{servertest.Password, ""}[i], "database=again", "to=" + to,
			"from=" + to, "HOME=" + t.TempDir()}
		if i == 1 { // its trigger names the database that it is of
			text, err := os.ReadFile(filepath.Join(to, codeFile))
			fatal(t, err)
			fatal(t, os.WriteFile(filepath.Join(to, codeFile), []byte(strings.ReplaceAll(string(text), odd+".", "")), 0o600))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, lines)
		}
	}
	inserts := func(database string) []string {
		return slices.DeleteFunc(b.Dump(t, database), func(l string) bool { return !strings.HasPrefix(l, "INSERT") })
	}
	if got := inserts("again"); len(got) != 6 || !slices.Equal(got, inserts(database)) {
		t.Errorf("the script restored %q", got)
	}
	b.Exec(t, "SELECT id FROM again.late")
	servertest.Same(t, before, b.Dump(t, database))
	again := strings.ReplaceAll(b.code(t, "again"), "again", database)
	code = strings.ReplaceAll(code, odd+".", "")
	if again != code || !strings.Contains(code, "night;ly") || !strings.Contains(code, "joined") {
		t.Errorf("triggers, routines and events, with what they go by:\n%s\nrestored\n%s", code, again)
	}
	fatal(t, os.WriteFile(filepath.Join(to, codeFile), []byte("CREATE FUNCTION `joined`"), 0o600))
	if err := tool.checkCode(deadline(t), to); !errors.Is(err, filewise.ErrCheck) {
		t.Errorf("a backup without its triggers: %v", err)
	}
}

// streamed: the product's own program takes what mydumper 0.10 loses.
func (b innodbServed) streamed(t *testing.T, target filewise.Target, s *innodbBackups) {
	t.Helper()
	odd := dialect.Ident(target.Database)
	b.Exec(t, "ALTER TABLE "+odd+".`stam``ped` ADD j JSON, ADD k INT")
	if b.product == dialect.MariaDB { // its sequence is the original's
		b.Exec(t, "ALTER TABLE "+odd+".`stam``ped` ALTER at DROP DEFAULT, MODIFY h INET6 INVISIBLE DEFAULT '::1'")
	}
	b.Exec(t, "INSERT INTO "+odd+".`stam``ped` (h, j, k) VALUES (NULL, '{\"ö\": [1]}', 1)")
	layout := filewise.Layout{Name: "1 job", Kind: filewise.KindPerTable, Backup: filewise.Spread{Files: 1},
		BackupOptions: filewise.BackupOptions("").With("compress", "yes").With(optionTool, b.care().ownProgram())}
	w, err := workload.NewDump(workload.Params{Own: true, Proof: true}, 1)
	fatal(t, err)
	failed := func() (all []string) {
		for _, f := range s.Examine(deadline(t), filewise.Demand{Layouts: []filewise.Layout{layout}}) {
			if f.Status == filewise.StatusFailed {
				all = append(all, f.Check)
			}
		}
		return all
	}
	if b.product == dialect.MySQL { // the program is MariaDB's
		if got := failed(); !slices.Equal(got, []string{"generated columns"}) {
			t.Errorf("generated columns of MySQL: %v", got)
		}
		b.Exec(t, "ALTER TABLE "+odd+".orders DROP COLUMN twice")
		defer b.Exec(t, "ALTER TABLE "+odd+".orders ADD twice DECIMAL(9,2) AS (paid * 2) STORED AFTER paid")
	}
	if got := failed(); got != nil {
		t.Errorf("refused: %v", got)
	}
	db, err := s.Build(deadline(t), layout, w.Program())
	fatal(t, err)
	_, err = db.Backup.Backup(deadline(t))
	fatal(t, err)
	fatal(t, db.Backup.Restore(deadline(t)))
	fatal(t, db.Backup.Verify(deadline(t)))
	b.Exec(t, "UPDATE "+odd+".`stam``ped` SET k = 2")
	fatal(t, db.Backup.Verify(deadline(t))) // the original may go on
	fatal(t, db.Drop(deadline(t)))
	text, err := b.care().BackupScript(target, layout, w.Program())
	fatal(t, err)
	to := filepath.Join(t.TempDir(), "backup")
	b.Exec(t, "CREATE DATABASE streamed CHARACTER SET utf8mb4")
	defer b.Exec(t, "DROP DATABASE streamed")
	for i, lines := range [][]string{text.Backup, text.Restore[:2]} { // its triggers name the database that they are of
		cmd := exec.CommandContext(deadline(t), "sh", append([]string{"-euc", strings.Join(lines, "\n"), "sh"},
			[]string{"--user=root"}[:i]...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MYSQL_PWD=" + []string{servertest.Password, ""}[i], "database=streamed", "to=" + to,
			"from=" + to, "HOME=" + t.TempDir()}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, lines)
		}
	}
	rows := func(database string) []string {
		return slices.DeleteFunc(b.Dump(t, database), func(l string) bool { return !strings.HasPrefix(l, "INSERT") })
	}
	if got := rows("streamed"); len(got) != 7 || !slices.Equal(got, rows(target.Database)) {
		t.Errorf("the script restored %q", got)
	}
	pieces := filewise.Layout{Backup: filewise.Spread{Files: 4}, BackupOptions: "rows=100000"}
	if got := b.care().loaders(pieces); (got == "--threads=1") != (b.product == dialect.MariaDB) {
		t.Errorf("pieces of a table are loaded with %s", got)
	}
	layout.Backup.Files = 2
	if _, err := s.Build(deadline(t), layout, w.Program()); !errors.Is(err, filewise.ErrUnsupported) ||
		!strings.Contains(filewise.RemedyOf(err), "--files 1") {
		t.Errorf("two streams of one: %v; %s", err, filewise.RemedyOf(err))
	}
}

// code returns what triggers, routines and events of a database are, as the server's program has it.
func (b innodbServed) code(t *testing.T, database string) string {
	t.Helper()
	out, err := exec.CommandContext(deadline(t), "mariadb-dump", "--no-defaults", "--socket="+b.Socket, "--user=root", "--skip-dump-date",
		"--no-data", "--no-create-info", "--routines", "--events", database).Output()
	fatal(t, err)
	return string(out)
}
