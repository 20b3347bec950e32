package servertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/internal/sqlrows"
	"filewise/internal/filesystem"
	"filewise/internal/marker"
)

// Password is the password of the account that Populate creates. No error may show it.
const Password = "s3cret-Pa'ss\"w`o%rd"

// Lookalike is the name of a user's database that looks like one of Filewise's. A user made it by copying; it has no
// mark and is not empty.
var Lookalike = marker.NewName()

// Populate creates databases, tables, views, routines, events, triggers and accounts such as users have. It also
// creates an account that has only the given rights.
func (s *Server) Populate(t testing.TB, rights []string) {
	t.Helper()
	s.Exec(t,
		"CREATE DATABASE filewise_prod", "CREATE DATABASE filewise", "CREATE DATABASE shop CHARACTER SET latin1",
		"CREATE DATABASE `"+Lookalike+"`", "CREATE TABLE `"+Lookalike+"`.fw_rows (id INT PRIMARY KEY, theirs TEXT)",
		"INSERT INTO `"+Lookalike+"`.fw_rows VALUES (1, 'mine')",
		"CREATE TABLE filewise_prod.fw_rows (id BIGINT PRIMARY KEY, payload VARCHAR(100))",
		"INSERT INTO filewise_prod.fw_rows VALUES (1, 'mine'), (2, 'too')",
		"CREATE TABLE shop.orders (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(50), KEY (what))",
		"INSERT INTO shop.orders (what) VALUES ('a'), ('b'), ('c')",
		"CREATE VIEW shop.latest AS SELECT MAX(id) AS id FROM shop.orders",
		"CREATE PROCEDURE shop.fw_inserts(IN n INT) MODIFIES SQL DATA INSERT INTO shop.orders (what) VALUES (n)",
		"CREATE TRIGGER shop.before_order BEFORE INSERT ON shop.orders FOR EACH ROW SET NEW.what = UPPER(NEW.what)",
		"CREATE EVENT shop.nightly ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO DELETE FROM shop.orders WHERE id < 0",
		"CREATE USER customer@localhost IDENTIFIED BY 'x9_Long-enough'", "GRANT SELECT ON shop.* TO customer@localhost",
	)
	s.Account(t, "filewise", rights)
}

// Account creates an account with the given rights. In rights `filewise`@`%` is replaced by the account.
func (s *Server) Account(t testing.TB, name string, rights []string) {
	t.Helper()
	s.Exec(t, fmt.Sprintf("CREATE USER `%s`@`%%` IDENTIFIED BY '%s'", name, strings.ReplaceAll(Password, "'", "''")))
	for _, r := range rights {
		s.Exec(t, strings.ReplaceAll(r, "`filewise`@`%`", "`"+name+"`@`%`"))
	}
}

// Target returns the server as an external target, used by an account of Populate or Account.
func (s *Server) Target(name string, volumes ...filewise.Volume) filewise.Target {
	if len(volumes) == 0 {
		volumes = []filewise.Volume{{Name: "default"}}
	}
	return filewise.Target{Engine: s.Product.Name, Mode: filewise.External, Volumes: volumes, Durability: filewise.DurabilityFull,
		Address: &filewise.Address{Scheme: s.Product.Name, Host: s.Socket, User: name, Password: Password}}
}

// catalogue lists the queries that describe what a server holds, settings included.
var catalogue = []string{
	"SELECT * FROM information_schema.SCHEMATA",
	"SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, ROW_FORMAT, CREATE_OPTIONS, TABLE_COMMENT, CREATE_TIME FROM " +
		"information_schema.TABLES WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema')",
	"SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')",
	"SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_DEFINITION, CREATED, LAST_ALTERED FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA " +
		"<> 'sys'",
	"SELECT EVENT_SCHEMA, EVENT_NAME, EVENT_DEFINITION, STATUS, LAST_ALTERED FROM information_schema.EVENTS",
	"SELECT TRIGGER_SCHEMA, TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA <> 'sys'",
	"SELECT * FROM information_schema.USER_PRIVILEGES", "SELECT * FROM information_schema.SCHEMA_PRIVILEGES",
	"SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE 'gtid%' AND Variable_name NOT LIKE '%timestamp%'",
}

// Others returns everything on the server that is not marked as Filewise's: the rows of the catalogue, and a logical
// dump.
func (s *Server) Others(t testing.TB) []string {
	t.Helper()
	return append(s.Catalogue(t), s.dump(t)...)
}

// Catalogue returns only those rows of Others that come from the catalogue. It takes less time.
func (s *Server) Catalogue(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, query := range catalogue {
		all = append(all, s.rows(t, query)...)
	}
	slices.Sort(all)
	return all
}

// rows returns a query's rows, each as a line.
func (s *Server) rows(t testing.TB, query string) (all []string) {
	t.Helper()
	fatal(t, sqlrows.Each(context.Background(), s.Root, func(columns []string, values []any) {
		var line strings.Builder
		for i, v := range values {
			if text, ok := v.([]byte); ok {
				v = string(text)
			}
			fmt.Fprintf(&line, "%s=%v ", columns[i], v)
		}
		all = append(all, line.String())
	}, query))
	return all
}

func (s *Server) dump(t testing.TB) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	program, err := s.Product.Dump.Find(filepath.Dir(s.Program))
	if err != nil {
		program, err = s.Product.Dump.Find("")
		program = need(t, program, err)
	}
	cmd := exec.CommandContext(ctx, program, "--no-defaults", "--socket="+s.Socket, "--user=root", "--all-databases",
		"--routines", "--events", "--triggers", "--skip-comments", "--skip-dump-date", "--hex-blob", "--skip-lock-tables",
		"--ignore-table=mysql.innodb_table_stats", "--ignore-table=mysql.innodb_index_stats")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return strings.Split(string(out), "\n")
}

var movedBack = regexp.MustCompile(" /\\*!50100 TABLESPACE `innodb_(?:system|file_per_table)` \\*/")

// Dump returns a database as its own program writes it, a row a line, sorted.
func (s *Server) Dump(t testing.TB, database string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "mariadb-dump", "--no-defaults", "--socket="+s.Socket, "--user=root", "--skip-comments",
		"--skip-extended-insert", "--triggers", "--order-by-primary", "--databases", database).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// MySQL's definition of a table that was moved back names its place.
	all := strings.Split(movedBack.ReplaceAllString(string(out), ""), "\n")
	slices.Sort(all)
	return all
}

// Same fails the test if two listings of others' objects differ.
func Same(t testing.TB, before, after []string) {
	t.Helper()
	if slices.Equal(before, after) {
		return
	}
	var diff []string
	for _, line := range before {
		if !slices.Contains(after, line) {
			diff = append(diff, "- "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			diff = append(diff, "+ "+line)
		}
	}
	if len(diff) == 0 {
		diff = []string{"(the order of lines, or how often they stand there)"}
	}
	t.Errorf("what is the user's has changed:\n%s", strings.Join(diff[:min(len(diff), 20)], "\n"))
}

// inMemory names the environment variable with the file system in memory that scripts/test mounts, one for every
// product. MariaDB takes sharedMemory for persistent memory, and maps its log there instead of writing it. leastMemory
// must be free.
const (
	inMemory     = "TEST_FILEWISE_MEMORY"
	sharedMemory = "/dev/shm"
	leastMemory  = 2 << 30
)

// Temp returns a directory in memory for the product's servers, or "" if there is none with enough space. These tests
// do not test the storage, and a starting server syncs hundreds of times.
func (p Product) Temp() string {
	memory := os.Getenv(inMemory)
	if memory == "" && p.Slow {
		memory = sharedMemory
	}
	if free, err := filesystem.Free(memory); err != nil || free < leastMemory {
		return ""
	}
	dir, err := os.MkdirTemp(memory, "filewise-")
	if err != nil || os.Remove(dir) != nil { // this user cannot write there
		return ""
	}
	return memory
}
