package external

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/servertest"
	"filewise/own/apply"
)

const (
	oddDatabase = "mo`v'ed; --"
	oddTable    = "o'r\"d`ers\\; ü"
)

// testMigrate: the client of the server executes both scripts; the layout is there, all
// data are the same, and the way back leaves the database as it was.
func testMigrate(t *testing.T, b bench) {
	db, odd := dialect.Ident(oddDatabase), dialect.Ident(oddDatabase)+"."+dialect.Ident(oddTable)
	b.Exec(t, "CREATE DATABASE "+db+" CHARACTER SET utf8mb4",
		"CREATE TABLE "+odd+" (id BIGINT NOT NULL AUTO_INCREMENT, région CHAR(9) NOT NULL DEFAULT 'é''', body TEXT, n INT, "+
			"twice BIGINT AS (n * 2) STORED, PRIMARY KEY (région, id), UNIQUE KEY `u``k` (id), KEY (body(9))) COMMENT 'a''b' AUTO_INCREMENT=5",
		"INSERT INTO "+odd+" (région, body) VALUES ('r1', 'x\\\\'), ('r2', NULL), ('r3', 'é\\n'), ('r1', '')",
		"CREATE TABLE "+db+".codes (code VARCHAR(20) PRIMARY KEY, n INT)", "INSERT INTO "+db+".codes VALUES ('a', 1), ('b', 2), ('ü', 3)",
		"CREATE TABLE "+db+".emails (id INT PRIMARY KEY, email VARCHAR(50) UNIQUE, reply INT CHECK (reply > 0), "+
			"CONSTRAINT self FOREIGN KEY (reply) REFERENCES "+db+".emails (id) ON DELETE CASCADE)",
		"INSERT INTO "+db+".emails VALUES (0, 'a', NULL), (1, 'b', NULL), (2, 'c', 1)", "CREATE TABLE "+db+".heap (x INT)",
		"CREATE TABLE "+db+".parents (id INT PRIMARY KEY, body TEXT, FULLTEXT (body))",
		"CREATE TABLE "+db+".children (id INT PRIMARY KEY, parent INT, CONSTRAINT up FOREIGN KEY (parent) REFERENCES "+db+".parents (id))",
		"CREATE TABLE "+db+".replies (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES "+db+".emails (id))",
		"INSERT INTO "+db+".parents VALUES (1, 'x')", "INSERT INTO "+db+".children VALUES (1, 1)",
		"SET GLOBAL innodb_file_per_table = OFF", "CREATE TABLE "+db+".`tog-ether` (id INT PRIMARY KEY, x INT)",
		"SET GLOBAL innodb_file_per_table = ON", "INSERT INTO "+db+".`tog-ether` VALUES (1, 2)",
		"CREATE TRIGGER "+db+".stamp BEFORE INSERT ON "+odd+" FOR EACH ROW SET NEW.body = CONCAT(NEW.body, '!')",
		"CREATE VIEW "+db+".late AS SELECT id FROM "+odd+" WHERE body <> ''")
	defer b.Exec(t, "DROP DATABASE "+db)
	// WordPress has such, and the default sql_mode of MySQL takes no copy of it.
	b.client(t, oddDatabase, "SET sql_mode = ''; CREATE TABLE posts (id INT PRIMARY KEY, at DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00',"+
		" day DATE); INSERT INTO posts (id, day) VALUES (1, '2024-00-10'), (2, NULL);")
	before := b.Dump(t, oddDatabase)
	target := b.Target("root", filewise.Volume{Name: "default"}, filewise.Volume{Name: "far", Dir: b.volume})
	target.Address.Password = ""
	wish := filewise.Wish{Layout: layout(filewise.KindPartitions, 3), Database: oddDatabase,
		Tables: []string{oddTable, "codes", "posts"}, Run: 7}
	there, back := b.migration(t, target, wish)
	named := target
	address := *target.Address
	address.Path, named.Address = "shop", &address // as people write it: all of the server is looked at nevertheless
	i, err := lookAt(b, deadline(t), named)
	fatal(t, err)
	var partitioned, far int
	for _, g := range i.Groups {
		if g.Fill != filewise.FillPartitions || len(g.Files) != 3 || g.System {
			continue
		}
		partitioned++
		for _, f := range g.Files {
			if strings.HasPrefix(f.Path, b.volume) {
				far++
			}
		}
	}
	if partitioned != 3 || far != 3 {
		t.Errorf("%d tables of three partitions, %d of them on the other volume", partitioned, far)
	}
	inserts := func(lines []string) []string {
		return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.HasPrefix(l, "INSERT") })
	}
	if now := b.Dump(t, oddDatabase); !slices.Equal(inserts(now), inserts(before)) || len(inserts(before)) < 9 {
		t.Error("the data differ")
		servertest.Same(t, before, now)
	}
	b.client(t, oddDatabase, back)
	servertest.Same(t, before, b.Dump(t, oddDatabase))
	b.migrationRefused(t, target, wish)

	b.migrateWhole(t, target, wish)
	target.Volumes = target.Volumes[:1]
	wish.Layout, wish.Tables = layout(filewise.KindPerTable, 2), nil
	there, back = b.migration(t, target, wish)
	if !strings.Contains(there, "`tog-ether`") || strings.Contains(there, "codes") {
		t.Errorf("of all tables one lies in the system tablespace:\n%s", there)
	}
	if _, err := migrate(b, target, wish); err == nil || !strings.Contains(err.Error(), "nothing is to be done") {
		t.Errorf("no table lies in the system tablespace any more: %v", err)
	}
	b.client(t, oddDatabase, back)
	if m, err := migrate(b, target, wish); err != nil || len(m.Steps) != 1 {
		t.Errorf("the table does not lie in the system tablespace again: %v", err)
	}
	servertest.Same(t, before, b.Dump(t, oddDatabase))
}

// migrateWhole: tables that no partitions can have, without a key, with foreign keys and FULLTEXT, lie each on a volume.
func (b bench) migrateWhole(t *testing.T, target filewise.Target, wish filewise.Wish) {
	t.Helper()
	before := b.Dump(t, oddDatabase)
	wish.Layout, wish.Tables = layout(filewise.KindPerTable, 6), []string{"codes", "emails", "posts", "parents", "heap", "children"}
	_, back := b.migration(t, target, wish)
	far := filewise.Those(b.Dump(t, oddDatabase), func(l string) bool {
		return strings.Contains(l, "DATA DIRECTORY='"+b.volume) || strings.Contains(l, "TABLESPACE `volume_far_7`")
	})
	if len(far) != 3 {
		t.Errorf("on the other volume are %q", far)
	}
	if _, err := migrate(b, target, wish); err == nil || !strings.Contains(err.Error(), "nothing is to be done") {
		t.Errorf("the tables lie there already: %v", err)
	}
	b.client(t, oddDatabase, back)
	servertest.Same(t, before, b.Dump(t, oddDatabase))
	if _, err := b.Root.ExecContext(deadline(t), "INSERT INTO "+dialect.Ident(oddDatabase)+".children VALUES (2, 7)"); err == nil {
		t.Error("the foreign key of another table to one that was moved holds no more")
	}
}

// migration writes the scripts, rehearses both on a copy, and has the first one executed.
func (b bench) migration(t *testing.T, target filewise.Target, wish filewise.Wish) (there, back string) {
	t.Helper()
	m, err := migrate(b, target, wish)
	fatal(t, err)
	s := apply.Scripts{Migration: m, Run: wish.Run, Layout: wish.Layout, Verdict: "it's `faster`\n"}
	there, back = s.Text("test", false, "there.sql", "back.sql"), s.Text("test", true, "back.sql", "there.sql")
	b.rehearse(t, there, back)
	b.client(t, oddDatabase, there)
	return there, back
}

// rehearse executes scripts of the odd database on a copy of it, there and back, and on databases that are no copy, which
// they refuse. The original stays as it is.
func (b bench) rehearse(t *testing.T, there, back string) {
	t.Helper()
	const copied = "rehearsed"
	original := b.Dump(t, oddDatabase)
	b.Exec(t, "CREATE DATABASE "+copied+" CHARACTER SET utf8mb4")
	defer b.Exec(t, "DROP DATABASE "+copied)
	for database, says := range map[string]string{"": "no database is selected", copied: "not as it was when this script was written"} {
		if out, err := b.execute(t, database, there); err == nil || !strings.Contains(out, says) {
			t.Errorf("on database %q, which is no copy: %v, %s", database, err, out)
		}
	}
	b.copy(t, copied)
	before := b.Dump(t, copied)
	b.client(t, copied, there)
	if strings.Contains(there, "PARTITION BY") && slices.Equal(b.Dump(t, copied), before) {
		t.Error("the script does nothing to the copy")
	}
	servertest.Same(t, original, b.Dump(t, oddDatabase))
	b.client(t, copied, back)
	servertest.Same(t, before, b.Dump(t, copied))
	servertest.Same(t, original, b.Dump(t, oddDatabase))
}

// copy copies the odd database's tables into an empty one, by a dump of their definitions.
func (b bench) copy(t *testing.T, to string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "mariadb-dump", "--no-defaults", "--socket="+b.Socket, "--user=root", "--no-data",
		"--skip-triggers", oddDatabase).CombinedOutput()
	fatal(t, err)
	columns, err := dialect.Column(deadline(t), b.Root, "SELECT CONCAT('INSERT INTO ', TABLE_NAME, ' (', c, ') SELECT ', c, "+
		"' FROM ', ?, '.', TABLE_NAME) FROM (SELECT CONCAT('`', REPLACE(t.TABLE_NAME, '`', '``'), '`') AS TABLE_NAME, "+
		"GROUP_CONCAT('`', COLUMN_NAME, '`') AS c FROM information_schema.COLUMNS c "+
		"JOIN information_schema.TABLES t USING (TABLE_SCHEMA, TABLE_NAME) WHERE TABLE_SCHEMA = ? AND "+
		"TABLE_TYPE = 'BASE TABLE' AND c.EXTRA NOT LIKE '%GENERATED%' GROUP BY t.TABLE_NAME) x", dialect.Ident(oddDatabase), oddDatabase)
	fatal(t, err)
	b.client(t, to, string(out)+"\nSET sql_mode = '', foreign_key_checks = 0;\n"+strings.Join(columns, ";\n")+";")
}

// client executes a script as its first lines say.
func (b bench) client(t *testing.T, database, script string) {
	t.Helper()
	if out, err := b.execute(t, database, script); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", b.engine.Name, err, out, script)
	}
}

func (b bench) execute(t *testing.T, database, script string) (string, error) {
	cmd := exec.CommandContext(t.Context(), b.engine.Name, "--no-defaults", "--socket="+b.Socket, "--user=root", "--database="+database)
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// migrationRefused: what a partitioned table cannot have is named.
func (b bench) migrationRefused(t *testing.T, target filewise.Target, wish filewise.Wish) {
	refused := map[string]string{
		"emails": "no column is in all of its unique keys (PRIMARY, email)", "heap": "it has no unique key",
		"parents":  "foreign key up of table children to parents: InnoDB has none from or to partitioned tables; index body is FULLTEXT",
		"children": "foreign key up of table children to parents", "none": "there is no table none",
	}
	if b.engine == mySQL {
		far := b.Target("root", filewise.Volume{Name: "far", Dir: "/nowhere/told"})
		far.Address.Password = ""
		wish.Tables = []string{"codes"}
		if _, err := migrate(b, far, wish); err == nil || !strings.Contains(err.Error(), "/nowhere/told is not in innodb") {
			t.Errorf("a directory that MySQL is not told of: %v", err)
		}
	}
	if b.engine == mariaDB {
		b.client(t, oddDatabase, "CREATE TABLE past (id INT PRIMARY KEY) WITH SYSTEM VERSIONING; CREATE SEQUENCE numbers;")
		defer b.client(t, oddDatabase, "DROP TABLE past; DROP SEQUENCE numbers;")
		refused["past"], refused["numbers"] = "it is system-versioned, and ALTER TABLE would", "there is no table numbers"
	}
	for table, says := range refused {
		w := wish
		w.Tables = []string{table}
		if _, err := migrate(b, target, w); err == nil || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), table) {
			t.Errorf("%s: %v", table, err)
		}
	}
	w := wish
	w.Layout, w.Tables = layout(filewise.KindPartitions, 1), []string{"codes"}
	target.Volumes = target.Volumes[:1]
	if _, err := migrate(b, target, w); err == nil || !strings.Contains(err.Error(), "nothing is to be done") {
		t.Errorf("a table in one piece, which is to be in one: %v", err)
	}
	w.Layout.Kind = filewise.KindSystem
	if _, err := migrate(b, target, w); err == nil || !strings.Contains(filewise.RemedyOf(err), "innodb_data_file_path") {
		t.Errorf("files of the system tablespace: %v", err)
	}
}
