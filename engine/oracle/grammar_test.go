package oracle

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// parser checks statements against the vendor's grammar, in a process of node; see
// testdata/parser.mjs. A statement takes it up to ten seconds of a processor. So answers
// are kept between runs, each by the hash of the statement, the script and the library.
type parser struct {
	t      *testing.T // with which it ends
	dir    string     // of the library
	kept   string     // directory of the answers
	ground []byte     // what all answers depend on
	in     io.WriteCloser
	out    *bufio.Reader // nil: the process is not started
	asked  int
}

type answer struct {
	Errors    []string
	CPU       float64 // milliseconds of the parser
	Converter string
}

// newParser finds it. If it is not installed, the test is skipped, and fails in
// CI: there a skipped test would be one that no one runs.
func newParser(t *testing.T) *parser {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	dir := filepath.Join(cache, "filewise", "tools", "oracle-parser")
	_, err := os.Stat(filepath.Join(dir, "node_modules", "@dbml", "core"))
	if _, node := osexec.LookPath("node"); node != nil {
		err = node
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("Oracle's grammar was not checked: %v; run scripts/get-npm oracle-parser", err)
		}
		t.Skipf("NO ORACLE GRAMMAR: %v; run scripts/get-npm oracle-parser", err)
	}
	p := &parser{t: t, dir: dir, kept: filepath.Join(cache, "filewise", "tools", "oracle-parsed")}
	if err := os.MkdirAll(p.kept, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join("testdata", "parser.mjs"), filepath.Join(dir, "package-lock.json")} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p.ground = append(p.ground, text...)
	}
	return p
}

// start starts the process.
func (p *parser) start() {
	t := p.t
	t.Helper()
	cmd := osexec.Command("node", filepath.Join("testdata", "parser.mjs"), p.dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the parser ended: %v: %s", err, stderr.String())
		}
	})
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<20)
}

func (p *parser) check(t *testing.T, sql string) answer {
	t.Helper()
	if !strings.HasSuffix(sql, ";") { // a statement is sent without, a block with its last semicolon
		sql += ";"
	}
	question, err := json.Marshal(map[string]string{"sql": sql})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(slices.Concat(p.ground, question))
	path := filepath.Join(p.kept, hex.EncodeToString(sum[:]))
	line, err := os.ReadFile(path)
	if err != nil {
		line = p.ask(t, question)
		keep(t, path, line)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return a
}

// ask sends the process a text.
func (p *parser) ask(t *testing.T, question []byte) []byte {
	t.Helper()
	if p.out == nil {
		p.start()
	}
	p.asked++
	if _, err := p.in.Write(append(question, '\n')); err != nil {
		t.Fatal(err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// keep writes a file whole or not at all.
func keep(t *testing.T, path string, text []byte) {
	t.Helper()
	f, err := os.CreateTemp(filepath.Dir(path), "new")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		t.Fatal(err)
	}
}

// Every section of every SQL file, rendered for every layout and option, is Oracle
// SQL or PL/SQL by the grammar. The library's converter, which handles tables and
// little else, is left aside: it crashes on statements whose syntax is right.
func TestGrammar(t *testing.T) {
	p := newParser(t)
	start := time.Now()
	all := everyStatement(t)
	defer t.Run("damaged", func(t *testing.T) { damaged(t, p, all) }) // one process: it takes seconds to start
	t.Run("custom", func(t *testing.T) { customGrammar(t, p) })
	rendered := time.Since(start)
	count, unconverted, cpu := 0, 0, map[string]float64{}
	all.each(func(section, text string) {
		count++
		a := p.check(t, text)
		if len(a.Errors) > 0 {
			t.Errorf("%s: %v\n%s", section, a.Errors, text)
		}
		cpu[section] += a.CPU
		if a.Converter != "" {
			unconverted++
		}
	})
	if testing.Verbose() {
		for _, section := range slices.Sorted(maps.Keys(cpu)) {
			t.Logf("%-24s %6.0f ms", section, cpu[section])
		}
	}
	covered := 0
	for _, section := range sqlSections() {
		if len(all[section]) == 0 {
			t.Errorf("section %s was never rendered", section)
			continue
		}
		covered++
	}
	t.Logf("%d of %d sections: %d statements are Oracle's by the grammar, of which %d were parsed now (on %d of them the library's own "+
		"converter crashed); rendered in %v, parsed in %v",
		covered, len(sqlSections()), count, p.asked, unconverted, rendered.Round(time.Millisecond),
		(time.Since(start) - rendered).Round(time.Millisecond))
	if covered != len(sqlSections()) {
		t.Fail()
	}
}

// Damaged statements are rejected, so that accepting is worth something.
func damaged(t *testing.T, p *parser, all rendered) {
	first := func(section string) string {
		found := ""
		all.each(func(s, text string) {
			if s == section && found == "" {
				found = text
			}
		})
		if found == "" {
			t.Fatalf("there is no section %s", section)
		}
		return found
	}
	damages := []struct{ section, from, to string }{
		{"server/create", "TABLESPACE", "TABLESPAC"},
		{"server/create", "DATAFILE", "DATAFILES"},
		{"server/create", "SIZE", "SIZES"},
		{"server/create", "EXTENT MANAGEMENT", "EXTENT"},
		{"server/create", "AUTOEXTEND", "AUTOEXTENT"},
		{"server/create", "SEGMENT SPACE MANAGEMENT AUTO", "SEGMENT SPACE AUTO"},
		{"server/add-file", "ADD DATAFILE", "ADD FILE"},
		{"server/add-file", "ALTER TABLESPACE", "ALTER TABLESPACES"},
		{"server/marker", "CHAR(1)", "CHAR(1"},
		{"server/marker", "SEGMENT CREATION IMMEDIATE", "SEGMENT CREATION AT ONCE"},
		{"server/mark", " IS ", " AS "},
		{"server/offline", "OFFLINE NORMAL", "OFFLINE NORMALLY"},
		{"server/drop", "INCLUDING CONTENTS AND DATAFILES", "INCLUDING DATAFILES"},
		{"server/drop-table", "PURGE", "PURGED"},
		{"server/rebuild", "REBUILD", "REBUILT"},
		{"server/files", "ORDER BY", "ORDERED BY"},
		{"server/free", "GROUP BY file_id", "GROUP file_id"},
		{"server/activity", "'ACTIVE', 1, 0)", "'ACTIVE', 1, 0"},
		{"server/identity", "'CON_NAME'", "'CON_NAME"},
		{"server/announce", "BEGIN", "BEGINS"},
		{"server/lock", "END IF;", "END;"},
		{"server/lock", ":=", "="},
		{"inserts/tables", "NOT NULL", "NOT NUL"},
		{"inserts/tables", "USING INDEX", "USING AN INDEX"},
		{"inserts/package", "END;", ""},
		{"inserts/package", "RETURN VARCHAR2", "RETURNS VARCHAR2"},
		{"inserts/package-body", "RETURN SUBSTR(", "RETURN SUBSTR"},
		{"inserts/package-body", "CONSTANT VARCHAR2(32767) :=", "CONSTANT VARCHAR2(32767) = :="},
		{"inserts/procedure-insert", "LOOP", "LOP"},
		{"inserts/procedure-insert", "VALUES (", "VALUES "},
		{"inserts/procedure-insert", "COMMIT WRITE", "COMMITS WRITE"},
		{"inserts/procedure-insert", "x := MOD(", "x := MOD"},
		{"inserts/call-insert", "(:1, :2, :3)", "(:1, :2, :3"},
		{"inserts/committed-insert", "WHERE", "WERE IF"},
		{"inserts/check", "COUNT(*)", "COUNT(*"},
		{"server/load", "VALUES (:1", "VALUES ((:1"},
		{"server/statistics", "ownname =>", "ownname =="},
		{"server/batch-loaded", "AND batch", "AND AND batch"},
		{"dml/tables", "BINARY_DOUBLE NOT NULL", "BINARY_DOUBLE NOT NUL"},
		{"dml/procedure-insert", "VALUES (k, x,", "VALUES (k, x,,"},
		{"dml/procedure-update", "SQL%ROWCOUNT <> 1", "SQL%ROWCOUNT <> "},
		{"dml/statement-update", "DECLARE", "DECLARES"},
		{"dml/call-delete", "(:1, :2, :3)", "(:1, :2, :3"},
		{"orders/indexes", "PRIMARY KEY (", "PRIMARY KEYS ("},
		{"orders/procedure-new-order", "WHEN NO_DATA_FOUND THEN", "WHEN NO_DATA_FOUND"},
		{"orders/procedure-new-order", "ELSE s_dist_10 END", "ELSE s_dist_10"},
		{"orders/procedure-payment", "OVER (ORDER BY", "OVER (ORDERED BY"},
		{"orders/procedure-order-status", "END IF;", "END;"},
		{"orders/procedure-delivery", "END LOOP;", "LOOP;"},
		{"orders/procedure-stock-level", "INTO v_items", "INTO INTO v_items"},
		{"orders/statement-payment", ":9);", ":9;"},
		{"orders/churn", "CHAR(1000 BYTE)", "CHAR(1000 BYTE"},
		{"orders/check-10", "UNION ALL SELECT", "UNION ALL SELCT FROM"},
		{"orders/check-12", "HAVING SUM(cents)", "HAVING SUM(cents"},
		{"orders/totals", ") h,", ") h,,"},
		{"orders/loaded", "TO_CHAR(SUM(", "TO_CHAR(SUM(("},
		{"server/copy-user", "IDENTIFIED BY", "IDENTIFIED"},
		{"server/copy-drop-user", " CASCADE", " CASCADE CASCADE"},
		{"scan/statement-query-2", "FETCH NEXT 1 ROWS ONLY", "FETCH NEXT 1 ROWS"},
		{"scan/statement-query-8", "GROUP BY state", "GROUP state"},
		{"scan/check", "TO_CHAR(SUM(id))", "TO_CHAR(SUM(id)"},
	}
	for _, d := range damages {
		good := first(d.section)
		if !strings.Contains(good, d.from) {
			t.Errorf("%s does not hold %q any more:\n%s", d.section, d.from, good)
			continue
		}
		if a := p.check(t, strings.Replace(good, d.from, d.to, 1)); len(a.Errors) == 0 {
			t.Errorf("%s with %q in place of %q is accepted", d.section, d.to, d.from)
		}
	}
	t.Logf("%d damaged statements", len(damages))
}
