package sqlserver

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

func tempWork(t *testing.T, cycle string) filewise.Workload {
	t.Helper()
	w, err := workload.NewTemp(workload.Params{Connections: 3, Rows: 40, RowBytes: 100, Cycle: cycle}, 7)
	ok(t, err)
	return w
}

// summed answers the workload's check by the formula of the procedure's text.
type summed struct{ rows [][]any }

func (s summed) Query(context.Context, string) ([][]any, error) { return s.rows, nil }

// TestTempCycle: rows follow from the workload's formula as the procedure has it, and the
// statements are right by the grammar.
func TestTempCycle(t *testing.T) {
	for _, cycle := range []string{workload.CycleFill, workload.CycleSort, workload.CycleJoin} {
		w := tempWork(t, cycle)
		script, err := Engine{}.Statements(newLab(t, nil).target, layout(1), w.Program())
		ok(t, err)
		var batches []string
		procedure := ""
		for _, x := range script.Steps {
			batches = append(batches, x.SQL)
			if strings.Contains(x.SQL, "CREATE PROCEDURE") {
				procedure = x.SQL
			}
		}
		checkGrammar(t, batches)
		from := parseExpression(regexp.MustCompile(`SET @from = ([^;]*);`).FindStringSubmatch(procedure)[1])
		x := parseExpression(regexp.MustCompile(`SELECT n, (.*) AS x FROM`).ReplaceAllString(
			strings.ReplaceAll(regexp.MustCompile(`SELECT n, .* AS x FROM`).FindString(procedure), "+ n)", "+ @n)"), "$1"))
		var rows [][]any
		ledger := filewise.Ledger{2, 5, 1}
		for worker, cycles := range ledger {
			var total int64
			for i := range cycles {
				at := from.value(map[string]int64{"@i": i, "@worker": int64(worker)})
				for n := range int64(40) {
					total += x.value(map[string]int64{"@from": at, "@n": n})
				}
				total %= workload.Modulus
			}
			rows = append(rows, []any{int64(worker), cycles, total})
		}
		ok(t, w.Check(t.Context(), summed{rows}, 0, []filewise.Ledger{ledger}))
		if tables := strings.Count(procedure, "CREATE TABLE #"); tables != map[string]int{workload.CycleFill: 1}[cycle]+2*map[string]int{
			workload.CycleSort: 1, workload.CycleJoin: 1}[cycle] || strings.Count(procedure, "DROP TABLE #") != tables {
			t.Errorf("%s: %d temporary tables", cycle, tables)
		}
	}
	l := layout(1)
	l.Temp.Files = 4
	_, err := Engine{}.Statements(newLab(t, nil).target, l, tempWork(t, workload.CycleFill).Program())
	if !errors.Is(err, filewise.ErrUnsupported) {
		t.Errorf("a layout of tempdb: %v", err)
	}
}

// TestTempdbContention: preflight reports whether two connections a processor of the server's work.
func TestTempdbContention(t *testing.T) {
	for cpus, want := range map[int64]filewise.Status{1: filewise.StatusOK, 2: filewise.StatusWarning} {
		lab := newLab(t, func(m *model) { m.cpus = cpus })
		demand := filewise.Demand{Layouts: []filewise.Layout{layout(1)}, Program: tempWork(t, workload.CycleFill).Program()} // by 3
		i := -1
		all := lab.open().Examine(t.Context(), demand)
		for n, f := range all {
			if f.Check == "contention in tempdb" {
				i = n
			}
		}
		if i < 0 || all[i].Status != want || want == filewise.StatusWarning && all[i].Remedy != "use --connections 4" {
			t.Errorf("%d processors: %+v", cpus, all)
		}
	}
}

// TestTempdbChange: what the owner would do is printed, right by the grammar, and never sent.
// First contact: SQL Server 10.
func TestTempdbChange(t *testing.T) {
	equal := []modelFile{{"tempdev", `T:\x\tempdb.mdf`, "", "", 65536, 65536}, {"temp2", `T:\x\tempdb2.ndf`, "", "", 65536, 65536}}
	for name, c := range map[string]struct {
		files   []modelFile
		cpus    int64
		version string
		want    []string
	}{
		"one that has grown": {[]modelFile{{"tempdev", `T:\x\tempdb.mdf`, "", "", 100 << 20, 65536}}, 4, "13.0.5000.0", []string{
			`N'temp2', FILENAME = N'T:\x\temp2.ndf', SIZE = 65536KB`, "temp4", "4 files of 64 MiB, together 256 MiB",
			"tempdev has grown to 100 GiB"}},
		"as it should be": {equal, 2, "13.0.5000.0", nil},
		"one file of a 2012's size": {[]modelFile{{"it's", `/var/opt/mssql/data/tempdb.mdf`, "", "", 8192, 0}}, 4, "16.0.1.1", []string{
			"ALTER DATABASE [tempdb] MODIFY FILE (NAME = N'it''s', FILEGROWTH = 65536KB);",
			"ALTER DATABASE [tempdb] ADD FILE (NAME = N'temp2', FILENAME = N'/var/opt/mssql/data/temp2.ndf', SIZE = 8192KB, FILEGROWTH = 65536KB);",
			"temp3.ndf", "temp4.ndf", "MEMORY_OPTIMIZED TEMPDB_METADATA"}},
		"unequal": {[]modelFile{equal[0], {"temp2", `T:\x\tempdb2.ndf`, "", "", 8192, 65536}}, 2, "13.0.5000.0", []string{
			"ALTER DATABASE [tempdb] MODIFY FILE (NAME = N'temp2', SIZE = 65536KB, FILEGROWTH = 65536KB);"}},
		"many cores, a name that is taken": {[]modelFile{equal[0], {"TEMP3", `T:\x\t.ndf`, "", "", 65536, 65536}}, 96, "13.0.5000.0", []string{
			`N'temp4', FILENAME = N'T:\x\temp4.ndf', SIZE = 65536KB`, "temp9"}},
		"more than needed": {append(slices.Clone(equal), modelFile{"temp3", `T:\x\tempdb3.ndf`, "", "", 65536, 65536}), 2, "13.0.5000.0", nil},
	} {
		lab := newLab(t, func(m *model) {
			m.temporary, m.cpus, m.version = c.files, c.cpus, c.version
			m.startupKB = map[string]int64{}
			if name == "one that has grown" {
				m.startupKB["tempdev"] = 65536
			}
		})
		demand := filewise.Demand{Layouts: []filewise.Layout{layout(1)}, Program: tempWork(t, workload.CycleJoin).Program()}
		s := lab.open()
		var found filewise.Finding
		for _, f := range s.Examine(t.Context(), demand) {
			if f.Check == "files of tempdb" {
				found = f
			}
		}
		for _, want := range c.want {
			if !strings.Contains(found.Remedy, want) {
				t.Errorf("%s: no %s in %s", name, want, found.Remedy)
			}
		}
		if wanted := map[bool]filewise.Status{true: filewise.StatusNote, false: filewise.StatusOK}[len(c.want) > 0]; found.Status != wanted {
			t.Errorf("%s: %+v", name, found)
		}
		if _, script, is := strings.Cut(found.Remedy, "\n"); is {
			checkGrammar(t, []string{script}) // which does not parse the statement in the comment
		}
		for _, sent := range lab.wire.Received() {
			if strings.Contains(sent, "ALTER DATABASE [tempdb]") {
				t.Errorf("%s: sent %s", name, sent)
			}
		}
		facts, err := s.Facts(t.Context())
		ok(t, err)
		told := ""
		for _, f := range facts {
			if f.Name == "tempdb" {
				told = f.Value
			}
		}
		if !strings.HasPrefix(told, filewise.FilesName(len(c.files))+": ") {
			t.Errorf("%s: fact %q", name, told)
		}
	}
}
