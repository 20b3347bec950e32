package sqlserver

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filewise/engine/enginetest"
	"filewise/own/inspect"
)

// newer are the sections that ask for what the oldest release does not have: their callers
// ask by release, or go without.
var newer = map[string]string{"drives": "2017", "instant-initialization": "2016 SP1", "inspect-log": "2016 SP2",
	"apply-indexes": "2019", "inherited": "2019", "histogram": "2016 SP1 CU2"}

// Every view and column that is referred to is in Microsoft's reference, in the oldest
// release that the adapter takes, and readable with what `engines` lists; and a column is
// read as what the driver gives for its type. None of these names could be misspelt unnoticed.
func TestCatalogue(t *testing.T) {
	known := enginetest.ReadCatalogue(t, "testdata/catalogue.txt")
	rights := strings.Join(Engine{}.Describe().Rights, "\n")
	kinds := map[string]map[string]bool{} // of a result's column, in all sections
	for section, texts := range render(t).sections {
		first := slices.Min(slices.Collect(maps.Keys(texts)))
		for _, place := range known.Overlooked(first) {
			t.Errorf("section %s: a name of %s could be misspelt", section, place)
		}
		for text := range texts {
			u := known.Use(text)
			for _, what := range u.Unknown {
				t.Errorf("section %s: unknown %s", section, what)
			}
			for view, columns := range u.Views {
				v := known[view]
				if v.Permission != "public" && !strings.Contains(rights, v.Permission) {
					t.Errorf("%s needs %s, which engines does not list", view, v.Permission)
				}
				since := []string{v.Since}
				for _, c := range columns {
					since = append(since, v.Columns[c].Since)
				}
				if most := slices.Max(since); most > "2016" && newer[section] != most {
					t.Errorf("section %s asks for %s %q, which is there since %s", section, view, columns, most)
				}
			}
			for name, kind := range u.Results() {
				if kinds[name] == nil {
					kinds[name] = map[string]bool{}
				}
				kinds[name][kind] = true
			}
		}
	}
	accessors(t, kinds)
}

// driven holds what the driver gives for a type, by the accessors of rows that take it.
var driven = map[string][]string{
	"Number": {"tinyint", "smallint", "int", "bigint"}, "Yes": {"tinyint", "smallint", "int", "bigint"},
	"Text": {"nvarchar", "nchar", "varchar", "char", "sysname"},
}

var accessor = regexp.MustCompile(`(?:\.(Number|Yes|Text)\(|number\(\w+, )"(\w+)"\)`)

// accessors: number would take a bit, or a sql_variant, for NULL.
func accessors(t *testing.T, kinds map[string]map[string]bool) {
	files, err := filepath.Glob("*.go")
	ok(t, err)
	within, err := filepath.Glob("internal/*/*.go")
	ok(t, err)
	files = append(files, within...)
	read := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		ok(t, err)
		for _, m := range accessor.FindAllStringSubmatch(string(source), -1) {
			all := slices.Sorted(maps.Keys(kinds[m[2]])) // of sections that have a column of that name
			if len(all) == 0 {
				continue
			}
			read++
			if !slices.ContainsFunc(all, func(kind string) bool { return slices.Contains(driven[cmp.Or(m[1], "Number")], kind) }) {
				t.Errorf("%s: %s(%q) reads a column of type %q", file, m[1], m[2], all)
			}
		}
	}
	if read < 30 {
		t.Errorf("only %d accessors were looked at", read)
	}
}

// What is wrong is reported.
func TestCatalogueTells(t *testing.T) {
	known := enginetest.ReadCatalogue(t, "testdata/catalogue.txt")
	for sql, want := range map[string]string{
		"SELECT cpus FROM sys.dm_os_sys_info":                                           "column cpus",
		"SELECT i.cpus FROM sys.dm_os_sys_info AS i":                                    "column cpus",
		"SELECT name FROM sys.dm_os_sys_infos":                                          "view sys.dm_os_sys_infos",
		"SELECT 1 FROM sys.databases AS d CROSS APPLY sys.dm_db_log_stats(d.id) AS s":   "column id",
		"SELECT v.mount FROM sys.dm_os_volume_stats(1, 2) AS v -- volume_mount_point":   "column mount",
		"SELECT 'cpu_count' FROM sys.dm_os_sys_info WHERE x = 1 AND cpu_count > 1":      "column x",
		"EXEC @r = sys.sp_getaplock @Resource = N'x'; SELECT name FROM sys.filegroups;": "view sys.sp_getaplock",
	} {
		if got := strings.Join(known.Use(sql).Unknown, "; "); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	for sql, want := range map[string]string{
		"SELECT is_percent_growth AS x FROM sys.database_files":              "bit",
		"SELECT f.is_percent_growth AS x FROM sys.database_files AS f":       "bit",
		"SELECT CAST(is_percent_growth AS int) AS x FROM sys.database_files": "int",
		"SELECT value_in_use AS x FROM sys.configurations":                   "sql_variant",
	} {
		if got := known.Use(sql).Results()["x"]; got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// TestFileFiguresHaveTheirNames: what is read by name is of the column with that name.
func TestFileFiguresHaveTheirNames(t *testing.T) {
	named := regexp.MustCompile(`\b((?:num_of|io_stall)_\w+) AS (\w+)`)
	n := 0
	text, err := sqlFiles.ReadFile("sql/server.sql")
	ok(t, err)
	for file, text := range map[string]string{"server.sql": string(text), "inspect's": inspect.SQL(engineName)} {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			n++
			for word := range strings.SplitSeq(m[2], "_") {
				if !strings.Contains(m[1]+"_", "_"+word+"_") {
					t.Errorf("%s: %s is called %s", file, m[1], m[2])
				}
			}
		}
	}
	if n < 12 {
		t.Errorf("%d figures", n)
	}
}
