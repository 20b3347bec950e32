package oracle

import (
	"context"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/own/inspect"
)

// inspectedServer has a tablespace of three datafiles of different sizes, full and
// empty ones, small redo log files, and waits, idle ones too.
func inspectedServer() *fakeServer {
	const gib = int64(1 << 30)
	f := newFake()
	f.answers = map[string][][]any{
		"inspect-instance": {{"360000.5"}},
		"inspect-cores":    {{"NUM_CPUS", int64(16)}, {"PHYSICAL_MEMORY_BYTES", 64 * gib}},
		"inspect-files": {
			{"SALES", "PERMANENT", "NO", int64(7), "/u01/sales1.dbf", 8 * gib, "YES", int64(8192), 32 * gib},
			{"SALES", "PERMANENT", "NO", int64(8), "/u01/sales2.dbf", gib, "NO", int64(0), int64(0)},
			{"SALES", "PERMANENT", "NO", int64(9), "/u02/sales3.dbf", gib, "NO", int64(0), int64(0)},
			{"SYSTEM", "PERMANENT", "NO", int64(1), "/u01/system01.dbf", gib, "YES", int64(10 << 20), int64(0)},
			{"UNDOTBS1", "UNDO", "NO", int64(3), "+DATA/x/undo.1", gib, "YES", int64(10 << 20), int64(0)},
		},
		"inspect-free":     {{int64(7), 7 * gib}},
		"inspect-io":       {{int64(7), int64(10000), int64(10000), int64(12000), int64(100)}},
		"inspect-temp":     {{"TEMP", "NO", "/u01/temp01.dbf", gib, "YES", int64(10 << 20)}},
		"inspect-log":      {{"/u03/redo01.log", int64(50 << 20)}, {"/u03/redo02.log", int64(50 << 20)}},
		"inspect-switches": {{int64(900)}},
		"inspect-cache": {{"physical reads cache", int64(1e8)}, {"db block gets from cache", int64(1e9)},
			{"consistent gets from cache", int64(9e9)}},
		"waits": {
			{"db file sequential read", "User I/O", int64(1e9), int64(60e9)}, {"enq: HW - contention", "Configuration", int64(1e6), int64(40e9)},
			{"rdbms ipc message", "Other", int64(1), int64(9e15)}, {"SQL*Net message from client", "Idle", int64(1), int64(9e15)},
		},
	}
	return f
}

// inspectSQL holds the questions of package inspect.
var inspectSQL = ownSections(inspect.SQL("oracle"))

func inspectWith(ctx context.Context, c client) filewise.Inspection {
	return inspect.Ask(ctx, "oracle", &questions{client: c, about: about{version: "19.3", account: "ADA"}, file: inspectSQL})
}

// What a server has is found, with its evidence and what it is worth.
func TestInspect(t *testing.T) {
	i := inspectWith(t.Context(), inspectedServer())
	if i.Cores != 16 || i.Since.Hours() < 100 || len(i.Waits) != 2 || len(i.Gaps) != 0 || i.Figures[filewise.FigureRequests] != 1e10 {
		t.Errorf("%d cores, %v, %v, waits %+v, gaps %+v", i.Cores, i.Since, i.Figures, i.Waits, i.Gaps)
	}
	r := inspect.Judge(i, inspect.Target{Engine: "oracle", Flags: []string{"--target", "oracle://h/svc"}})
	for about, says := range map[string]struct {
		worth    inspect.Worth
		evidence string
	}{
		"tablespace SALES": {inspect.Experiment, "3 files, 10 GiB, 16 cores, filled extent by extent, in turns, so unevenly that they " +
			"work like 1"},
		"tablespace SALES: balance": {inspect.Mend, "sales1.dbf holds 80 % of all, free 0 B to 7.0 GiB"},
		"tablespace SALES: latency": {inspect.Experiment, "sales1.dbf 12 ms a read"},
		"placement":                 {inspect.Know, "2 files on /u01"},
		"waits since the start":     {inspect.Experiment, "db file sequential read 60 % (data read), enq: HW - contention 40 % (allocation)"},
		"log switches":              {inspect.Mend, "900 in the last day, with log files of 50 MiB"},
		"redo log":                  {inspect.Know, "2 files, 100 MiB: all on /u03"},
	} {
		n := slices.IndexFunc(r.Findings, func(f inspect.Finding) bool { return f.About == about })
		if n < 0 || r.Findings[n].Worth != says.worth || !strings.Contains(r.Findings[n].Evidence, says.evidence) {
			t.Errorf("%s should be %q and say %q: %+v", about, says.worth, says.evidence, r.Findings)
		}
	}
}

// Each view that the account may not read is named with its GRANT, and the rest is
// shown.
func TestInspectWithoutRights(t *testing.T) {
	for section := range inspectedServer().answers {
		f := inspectedServer()
		f.fails[section] = oracleError(942)
		i := inspectWith(t.Context(), f)
		if len(i.Gaps) != 1 || !strings.HasPrefix(i.Gaps[0].Remedy, "GRANT SELECT ON SYS.") || !strings.HasSuffix(i.Gaps[0].Remedy, " TO ADA") {
			t.Errorf("without %s: %+v", section, i.Gaps)
			continue
		}
		of := inspectSQL
		if serverSQL.Has(section) {
			of = serverSQL
		}
		text, err := of.Statements(section, vars{})
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(i.Gaps[0].Remedy, "; ") {
			if name = strings.Fields(name)[3]; !strings.Contains(strings.ToUpper(text[0]), name) {
				t.Errorf("%s does not read %s:\n%s", section, name, text[0])
			}
		}
		if views := strings.Count(strings.ToUpper(text[0]), "SYS."); views != strings.Count(i.Gaps[0].Remedy, "GRANT") {
			t.Errorf("%s reads %d views: %s", section, views, i.Gaps[0].Remedy)
		}
	}
}
