package sqlserver

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/own/apply"
)

const theirs = `user's ]sales`

// applied answers what a script for their database is written from.
func applied() answers {
	const gib = 131072 // pages
	return answers{
		"apply-database": func(r *Reply) {
			r.Result(str("first_path"), str("recovery"), num("replicated")).Row(`D:\it's\sales.mdf`, "FULL", 1)
		},
		"apply-tables": func(r *Reply) {
			r.Result(num("id"), str("table_schema"), str("table_name"), num("in_memory"), num("file_table"), num("lob_space"), big("table_pages")).
				Row(7, "dbo", "Orders", 0, 0, 1, 8*gib).Row(8, "dbo", "Small", 0, 0, 0, 8)
		},
		"apply-indexes": indexRows([]any{1, "PK]Orders", 1, "CLUSTERED", 1, 0, 1, 90, 0, 1, 1, nil, "PRIMARY", "FG", "PAGE", 6 * gib, 1},
			[]any{2, "by date", 2, "NONCLUSTERED", 0, 0, 0, 0, 1, 0, 0, "([status]=(1))", "OLD", "FG", "NONE", 2 * gib, 0},
			[]any{3, "off", 2, "NONCLUSTERED", 0, 1, 0, 0, 0, 1, 1, nil, "PRIMARY", "FG", nil, nil, 0}),
		"apply-columns": func(r *Reply) {
			r.Result(num("index_id"), str("column_name"), num("descending"), num("included")).Row(1, "id", 0, 0).
				Row(2, "day", 1, 0).Row(2, "id", 0, 0).Row(2, "am]ount", 0, 1).Row(3, "id", 0, 0)
		},
	}
}

func indexRows(rows ...[]any) func(*Reply) {
	return func(r *Reply) {
		f := r.Result(num("index_id"), str("index_name"), num("index_type"), str("index_kind"), num("is_unique"), num("disabled"), num("padded"),
			num("filled"), num("ignoring"), num("row_locks"), num("page_locks"), str("filter"), str("space_name"), str("space_type"),
			str("compressed"), big("index_pages"), num("sequential"))
		for _, row := range rows {
			f.Row(row...)
		}
	}
}

// asked has the model answer sections of their database.
func (all answers) asked(t *testing.T, lab *lab) {
	t.Helper()
	lab.add(theirs, nil)
	lab.model.fault = func(_ context.Context, q Request, r *Reply) (bool, error) {
		for section, reply := range all {
			for _, sequential := range []bool{false, true} { // by the server's release
				text, err := tablesSQL.Statement(section, map[string]any{"Sequential": sequential})
				if err != nil {
					return false, err
				}
				if q.SQL == text {
					reply(r)
					return true, nil
				}
			}
		}
		return false, nil
	}
}

func migrate(t *testing.T, all answers, change func(*lab, *filewise.Wish)) (filewise.Migration, error) {
	t.Helper()
	lab := newLab(t, nil)
	all.asked(t, lab)
	lab.target.Volumes = []filewise.Volume{{Name: "a", Dir: `E:\it's`}, {Name: "b", Dir: `F:\x`}}
	l := layout(4)
	l.Data.Placement, l.Indexes, l.IndexVolume = filewise.PlaceRoundRobin, filewise.IndexesApart, "b"
	w := filewise.Wish{Layout: l, Database: theirs, Run: 12}
	if change != nil {
		change(lab, &w)
	}
	return apply.Migrate(t.Context(), Engine{}, lab.target, w)
}

// batchesOf returns a script's, as sqlcmd divides it.
func batchesOf(m filewise.Migration, steps []filewise.MigrationStep) []string {
	text := m.Opening
	for _, s := range steps {
		for _, sql := range s.SQL {
			text += "\n" + sql + ";"
		}
	}
	return strings.Split(text, "\nGO\n")
}

// TestMigrate: both scripts are right by the grammar, and the second takes back what the first
// has done: every index is built under its own definition, and no file is left.
func TestMigrate(t *testing.T) {
	m, err := migrate(t, applied(), nil)
	ok(t, err)
	there, back := batchesOf(m, m.Steps), batchesOf(m, m.Back)
	older := append(slices.Clone(there), back...)
	for i := range older {
		older[i] = strings.Replace(older[i], "OPTIMIZE_FOR_SEQUENTIAL_KEY = ON, ", "", 1) // asked for from 2019 on
	}
	checkGrammar(t, older)
	if !slices.Equal(m.Tables, []string{"dbo.Orders"}) || m.Bytes != 8<<30 || m.Space["a"] < 6<<30 || m.Space["b"] < 2<<30 {
		t.Errorf("%v %d %v", m.Tables, m.Bytes, m.Space)
	}
	place := map[string]string{"PK]]Orders": "PRIMARY", "by date": "OLD"}
	files := map[string]string{}
	was := maps.Clone(place)
	execute(t, there, place, files)
	if place["PK]]Orders"] != "files_12" || place["by date"] != "indexes_12" || len(files) != 8 {
		t.Errorf("%v %v", place, files)
	}
	execute(t, back, place, files)
	if !maps.Equal(place, was) || len(files) > 0 {
		t.Errorf("back: %v %v", place, files)
	}
	all := strings.Join(append(there, back...), "\n")
	for _, want := range []string{"CREATE UNIQUE CLUSTERED INDEX [PK]]Orders] ON [dbo].[Orders] ([id]) WITH (DROP_EXISTING = ON, " +
		"FILLFACTOR = 90, PAD_INDEX = ON, OPTIMIZE_FOR_SEQUENTIAL_KEY = ON, DATA_COMPRESSION = PAGE, ONLINE = ON) ON [PRIMARY];",
		"CREATE NONCLUSTERED INDEX [by date] ON [dbo].[Orders] ([day] DESC, [id]) INCLUDE ([am]]ount]) WHERE ([status]=(1)) WITH " +
			"(DROP_EXISTING = ON, IGNORE_DUP_KEY = ON, ALLOW_ROW_LOCKS = OFF, ALLOW_PAGE_LOCKS = OFF, ONLINE = ON) ON [OLD];",
		`FILENAME = N'E:\it''s\user''s ]sales_files_12_1.ndf'`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	if strings.Contains(all, "ALTER DATABASE [") || strings.Contains(m.Opening, "DB_NAME") ||
		!strings.Contains(m.Opening, "(N'by date', 2, 0, N'([status]=(1))', 1, 1, N'day')") ||
		!strings.Contains(m.Opening, "OBJECT_ID(N'[dbo].[Orders]', N'U')") {
		t.Errorf("the script is not one for a copy:\n%s", m.Opening)
	}
	if strings.Contains(all, "[off]") {
		t.Error("a disabled index would be enabled")
	}
	said := strings.Join(slices.Concat(m.Effects, m.Stays, m.Client), "\n")
	for _, want := range []string{"the same directories", "back it up between", "(max) types", "-I", "-b", theirs, "127.0.0.1,"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
}

var (
	addsFile    = regexp.MustCompile(`ADD FILE \(NAME = N'([^']*)'.* TO FILEGROUP \[(\w+)\];$`)
	removesFile = regexp.MustCompile(`REMOVE FILE \[([^\]]*)\];$`)
	movesIndex  = regexp.MustCompile(`INDEX \[((?:[^\]]|\]\])*)\] ON .* ON \[(\w+)\];$`)
)

// execute does what batches do with files and indexes: none comes into a filegroup without
// files, and no file goes that has something in its group.
func execute(t *testing.T, batches []string, place, files map[string]string) {
	t.Helper()
	for _, b := range batches {
		switch add, remove, move := addsFile.FindStringSubmatch(b), removesFile.FindStringSubmatch(b), movesIndex.FindStringSubmatch(b); {
		case add != nil:
			files[add[1]] = add[2]
		case remove != nil:
			if slices.Contains(slices.Collect(maps.Values(place)), files[remove[1]]) {
				t.Errorf("%s: it is not empty", b)
			}
			delete(files, remove[1])
		case move != nil:
			if g := move[2]; g != "PRIMARY" && g != "OLD" && !slices.Contains(slices.Collect(maps.Values(files)), g) {
				t.Errorf("%s: no files there", b)
			}
			place[move[1]] = move[2]
		}
	}
}

// TestMigrateElsewhere: without the Enterprise edition nothing is online, without volumes the
// files lie next to the first one, and what no name is given of is refused.
func TestMigrateElsewhere(t *testing.T) {
	m, err := migrate(t, applied(), func(l *lab, w *filewise.Wish) {
		l.model.engine = editionStandard
		l.target.Volumes = []filewise.Volume{{Name: "default"}}
		w.Layout = layout(2)
	})
	ok(t, err)
	all := strings.Join(batchesOf(m, m.Steps), "\n")
	if strings.Contains(all, "ONLINE") || !strings.Contains(all, `N'D:\it''s\user''s ]sales_files_12_2.ndf'`) ||
		strings.Contains(all, "indexes_12") || !strings.Contains(m.Steps[1].Locks, "no one else writes") {
		t.Errorf("%s", all)
	}
	for what, change := range map[string]func(*lab, *filewise.Wish){
		"database": func(_ *lab, w *filewise.Wish) { w.Database = "" },
		"kind":     func(_ *lab, w *filewise.Wish) { w.Layout.Kind = filewise.KindPartitions },
		"table":    func(_ *lab, w *filewise.Wish) { w.Tables = []string{"nobody's"} },
	} {
		if _, err := migrate(t, applied(), change); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestMigrateRefuses what does not move by its indexes, with the table's name.
func TestMigrateRefuses(t *testing.T) {
	for what, row := range map[string][]any{
		"no clustered index": {0, nil, 0, "HEAP", 0, 0, 0, 0, 0, 1, 1, nil, "PRIMARY", "FG", "NONE", 9, 0},
		"is partitioned":     {1, "PK", 1, "CLUSTERED", 1, 0, 0, 0, 0, 1, 1, nil, "scheme", "PS", "NONE", 9, 0},
		"COLUMNSTORE":        {2, "cs", 6, "NONCLUSTERED COLUMNSTORE", 0, 0, 0, 0, 0, 1, 1, nil, "PRIMARY", "FG", "NONE", 9, 0},
	} {
		all := applied()
		all["apply-indexes"] = indexRows(row)
		_, err := migrate(t, all, nil)
		if !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(err.Error(), "dbo.Orders") || !strings.Contains(err.Error(), what) ||
			!strings.Contains(filewise.RemedyOf(err), "--table") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
