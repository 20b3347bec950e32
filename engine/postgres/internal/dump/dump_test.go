package dump

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/postgres/installed"
)

// Rows are handed over many at once: each read is a message to the server.
func TestRowsOfADumpAreReadTogether(t *testing.T) {
	rows := strings.Repeat("1\tone\n", 5000)
	for end, want := range map[string]error{"\\.\nrest": nil, "": io.ErrUnexpectedEOF} {
		in := full{&block{in: bufio.NewReaderSize(strings.NewReader(rows+end), 1<<10)}}
		first := make([]byte, 20_000)
		if n, err := in.Read(first); n != len(first) || err != nil {
			t.Errorf("%d bytes at first, %v", n, err)
		}
		rest, err := io.ReadAll(in)
		if string(first)+string(rest) != rows || !errors.Is(err, want) {
			t.Errorf("then %d, %v", len(rest), err)
		}
	}
}

// What partitions cannot hold of a table is refused before anything is built; what stands in
// quotes is not taken for it.
func TestPartitionsCannotHold(t *testing.T) {
	custom := &filewise.CustomSQL{Tables: []filewise.CustomTable{{Name: "o;\n(", Key: "k,"}}}
	const table = "public.\"o;\n(\""
	for text, says := range map[string]string{
		"ALTER TABLE ONLY " + table + "\n    ADD CONSTRAINT x EXCLUDE USING gist (during WITH &&)":                    "cannot be divided",
		"ALTER TABLE " + table + "\n    ADD CONSTRAINT x FOREIGN KEY (a) REFERENCES b(c) NOT VALID":                   "NOT VALID",
		"ALTER TABLE " + table + " CLUSTER ON x":                                                                      "CLUSTER",
		"ALTER TABLE ONLY " + table + "\n    ADD CONSTRAINT x UNIQUE (a, b) DEFERRABLE":                               "its key (a, b)",
		"CREATE UNIQUE INDEX x ON " + table + " USING btree (lower((\"k,\")::text), b)":                               "its key (b)",
		"CREATE TABLE s.c (\n    x integer\n)\nINHERITS (public.a, " + table + ", s.b)":                               "INHERITS",
		"CREATE UNLOGGED TABLE " + table + " (\n    x integer\n)":                                                     "UNLOGGED",
		"CREATE TRIGGER x AFTER INSERT ON " + table + " REFERENCING NEW TABLE AS n FOR EACH ROW EXECUTE FUNCTION f()": "REFERENCING",
		"CREATE UNIQUE INDEX x ON " + table + " USING btree (\"k,\" DESC NULLS LAST) INCLUDE (b) WHERE (b > 1)":       "",
		"ALTER TABLE ONLY " + table + "\n    ADD CONSTRAINT x UNIQUE NULLS NOT DISTINCT (a, \"k,\") INCLUDE (b)":      "",
		"COMMENT ON TABLE " + table + " IS 'it''s $$\nALTER TABLE " + table + " CLUSTER ON x;\n'":                     "",
		"CREATE FUNCTION f() RETURNS int\n    LANGUAGE sql\n    BEGIN ATOMIC\n SELECT 1;\nEND":                        "",
		"CREATE RULE r AS\n    ON UPDATE TO x DO INSTEAD ( DELETE FROM y;\n SELECT E'\\';\n';\n)":                     "",
	} {
		dump := "CREATE TABLE " + table + " (\n    \"k,\" integer\n)\nWITH (fillfactor='70');\n" + text + ";\nCOPY x FROM stdin;\n'\n\\.\n"
		_, err := hold([]filewise.Layout{{Kind: filewise.KindPartitions}}, custom, strings.NewReader(dump))
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := hold([]filewise.Layout{{Kind: filewise.KindSingle}}, custom, strings.NewReader(dump)); err != nil {
			t.Errorf("a plain table cannot hold %s: %v", text, err)
		}
	}
}

// A packed file of some kilobytes can hold a statement of gigabytes.
func TestBombInADump(t *testing.T) {
	for _, more := range []string{strings.Repeat("1", 80<<20), strings.Repeat(strings.Repeat("1", 1<<10)+"\n", 80<<10)} {
		all := reader{in: bufio.NewReader(strings.NewReader("INSERT INTO t VALUES (" + more))}
		if _, err := all.next(); err == nil || !strings.Contains(err.Error(), "longer than") {
			t.Errorf("%.100v", err)
		}
	}
}

// A link in a dump's directory would have pg_restore, which can be root's, read what it leads to.
func TestLinkInADump(t *testing.T) {
	for _, to := range []string{"/etc/passwd", "/nowhere"} {
		dir := t.TempDir()
		if err := os.Symlink(to, filepath.Join(dir, "1.dat")); err != nil {
			t.Fatal(err)
		}
		if _, _, err := open(t.Context(), installed.Server{}, dir); filewise.CodeOf(err) != filewise.CodeUsage ||
			!strings.Contains(err.Error(), "1.dat") {
			t.Errorf("a link to %s: %v", to, err)
		}
	}
}

// A script that was saved on Windows is read like any other. Texts keep their lines as they are.
func TestLinesOfWindows(t *testing.T) {
	in := reader{in: bufio.NewReader(strings.NewReader("CREATE TABLE public.t (\r\n    a text DEFAULT 'x\r\ny'\r\n);\r\n"))}
	if text, err := in.next(); err != nil || text != "CREATE TABLE public.t (\n    a text DEFAULT 'x\r\ny'\n);" {
		t.Errorf("%q, %v", text, err)
	}
}

// A script in a form of another program's is reported to be that.
func TestNotADump(t *testing.T) {
	custom := &filewise.CustomSQL{Tables: []filewise.CustomTable{{Name: "orders", Key: "id"}}}
	for text, says := range map[string]string{"create table orders (id int);\n": "CREATE TABLE has an unknown form",
		"-- MySQL dump 10.13\n": "a script of mysqldump", "PK\x03\x04": "unpack it", "id,status\n1,new\n": "no CREATE TABLE in it",
		"CREATE ROLE app;\n": "no CREATE TABLE in it", "\\connect shop\n": "several databases",
		"CREATE TABLE public.orders (\n    id int\n);\nCOPY public.orders (id) FROM stdin;\n1\n": "ends within rows"} {
		path := filepath.Join(t.TempDir(), "dump.sql")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		custom.From = path
		err := Check(t.Context(), installed.Server{}, nil, custom)
		of := "not written by pg_dump: "
		if strings.HasPrefix(says, "several") {
			of = "the dump contains "
		} else if strings.HasPrefix(says, "ends") {
			of = "restoring"
		}
		if err == nil || !strings.HasPrefix(err.Error(), of) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
