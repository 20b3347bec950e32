package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filewise"
)

// copyLab is a server that restores a backup of their database, with their tables, indexes and sums.
type copyLab struct {
	*lab
	place    map[string]string // of indexes, by name
	heap     bool              // their table is one
	loses    bool              // a row, while it moves
	forgets  bool              // how full an index's pages were
	shut     bool              // the backup cannot be read
	stranger bool              // the login does not own their database
	backups  int
}

func newCopyLab(t *testing.T, change func(*model)) *copyLab {
	t.Helper()
	c := &copyLab{lab: newLab(t, change), place: map[string]string{"PK]Orders": "PRIMARY", "by date": "OLD"}}
	c.add(theirs, nil)
	c.model.fault = c.answer
	return c
}

var (
	buildsIndex = regexp.MustCompile(`^CREATE .*INDEX \[((?:[^\]]|\]\])*)\] ON .* ON \[(\w+)\]$`)
	ofSection   = map[string]string{"AS table_pages": "tables", "AS index_pages": "indexes", "AS descending": "columns",
		"c.encryption_type IS NULL": "summed", "AS stored": "sum", "AS may_back_up": "original"}
)

func (c *copyLab) answer(_ context.Context, q Request, r *Reply) (bool, error) {
	c.model.mu.Lock()
	defer c.model.mu.Unlock()
	if m := buildsIndex.FindStringSubmatch(q.SQL); m != nil {
		c.place[strings.ReplaceAll(m[1], "]]", "]")] = m[2]
		return true, nil
	}
	switch {
	case strings.Contains(q.SQL, "RESTORE DATABASE"):
		clear(c.place)
		c.place["PK]Orders"], c.place["by date"] = "PRIMARY", "OLD"
	case c.shut && strings.Contains(q.SQL, "FILELISTONLY"):
		r.Error(errNoDevice, 16, `Cannot open backup device. Operating system error 5(Access is denied.).`)
		return true, nil
	case strings.Contains(q.SQL, "BACKUP DATABASE ["):
		c.backups++
		for _, m := range backupDevice.FindAllStringSubmatch(q.SQL, -1) {
			if err := os.WriteFile(m[1], nil, 0o600); err != nil {
				return false, err
			}
		}
	case strings.Contains(q.SQL, "type_desc AS kind"):
		r.Result(str("kind"), big("stored")).Row("FOREIGN_KEY_CONSTRAINT", 3).Row("USER_TABLE", 2)
		return true, nil
	}
	for telling, section := range ofSection {
		if strings.Contains(q.SQL, telling) {
			c.tell(section, r)
			return true, nil
		}
	}
	return false, nil
}

func (c *copyLab) tell(section string, r *Reply) {
	const gib = 131072 // pages
	moved := c.place["PK]Orders"] != "PRIMARY"
	switch section {
	case "tables", "columns":
		applied()["apply-"+section](r)
	case "indexes":
		kind, name := 1, any("PK]Orders")
		if c.heap {
			kind, name = 0, nil
		}
		filled := 90
		if c.forgets && moved {
			filled = 0
		}
		indexRows([]any{1, name, kind, "CLUSTERED", 1, 0, 1, filled, 0, 1, 1, nil, c.place["PK]Orders"], "FG", "PAGE", 6 * gib, 0},
			[]any{2, "by date", 2, "NONCLUSTERED", 0, 0, 0, 0, 1, 0, 0, "([status]=(1))", c.place["by date"], "FG", "NONE", 2 * gib, 0})(r)
	case "summed":
		r.Result(str("table_schema"), str("table_name"), str("column_name")).Row("dbo", "Orders", "id")
	case "sum":
		rows := 7
		if c.loses && moved {
			rows--
		}
		r.Result(big("stored"), big("total")).Row(rows, 42)
	case "original":
		r.Result(big("pages"), str("first_path"), num("may_back_up"), num("may_mark")).
			Row(1000, filepath.Join(c.model.data, "theirs.mdf"), 1, map[bool]int{false: 1}[c.stranger])
	}
}

// fromProgram is custom SQL on what --from names.
func fromProgram(t *testing.T, from string) filewise.Program {
	t.Helper()
	p := customWork(t, deposit, overdrawn).Program()
	custom := *p.Custom
	custom.Setup, custom.From, custom.Tables = nil, from, []filewise.CustomTable{{Name: "Orders", Key: "id"}}
	p.Custom = &custom
	return p
}

// striped is a backup in three files, one with a comma in its name.
const striped = `D:\b\1.bak,E:\b\2, of 3.bak,\\nas\b\3.bak`

const stripes = "DISK = N'D:\\b\\1.bak',\n  DISK = N'E:\\b\\2, of 3.bak',\n  DISK = N'\\\\nas\\b\\3.bak'"

// TestRestoredFromStripes: a backup in several files is restored from all of them, and questions name the first.
func TestRestoredFromStripes(t *testing.T) {
	c := newCopyLab(t, nil)
	db, err := c.open().Build(t.Context(), layout(2), fromProgram(t, striped))
	ok(t, err, db.Drop(t.Context()))
	sent := strings.Join(c.wire.Received(), "\n")
	if strings.Count(sent, stripes) != 1 || strings.Contains(sent, "FILELISTONLY FROM\n  "+stripes) {
		t.Errorf("%s", sent)
	}
}

const theirBackup = `D:\backup\it's shop.bak`

// TestRestored: a backup is restored for each build, all files moved, the tables taken to as many equal files as the
// layout has, and nothing is left of it.
func TestRestored(t *testing.T) {
	for _, files := range []int{1, 4, 8} {
		for _, apart := range []bool{false, true} {
			c := newCopyLab(t, nil)
			s := c.open()
			l := layout(files)
			if apart {
				l.Indexes = filewise.IndexesApart
			}
			db, err := s.Build(t.Context(), l, fromProgram(t, theirBackup))
			ok(t, err)
			name := db.Build.(*build).design.name
			want := map[string]string{"PK]Orders": restoredGroup, "by date": map[bool]string{false: restoredGroup, true: indexGroup}[apart]}
			if fmt.Sprint(c.place) != fmt.Sprint(want) {
				t.Errorf("indexes lie in %v", c.place)
			}
			c.model.mu.Lock()
			d := c.model.databases[name]
			d.strange = []string{"Orders"}
			made := slices.DeleteFunc(d.files, func(f modelFile) bool { return strings.Contains(f.path, "_restored_") })
			d.files = append(slices.Clone(made), modelFile{"users", `C:\x_restored_01.ndf`, "ROWS", "PRIMARY", 8192, 1024})
			c.model.mu.Unlock()
			sizes := map[int64]bool{}
			for _, f := range made[:files] {
				sizes[f.kb] = true
			}
			if least := int64(6 << 20 / files); len(sizes) != 1 || made[0].kb < least || made[0].group != restoredGroup {
				t.Errorf("%+v", made)
			}
			found, err := db.Observe(t.Context())
			ok(t, err)
			if len(found) != len(made)+1 || found[len(found)-1].Role != filewise.RoleSystem || found[files-1].Role != filewise.RoleData {
				t.Errorf("%+v", found)
			}
			sent := strings.Join(c.wire.Received(), "\n")
			for _, want := range []string{`DISK = N'D:\backup\it''s shop.bak'`, `MOVE N'users_log' TO N'L:\LOG\` + name, "SET RECOVERY SIMPLE",
				"CREATE UNIQUE CLUSTERED INDEX [PK]]Orders] ON [dbo].[Orders] ([id]) WITH (DROP_EXISTING = ON, FILLFACTOR = 90"} {
				if !strings.Contains(sent, want) {
					t.Errorf("%q was not sent", want)
				}
			}
			if strings.Contains(sent, "CHECKSUM, RECOVERY") { // they may have made it without
				t.Error("a backup without checksums would be refused")
			}
			if strings.Contains(sent, "QUERY_STORE = OFF") {
				t.Error("settings of theirs are changed in the copy")
			}
			ok(t, db.Drop(t.Context()))
			if left := c.names(); len(left) != 1 || left[0] != theirs {
				t.Errorf("left are %q", left)
			}
		}
	}
}

// TestRestoredDiffers: what is not as it was ends the build, which leaves nothing.
func TestRestoredDiffers(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*copyLab)
		is     error
		says   string
	}{
		"a row":        {func(c *copyLab) { c.loses = true }, filewise.ErrCheck, "dbo.Orders: 7 rows"},
		"a definition": {func(c *copyLab) { c.forgets = true }, filewise.ErrLayout, "not as it was"},
		"a heap":       {func(c *copyLab) { c.heap = true }, filewise.ErrUnsupported, "table dbo.Orders cannot be spread: it has no clustered"},
	} {
		lab := newCopyLab(t, nil)
		c.change(lab)
		_, err := lab.open().Build(t.Context(), layout(2), fromProgram(t, theirBackup))
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
		if left := lab.names(); len(left) != 1 {
			t.Errorf("%s: left are %q", what, left)
		}
	}
}

// TestRestoredFromDatabase: their database is backed up once, COPY_ONLY, for all builds, and the backup removed at the
// end; it is refused if it could not be, unless that is allowed.
func TestRestoredFromDatabase(t *testing.T) {
	dir := t.TempDir()
	ok(t, os.WriteFile(filepath.Join(dir, "theirs.mdf"), nil, 0o600))
	here := func(m *model) { m.client, m.data, m.log, m.mount = "<local machine>", dir, dir, "/" }
	p := fromProgram(t, "sqlserver://filewise@127.0.0.1?database=user%27s+%5Dsales")
	c := newCopyLab(t, here)
	s, err := Engine{}.Open(t.Context(), c.target)
	ok(t, err)
	for range 2 {
		db, err := s.Build(t.Context(), layout(2), p)
		ok(t, err, db.Drop(t.Context()))
	}
	if sent := strings.Join(c.wire.Received(), "\n"); !strings.Contains(sent, "  CHECKSUM, RECOVERY") {
		t.Error("the checksums of a backup of Filewise's are not looked at")
	}
	if files, err := filepath.Glob(filepath.Join(dir, "filewise_*_backup_1_01.bak")); err != nil || len(files) != 1 || c.backups != 1 {
		t.Errorf("%d backups, %q, %v", c.backups, files, err)
	}
	ok(t, s.Close())
	if files, _ := filepath.Glob(filepath.Join(dir, "*.bak")); len(files) > 0 {
		t.Errorf("left is %q", files)
	}
	c = newCopyLab(t, func(m *model) { here(m); m.client = "10.0.0.7" })
	if _, err := c.open().Build(t.Context(), layout(2), p); !errors.Is(err, filewise.ErrUnsupported) || c.backups > 0 {
		t.Errorf("%d backups, %v", c.backups, err)
	}
}

// TestRestorable: what cannot be restored, or spread, is reported before anything is built, and how much space it needs.
// First contact: SQL Server 15.
func TestRestorable(t *testing.T) {
	theirURL := "sqlserver://filewise@127.0.0.1?database=user%27s+%5Dsales"
	for what, c := range map[string]struct {
		from   string
		change func(*copyLab)
		check  string
		status filewise.Status
		says   string
	}{
		"a backup": {theirBackup, nil, "data of --from", filewise.StatusOK, "3.0 GiB"},
		"no room": {theirBackup, func(c *copyLab) { c.model.available = 5 << 30 }, "free space of default", filewise.StatusFailed,
			"6.0 GiB"},
		"not theirs":    {theirURL, func(c *copyLab) { c.stranger = true }, "data of --from", filewise.StatusFailed, "does not own"},
		"not readable":  {theirBackup, func(c *copyLab) { c.shut = true }, "data of --from", filewise.StatusFailed, "Access is denied"},
		"a database":    {theirURL, nil, "data of --from", filewise.StatusOK, "7.8 MiB"},
		"their heap":    {theirURL, func(c *copyLab) { c.heap = true }, "data of --from", filewise.StatusFailed, "table dbo.Orders cannot"},
		"relative path": {"shop.bak", nil, "data of --from", filewise.StatusFailed, "no absolute path"},
	} {
		lab := newCopyLab(t, nil)
		if c.change != nil {
			c.change(lab)
		}
		demand := filewise.Demand{Layouts: []filewise.Layout{layout(2)}, Program: fromProgram(t, c.from),
			Space: map[string]int64{"default": 1 << 20}}
		found := false
		for _, f := range lab.open().Examine(t.Context(), demand) {
			if f.Check == c.check {
				found = true
				if f.Status != c.status || !strings.Contains(f.Detail, c.says) || f.Status == filewise.StatusFailed && f.Remedy == "" {
					t.Errorf("%s: %+v", what, f)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing is said of %s", what, c.check)
		}
	}
}

// TestRestoredScript: the plan names backup, restore and files, right by the grammar; options of new databases are refused.
func TestRestoredScript(t *testing.T) {
	c := newCopyLab(t, nil)
	for from, want := range map[string]string{theirBackup: `DISK = N'D:\backup\it''s shop.bak'`, striped: stripes,
		"sqlserver://x?database=their]s": "BACKUP DATABASE [their]]s] TO"} {
		s, err := Engine{}.Statements(c.target, layout(4), fromProgram(t, from))
		ok(t, err)
		var batches []string
		for _, x := range s.Steps {
			if !strings.Contains(x.SQL, "…") {
				batches = append(batches, x.SQL)
			}
		}
		checkGrammar(t, batches)
		all := strings.Join(batches, "\n")
		for _, want := range []string{want, "RESTORE DATABASE [filewise_", "ADD FILEGROUP [filewise_files]", "TO FILEGROUP [filewise_files]"} {
			if !strings.Contains(all, want) {
				t.Errorf("no %s in\n%s", want, all)
			}
		}
	}
	for _, name := range []string{"log-size", "log_growth", settingMix} {
		c.target.Settings = map[string]string{name: map[bool]string{true: "on", false: "64MiB"}[name == settingMix]}
		if _, err := (Engine{}).Statements(c.target, layout(2), fromProgram(t, theirBackup)); !errors.Is(err, filewise.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.target.Settings = nil
	if _, err := (Engine{}).Statements(c.target, layout(2), fromProgram(t, "sqlserver://x")); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("no database: %v", err)
	}
}
