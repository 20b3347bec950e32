package sqlserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/own/inspect"
)

// inspectSQL holds the questions of package inspect.
var inspectSQL = ownSections(inspect.SQL(engineName))

// answers are the rows of sections of inspect.sql; of a section that has none the
// model states that the right is missing.
type answers map[string]func(*Reply)

// inspectedServer has a filegroup of which one file holds most, growth in percent,
// temporary files of different sizes, a slow log, and waits, benign ones too.
func inspectedServer() answers {
	const gib = 131072 // pages
	return answers{
		"inspect-server": func(r *Reply) {
			r.Result(num("cpus"), big("memory_kb"), big("buffer_kb"), big("age")).Row(16, 64<<20, 32<<20, 360000)
		},
		"inspect-files": func(r *Reply) {
			f := r.Result(str("database_name"), num("database_id"), num("file_id"), str("type"), str("path"), num("space"), big("pages"),
				big("growth"), num("percent_growth"), big("max_pages"), num("access"))
			f.Row("hidden", 7, nil, nil, nil, nil, nil, nil, nil, nil, 0)
			f.Row("sales", 5, 1, "ROWS", `D:\data\sales.mdf`, 1, 8*gib, 10, 1, -1, 1)
			f.Row("sales", 5, 2, "LOG", `L:\log\sales.ldf`, 0, gib, 8192, 0, -1, 1)
			f.Row("sales", 5, 3, "ROWS", `D:\data\sales2.ndf`, 1, gib, 8192, 0, -1, 1)
			f.Row("sales", 5, 4, "ROWS", `D:\data\sales3.ndf`, 1, gib, 8192, 0, -1, 1)
			f.Row("tempdb", 2, 1, "ROWS", `T:\temp1.mdf`, 1, gib, 8192, 0, -1, 1)
			f.Row("tempdb", 2, 3, "ROWS", `T:\temp2.ndf`, 1, 4*gib, 8192, 0, -1, 1)
		},
		"inspect-io": func(r *Reply) {
			r.Result(num("database_id"), num("file_id"), big("reads"), big("read_bytes"), big("read_stall"), big("writes"), big("written_bytes"),
				big("write_stall")).
				Row(5, 1, 10000, 10000*page, 10000*2, 10000, 10000*page, 10000).Row(5, 2, 10, 80, 1, 50000, 50000*page, 50000*12)
		},
		"inspect-volumes": func(r *Reply) {
			r.Result(num("database_id"), num("file_id"), str("mount")).Row(5, 1, `D:\`).Row(5, 3, `D:\`).Row(5, 4, `D:\`)
		},
		"inspect-space": func(r *Reply) {
			r.Result(num("file_id"), big("pages"), big("used"), str("filegroup"), num("grows_all")).
				Row(1, 8*gib, gib, "PRIMARY", 0).Row(3, gib, gib-100, "PRIMARY", 0).Row(4, gib, gib-100, "PRIMARY", 0)
		},
		"inspect-log": func(r *Reply) { r.Result(num("database_id"), big("fragments")).Row(5, 5000) },
		"inspect-waits": func(r *Reply) {
			f := r.Result(str("name"), big("time"), big("waits")).Row("PAGEIOLATCH_SH", 90_000_000, 1000).Row("WRITELOG", 10_000_000, 1000)
			for name := range benign {
				f.Row(name, 1_000_000_000, 1)
			}
			for _, prefix := range benignPrefixes {
				f.Row(prefix+"X", 1_000_000_000, 1)
			}
		},
		"inspect-allocation": func(r *Reply) { r.Result(big("waiting"), big("allocation")).Row(7, 5) },
	}
}

// answer has the model answer the sections.
func (all answers) answer(t *testing.T, m *model) {
	texts := map[string]string{}
	for _, section := range append(inspectSQL.Sections(), "inspect-waits") {
		of := inspectSQL
		if server.Has(section) {
			of = server
		}
		text, err := of.Statement(section, map[string]any{"Name": "sales"})
		if err != nil {
			t.Fatal(err)
		}
		texts[text] = section
	}
	m.fault = func(_ context.Context, q Request, r *Reply) (bool, error) {
		section, ok := texts[q.SQL]
		if reply := all[section]; reply != nil {
			reply(r)
		} else if ok {
			r.Error(errDeniedState, 14, "VIEW SERVER STATE permission was denied on object 'server', database 'master'.")
		}
		return ok, nil
	}
}

func inspectedBy(t *testing.T, all answers) filewise.Inspection {
	t.Helper()
	l := newLab(t, func(m *model) { all.answer(t, m) })
	i, err := inspect.Facts(t.Context(), Engine{}, l.target)
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	return i
}

// What a server has is found, with its evidence and what it is worth; benign waits
// are the probe's.
func TestInspect(t *testing.T) {
	i := inspectedBy(t, inspectedServer())
	if i.Cores != 16 || i.Since != 100*time.Hour || i.Figures[filewise.FigureAllocation] != 5 || len(i.Waits) != 2 {
		t.Errorf("%d cores, %v, %v, waits %+v", i.Cores, i.Since, i.Figures, i.Waits)
	}
	r := inspect.Judge(i, inspect.Target{Engine: engineName, Flags: []string{"--target", "sqlserver://h"}})
	for about, says := range map[string]struct {
		worth    inspect.Worth
		evidence string
	}{
		"filegroup PRIMARY of sales": {inspect.Experiment,
			"3 files, 10 GiB, 16 cores, filled in proportion to free space, so unevenly that they work like 1"},
		"filegroup PRIMARY of sales: balance": {inspect.Mend, "sales.mdf holds 80 % of all, free 800 KiB to 7.0 GiB"},
		"log of sales":                        {inspect.Mend, "5,000 virtual log files"},
		"log of sales: latency":               {inspect.Mend, "sales.ldf 12 ms a write"},
		"temporary files (tempdb)":            {inspect.Mend, "2 files, 5.0 GiB, 16 cores"},
		"waits since the start":               {inspect.Experiment, "PAGEIOLATCH_SH 90 % (data read), WRITELOG 10 % (log)"},
		"files of hidden":                     {inspect.Unknown, "a right on them"},
		"placement":                           {inspect.Perhaps, `all on volume D:\`},
	} {
		n := slices.IndexFunc(r.Findings, func(f inspect.Finding) bool { return f.About == about })
		if n < 0 || r.Findings[n].Worth != says.worth || !strings.Contains(r.Findings[n].Evidence, says.evidence) {
			t.Errorf("%s should be %q and say %q: %+v", about, says.worth, says.evidence, r.Findings)
		}
	}
}

// Each view that the login may not read is named with the GRANT, and the rest shown.
// First contact: fault 4.
func TestInspectWithoutRights(t *testing.T) {
	for section := range inspectedServer() {
		all := inspectedServer()
		delete(all, section)
		i := inspectedBy(t, all)
		lacking := slices.DeleteFunc(i.Gaps, func(g filewise.Gap) bool { return strings.HasPrefix(g.Question, "files of hidden") })
		if len(lacking) != 1 || !strings.Contains(lacking[0].Why, "permission was denied") ||
			!strings.Contains(lacking[0].Remedy, "GRANT VIEW SERVER PERFORMANCE STATE TO [filewise]") {
			t.Errorf("without %s: %+v", section, i.Gaps)
		}
		if section != "inspect-files" && len(i.Groups) != 3 || section != "inspect-waits" && len(i.Waits) != 2 {
			t.Errorf("without %s the rest is not shown: %s", section, fmt.Sprint(i.Groups, i.Waits))
		}
	}
}
