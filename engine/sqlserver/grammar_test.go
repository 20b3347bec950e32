package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filewise"
	"filewise/internal/sqlfile"
	"filewise/lab/workload"
)

// grammars are the releases of Microsoft's grammar (ScriptDom) to check against:
// those that the adapter supports and the newest.
var grammars = []string{"2016", "2019", "2022", "2025"}

// parserPath is Microsoft's parser as scripts/get-tsql-parser installs it. If empty,
// it is not there.
func parserPath() string {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		cache = filepath.Join(home, ".cache")
	}
	path := filepath.Join(cache, "filewise", "tools", "maxdop", "0.1.3", "bin", "maxdop")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// parser returns the parser; a missing one fails in CI.
func parser(t *testing.T) string {
	t.Helper()
	path := parserPath()
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no parser of T-SQL: run scripts/get-tsql-parser")
		}
		t.Skip("NO PARSER OF T-SQL: run scripts/get-tsql-parser")
	}
	return path
}

// refused holds the parser's errors in a file that it cannot parse.
var refused = regexp.MustCompile(`(?m)^maxdop: .*?(\d+)\.sql: could not be parsed.*$`)

// parse gives every batch to the parser, one file each, and returns by the
// batch's number its errors for the ones that it refuses. The parser's own
// --check is no use: it fails on layout as well.
func parseAll(ctx context.Context, parser, version string, batches []string) (map[int]string, error) {
	dir, err := os.MkdirTemp("", "fw-tsql")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for i, text := range batches {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.sql", i)), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	c := osexec.CommandContext(ctx, parser, "--write", "--parser-version", version, dir)
	out, err := c.CombinedOutput()
	wrong := map[int]string{}
	for _, m := range refused.FindAllStringSubmatch(string(out), -1) {
		var n int
		if _, err := fmt.Sscanf(m[1], "%d", &n); err != nil {
			return nil, err
		}
		wrong[n] = m[0]
	}
	if (err != nil) != (len(wrong) > 0) {
		return nil, fmt.Errorf("%w, with %d batches refused:\n%s", err, len(wrong), out)
	}
	// It must have read each file without an error: an unread file would pass.
	for i, text := range batches {
		after, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%06d.sql", i)))
		if err != nil {
			return nil, err
		}
		if wrong[i] == "" && len(after) == 0 && text != "" {
			return nil, fmt.Errorf("batch %d was not read", i)
		}
	}
	return wrong, nil
}

// checkGrammar fails for every batch that a release of the grammar refuses.
func checkGrammar(t *testing.T, batches []string) {
	t.Helper()
	program := parser(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	turn := make(chan struct{}, 2)
	var wg sync.WaitGroup
	for _, version := range grammars {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			wrong, err := parseAll(ctx, program, version, batches)
			if err != nil {
				t.Errorf("%s: %v", version, err)
			}
			for n, why := range wrong {
				t.Errorf("SQL Server %s refuses\n%s\n%s", version, batches[n], why)
			}
		})
	}
	wg.Wait()
}

// rendering collects what every section comes to over all layouts and options.
type rendering struct {
	t        *testing.T
	sections map[string]map[string]bool // the different batches by section
}

func (r *rendering) add(section string, all []string, err error) {
	if err != nil {
		r.t.Fatalf("section %s: %v", section, err)
	}
	if r.sections[section] == nil {
		r.sections[section] = map[string]bool{}
	}
	for _, text := range all {
		r.sections[section][text] = true
	}
}

// batches returns all different ones, in order.
func (r *rendering) batches() []string {
	all := map[string]bool{}
	for _, texts := range r.sections {
		maps.Copy(all, texts)
	}
	return slices.Sorted(maps.Keys(all))
}

const testName = "filewise_aaaaaaaaaaaaaaaaaa"

// volumeSets are a server's default place, two volumes and those for log and
// indexes, on both systems, with names that try to break out of quotes.
var volumeSets = map[string][]filewise.Volume{
	"default": {{Name: "default"}},
	"windows": {{Name: "a", Dir: `D:\it's [data]`}, {Name: "b", Dir: `\\files\share$\x`}, {Name: "log", Dir: `E:\`},
		{Name: "ix", Dir: `F:\Ünï`}},
	"linux": {{Name: "a", Dir: `/var/opt/mssql/it's "data"`}, {Name: "b", Dir: "/mnt/b;DROP TABLE x--"}, {Name: "log", Dir: "/log"},
		{Name: "ix", Dir: "/ix"}},
}

// designs are all combinations of what a layout and a target can be.
func designs(t *testing.T, visit func(*design)) {
	t.Helper()
	for _, set := range slices.Sorted(maps.Keys(volumeSets)) {
		for _, allocation := range []filewise.Allocation{filewise.Preallocated, filewise.Growing} {
			for _, indexes := range []string{"", filewise.IndexesTogether, filewise.IndexesApart} {
				for _, later := range []filewise.AddedLater{"", filewise.LaterUntouched, filewise.LaterNewData, filewise.LaterRebuilt} {
					for _, files := range []int{1, 4, 16} {
						l := filewise.Layout{Name: filewise.FilesName(files), Kind: filewise.KindFilegroup, AddedLater: later, Indexes: indexes,
							Data: filewise.Spread{Files: files, Bytes: 256 << 20, Allocation: allocation, Placement: filewise.PlaceRoundRobin}}
						if set != "default" {
							l.LogVolume = "log"
							if indexes == filewise.IndexesApart {
								l.IndexVolume = "ix"
							}
						}
						overOptions(t, l, volumeSets[set], visit)
					}
				}
			}
		}
	}
}

func overOptions(t *testing.T, l filewise.Layout, volumes []filewise.Volume, visit func(*design)) {
	t.Helper()
	settings := []map[string]string{nil, {settingMix: "on", settingAll: "on", "log-size": "100MiB", "log-growth": "1MiB"}}
	for _, durability := range []filewise.Durability{filewise.DurabilityFull, filewise.DurabilityNormal} {
		for _, table := range []string{workload.TableShared, workload.TablePerConnection} {
			for i, key := range []string{workload.KeySequential, workload.KeyRandom, workload.KeyIdentity} {
				p := params(func(p *workload.Params) {
					p.Table, p.Key, p.CommitEvery = table, key, 1+9*i
					if i == 1 && l.AddedLater != filewise.LaterRebuilt {
						p.RowBytes = 9000 // outside the row
					}
				})
				w, err := workload.NewInserts(p, 1)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range settings {
					target := filewise.Target{Engine: engineName, Mode: filewise.External, Volumes: volumes, Durability: durability, Settings: s}
					d, err := newDesign(target, l, w.Program(), somewhere(testName, "Made by 'Filewise'; {\"name\": \"x\"}"))
					if err != nil {
						t.Fatalf("%+v: %v", l, err)
					}
					visit(d)
				}
			}
		}
	}
}

func params(change func(*workload.Params)) workload.Params {
	p := workload.Params{Connections: 3, RowBytes: 60, CommitEvery: 3, Table: workload.TableShared, Key: workload.KeySequential}
	if change != nil {
		change(&p)
	}
	return p
}

// transfers are all combinations of the options of backups and restores.
func transfers(visit func(map[string]any)) {
	for _, stripes := range [][]string{{null}, {`D:\it's\a.bak`}, {"/b/1.bak", "/b/2.bak", "/c;--/3.bak"}} {
		for _, compression := range []string{"", "on", "off"} {
			for _, n := range []int{0, 1} {
				t := transfer{stripes: stripes, compression: compression, bufferCount: n * 50, maxTransferSize: n * 4 * mib, blockSize: n * 65536}
				vars := t.vars()
				vars["Source"], vars["Name"], vars["Mark"] = "user's ]database", testName, "mark"
				vars["Moves"] = []move{{"it's data", `E:\x\a.ndf`}, {"log]", "/l.ldf"}}
				visit(vars)
			}
		}
	}
}

var rendered *rendering

// render returns every section of every SQL file for every layout and option; it is
// done once.
func render(t *testing.T) *rendering {
	t.Helper()
	if rendered != nil {
		return rendered
	}
	r := &rendering{t: t, sections: map[string]map[string]bool{}}
	defer func() { rendered = r }()
	designs(t, func(d *design) {
		for _, section := range append(sections["inserts"].Sections(), server.Sections()...) {
			if d.skips(section) || transferred[section] || section == "inherited" {
				continue
			}
			for _, table := range []table{d.tables[0], d.tables[len(d.tables)-1]} {
				all, err := d.batches(section, d.ofTable(table, 1))
				r.add(section, all, err)
			}
		}
	})
	phasedDesigns(t, func(d *design) {
		for _, section := range sections[d.program.SQL()].Sections() {
			if d.program.BacksUp() && strings.HasPrefix(section, "statement-") {
				continue // scan's queries
			}
			all, err := d.batches(section, withNumber(d.ofWorker(1), "7"))
			r.add(section, all, err)
		}
	})
	for _, indexes := range []string{filewise.IndexesTogether, filewise.IndexesApart} {
		l := layout(4)
		l.Indexes = indexes
		target := filewise.Target{Mode: filewise.External, Volumes: volumeSets["linux"]}
		d, err := newDesign(target, l, fromProgram(t, theirBackup), somewhere(testName, "mark"))
		ok(t, err)
		for _, section := range []string{"restored-options", "add-files"} {
			all, err := d.batches(section, d.vars())
			r.add(section, all, err)
		}
	}
	for _, section := range inspectSQL.Sections() {
		all, err := inspectSQL.Statements(section, map[string]any{"Name": "user's ]database"})
		r.add(section, all, err)
	}
	for _, section := range tablesSQL.Sections() {
		for _, sequential := range []bool{false, true} {
			all, err := tablesSQL.Statements(section, map[string]any{"Sequential": sequential})
			r.add(section, all, err)
		}
	}
	for _, recovery := range []bool{false, true} {
		all, err := server.Statements("inherited", map[string]any{"Recovery": recovery})
		r.add("inherited", all, err)
	}
	for _, section := range captureSQL.Sections() {
		for _, moments := range []bool{false, true} {
			all, err := captureSQL.Statements(section, map[string]any{"Moments": moments})
			r.add(section, all, err)
		}
	}
	for _, section := range ownSQL.Sections() {
		for _, columns := range [][]string{nil, {"a", "it's ]b"}} {
			all, err := ownSQL.Statements(section, map[string]any{"Schema": "s]", "Table": "t]", "Columns": columns})
			r.add(section, all, err)
		}
	}
	transfers(func(vars map[string]any) {
		for section := range transferred {
			all, err := server.Statements(section, vars)
			r.add(section, all, err)
		}
	})
	for _, vars := range []map[string]any{{"Mark": "", "Unmarked": true, "Custom": false},
		{"Mark": `Made: {"custom":true}`, "Unmarked": false, "Custom": true}} {
		vars["Name"] = testName
		all, err := server.Statements("drop", vars)
		r.add("drop", all, err)
	}
	return r
}

var transferred = map[string]bool{"backup": true, "backup-files": true, "backup-header": true, "restore": true, "check-database": true}

// phasedDesigns are the workloads of several phases with all that changes their SQL.
func phasedDesigns(t *testing.T, visit func(*design)) {
	t.Helper()
	for _, w := range phasedWorkloads(t) {
		for _, indexes := range []string{"", filewise.IndexesTogether, filewise.IndexesApart} {
			l := layout(4)
			l.Indexes = indexes
			target := filewise.Target{Engine: engineName, Mode: filewise.External, Volumes: volumeSets["windows"],
				Durability: filewise.DurabilityFull}
			d, err := newDesign(target, l, w.Program(), somewhere(testName, "mark"))
			if err != nil && w.Program().Unindexed() && errors.Is(err, filewise.ErrUnsupported) {
				continue
			}
			ok(t, err)
			visit(d)
		}
	}
}

// phasedWorkloads are they, small.
func phasedWorkloads(t *testing.T) []filewise.Workload {
	t.Helper()
	var all []filewise.Workload
	add := func(w filewise.Workload, err error) {
		ok(t, err)
		all = append(all, w)
	}
	for _, churn := range []bool{false, true} {
		add(workload.NewOrders(workload.Params{Connections: 2, Warehouses: 2, Scale: 0.01, Churn: churn}, 1))
	}
	for _, index := range []string{workload.IndexNone, workload.IndexKey} {
		add(workload.NewDML(workload.Params{Connections: 2, Rows: 10, Mode: workload.ModeBoth, Connect: workload.ConnectPooled, Index: index}, 1))
	}
	add(workload.NewScan(workload.Params{Rows: 1000, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 1))
	add(workload.NewBackup(workload.Params{Rows: 1000}, 1))
	for _, cycle := range []string{workload.CycleFill, workload.CycleSort, workload.CycleJoin} {
		add(workload.NewTemp(workload.Params{Connections: 2, Rows: 1000, RowBytes: 100, Cycle: cycle}, 1))
	}
	return all
}

func TestGrammarOfEverySection(t *testing.T) {
	r := render(t)
	total := 0
	files := map[string]*sqlfile.File{"server": server, "inspect": inspectSQL, "apply": tablesSQL, "capture": captureSQL}
	maps.Copy(files, sections)
	for file, f := range files {
		for _, section := range f.Sections() {
			total++
			if len(r.sections[section]) == 0 {
				t.Errorf("%s.sql: no layout and no option renders section %s", file, section)
			}
		}
	}
	batches := r.batches()
	start := time.Now()
	checkGrammar(t, batches)
	t.Logf("SQL Server's grammar: %d of %d sections, %d different batches, at %s (%s)", len(r.sections), total, len(batches),
		strings.Join(grammars, ", "), time.Since(start).Round(time.Millisecond))
}

// damages break a batch; each must be refused wherever it can be done.
var damages = []struct{ section, old, new string }{
	{"create", "ON PRIMARY", "ON PRIMAR Y"}, {"create", "FILENAME =", "FILENAME"}, {"create", "KB,", "QB,"}, {"create", "LOG ON", "LOG"},
	{"create", "MAXSIZE = UNLIMITED", "MAXSIZE = NEVER"}, {"create", "<> 0 RETURN", "<> RETURN"}, {"create", "END;", "ENDE;"},
	{"options", "RECOVERY SIMPLE", "RECOVERY SIMPEL"}, {"options", "AUTO_CLOSE OFF", "AUTO_CLOSE OFFF"}, {"options", "= DISABLED", "= OFFISH"},
	{"options", "MIXED_PAGE_ALLOCATION ON", "MIXED_PAGE_ALLOCATION"}, {"options", "AUTOGROW_ALL_FILES", "AUTOGROW_ALL FILES"},
	{"add-files", "ADD FILE", "ADD FIL"}, {"add-files", "TO FILEGROUP", "FILEGROUP"}, {"add-files", "(NAME =", "NAME ="},
	{"add-files", "ADD FILEGROUP [filewise", "ADD FILEGROUPS [filewise"}, {"restored-options", "RECOVERY", "RECOVER"},
	{"cool", "WITH NO_WAIT", "WITH NO_WAITS"},
	{"cycle", "SYSUTCDATETIME();", "SYSUTCDATETIME("},
	{"drop", "DROP DATABASE", "DROP DATABAS"}, {"drop", "IF NOT EXISTS (", "IF NOT EXISTS"}, {"drop", "COLLATE", "COLATE"},
	{"drop", "UNION ALL SELECT", "UNION ALL SELCT"}, {"drop", ") AS strange", ") strange strange"},
	{"look", "BETWEEN 5 AND 16383", "BETWEEN 5 OR 16383"}, {"look", "NOT IN (", "NOT IN"},
	{"options", "SET QUERY_STORE = OFF", "SET QUERY_STORE = OF"}, {"options", "60 SECONDS", "60 SECS"}, {"inherited", "FROM sys", "FORM sys"},
	{"trace-flags", "(-1) WITH", "(-1 WITH"}, {"in-model", "UNION ALL", "UNION AL"},
	{"from-model", "DECLARE @found", "DECLARE found"}, {"count", "NOCOUNT OFF", "NOCOUNT OFFF"},
	{"backup", "TO\n", "INTO\n"}, {"backup", "STATS = 5", "STATS = "}, {"backup", "NOFORMAT,", "NOFORMAT"}, {"backup", "DISK =", "DISC ="},
	{"restore", "MOVE", "MOV"}, {"restore", "RECOVERY,", "RECOVERI,"}, {"restore", "FROM\n", "FORM\n"},
	{"backup-files", "FILELISTONLY", "FILESLIST"},
	{"tables", "PRIMARY KEY", "PRIMARY"}, {"tables", "bigint NOT NULL", "bigint NOT"}, {"rebuild", "REBUILD", "REBILD"},
	{"pool", "VALUES (@p1)", "VALUES @p1"},
	{"procedure-insert", "WHILE", "WHIL"}, {"procedure-insert", "BEGIN\n", "BEGN\n"}, {"procedure-insert", "SUBSTRING(", "SUBSTRING(("},
	{"procedure-insert", "SET @i += 1", "SET @i =+= 1"},
	{"connection", "ISOLATION LEVEL", "ISOLATION"}, {"call-insert", "@first =", "@first =="}, {"committed-insert", "WHERE", "WERE id"},
	{"check", "FROM", "FORM"},
	{"procedure-new-order", "@items += ','", "@items ++= ','"},
	{"procedure-new-order", "d_next_o_id = d_next_o_id + 1 WHERE", "d_next_o_id + 1 WHERE"},
	{"procedure-new-order", "ELSE s_dist_10 END", "ELSE s_dist_10"}, {"procedure-payment", "FETCH NEXT 1 ROWS ONLY", "FETCH NEXT 1 ONLY"},
	{"procedure-payment", "CONCAT(c_id", "CONCAT((c_id"},
	{"procedure-order-status", "TOP (1)", "TOP (1"}, {"procedure-delivery", "WITH (UPDLOCK, ROWLOCK)", "WITH (UPDLOCK ROWLOC"},
	{"procedure-stock-level", "COUNT(DISTINCT", "COUNT(DISTINKT"},
	{"procedure-insert", "AS float)", "AS float"}, {"procedure-update", "SET random_int =", "SET random_int"},
	{"statement-payment", "dbo.fw_payment", "dbo.fw_payment pay ment"},
	{"statement-delete", "THROW 50010,", "THROW 50010"}, {"statement-query-2", "OFFSET 1 ROWS", "OFFSET 1"},
	{"statement-query-9", " ON ", " UPON "},
	{"indexes", "CREATE INDEX", "CREATE INDEKS"}, {"indexes", "UPDATE STATISTICS", "UPDATE STATISTIC"},
	{"churn", "DROP TABLE", "DROP TABEL"}, {"check-10", "UNION ALL", "UNION AL"},
	{"check-12", "HAVING SUM(cents)", "HAVING SUM(cents"}, {"loaded", "CAST(1 AS bigint)", "CAST(1, bigint)"},
	{"totals", "+ w_ytd) FROM dbo.warehouse)", "+ w_ytd) FROM dbo.warehouse"},
	{"mark-loaded", "WHERE NOT EXISTS", "WHERE NOT EXIST"}, {"loaded-batches", "CLUSTERED (", "CLUSTERED"},
	{"backup-header", "HEADERONLY", "HEADONLY"}, {"check-database", "WITH NO_INFOMSGS", "WITHOUT NO_INFOMSGS"},
	{"activity", "CASE WHEN", "CASE"}, {"inspect-files", "WHERE", "WERE f"}, {"inspect-io", "(NULL, NULL)", "(NULL NULL)"},
	{"inspect-allocation", "CASE WHEN", "CASE"}, {"files", "LEFT JOIN", "LEFT JION"}, {"settle", "CHECKPOINT", "CHECK POINT"},
	{"own-sum", "CHECKSUM_AGG(", "CHECKSUM_AGG(("}, {"own-work", "SUM(r.", "SUM((r."}, {"own-database", "FROM sys", "FORM sys"},
	{"own-parts", "GROUP BY", "GROUP"}, {"own-last", "TOP (1)", "TOP 1)"},
	{"own-columns", "IS NULL", "IS NUL"}, {"own-objects", "GROUP BY", "GROUP"}, {"own-store", "AS int)", "AS int"},
	{"counted-cache", "CROSS APPLY", "CROSS APPLYING"}, {"counted-store", "OPTION (MAXDOP 1)", "OPTION (MAXDOP)"},
	{"columns", "OUTER APPLY (", "OUTER APPLY"}, {"table", "GROUP BY object_id", "GROUP object_id"}, {"store", "AS int", "AS"},
	{"describe", "@tsql = @p1", "@tsql @p1"}, {"histogram", "TOP (1)", "TOP (1"}, {"sessions", "CASE WHEN", "CASE"},
	{"apply-database", "LEFT JOIN", "LEFT JION"}, {"apply-tables", "GROUP BY object_id)", "GROUP BY object_id"},
	{"apply-indexes", "CAST(i.is_unique AS int)", "CAST(i.is_unique, int)"}, {"apply-columns", "ORDER BY", "ORDERED BY"},
	{"look", "TOP (1)", "TOP (1"}, {"tempdb", "WHERE f.type", "WERE f.type"}, {"procedure-cycle", "CREATE TABLE #", "CREATE TABEL #"},
	{"call-cycle", "@first =", "@first =="}, {"committed-cycle", "WHERE", "WERE worker"},
}

func TestDamagedStatementsAreRefused(t *testing.T) {
	r := render(t)
	find := func(section, old string) string {
		for _, text := range slices.Sorted(maps.Keys(r.sections[section])) {
			if strings.Contains(text, old) {
				return text
			}
		}
		t.Fatalf("no rendering of section %s has %q", section, old)
		return ""
	}
	var damaged []string
	for _, d := range damages {
		damaged = append(damaged, strings.Replace(find(d.section, d.old), d.old, d.new, 1))
	}
	program := parser(t)
	for _, version := range grammars {
		wrong, err := parseAll(t.Context(), program, version, damaged)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range damages {
			if wrong[i] == "" {
				t.Errorf("SQL Server %s accepts section %s with %q for %q", version, d.section, d.new, d.old)
			}
		}
	}
	t.Logf("%d damaged statements refused at %s", len(damages), strings.Join(grammars, ", "))
}

var aggregate = regexp.MustCompile(`\b(SUM|COUNT|COUNT_BIG|MIN|MAX|AVG)\(`)

// TestNoAggregateOfASubquery: the grammar takes an aggregate over a subquery or another
// aggregate, the server does not (error 130).
func TestNoAggregateOfASubquery(t *testing.T) {
	seen := 0
	for _, text := range render(t).batches() {
		for _, at := range aggregate.FindAllStringIndex(text, -1) {
			seen++
			if of := enclosed(text[at[1]:]); strings.Contains(of, "SELECT") || aggregate.MatchString(of) {
				t.Errorf("an aggregate of (%s) in\n%s", of, text)
			}
		}
	}
	if seen == 0 {
		t.Error("no batch has an aggregate")
	}
}

// enclosed returns the text up to the parenthesis that closes one before it.
func enclosed(text string) string {
	depth := 1
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}
