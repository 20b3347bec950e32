package sqlserver

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/internal/marker"
	"filewise/lab/workload"
	"filewise/own/backup"
)

// ownLab is a server on this host that backs up their database. Their table lines is written to between any
// two looks.
type ownLab struct {
	*lab
	dir, other    string // of two volumes
	may, counting bool
	looks         int
	damaged       string // the restored table that differs
	simple        bool   // the recovery model
	lasted        int    // seconds, the last full backup of msdb. If 0, there is none
}

func newOwnLab(t *testing.T, change func(*model)) *ownLab {
	t.Helper()
	o := &ownLab{dir: t.TempDir(), other: t.TempDir(), may: true, counting: true}
	o.lab = newLab(t, func(m *model) {
		m.client, m.data, m.log, m.mount = "<local machine>", o.dir, o.dir, "/"
		if change != nil {
			change(m)
		}
	})
	ok(t, os.WriteFile(filepath.Join(o.dir, "theirs.mdf"), nil, 0o600))
	o.add(theirs, nil)
	o.model.fault = o.answer
	o.target.Database, o.target.BackupsThere = theirs, true
	o.target.Volumes = []filewise.Volume{{Name: "a", Dir: o.dir}, {Name: "b", Dir: o.other}}
	return o
}

var backupDevice = regexp.MustCompile(`DISK = N'([^']*)'`)

func (o *ownLab) answer(_ context.Context, q Request, r *Reply) (bool, error) {
	if strings.Contains(q.SQL, "BACKUP DATABASE") {
		for _, m := range backupDevice.FindAllStringSubmatch(q.SQL, -1) {
			if m[1] == null { // a device, and a file's name here
				continue
			}
			if err := os.WriteFile(m[1], nil, 0o600); err != nil {
				return false, err
			}
		}
	}
	o.model.mu.Lock()
	defer o.model.mu.Unlock()
	copied := q.Session.Login.Database != theirs
	switch {
	case strings.Contains(q.SQL, "AS may_back_up"):
		r.Result(big("pages"), str("first_path"), num("may_back_up"), num("may_mark")).
			Row(1000, filepath.Join(o.dir, "theirs.mdf"), map[bool]int{true: 1}[o.may], 1)
	case strings.Contains(q.SQL, "AS part"):
		r.Result(str("part"), big("pages"), num("refused")).Row("PRIMARY", 100, map[bool]int{true: 1}[o.simple]).Row("ARCHIVE", 900, 0)
	case strings.Contains(q.SQL, "FROM msdb.dbo.backupset"):
		if r.Result(big("seconds")); o.lasted > 0 {
			r.Row(o.lasted)
		}
	case strings.Contains(q.SQL, "FROM sys.database_query_store_options"):
		r.Result(num("state")).Row(map[bool]int{true: 2}[o.counting])
	case strings.Contains(q.SQL, "FROM sys.query_store_runtime_stats"):
		o.looks++
		r.Result(big("calls"), big("microseconds")).Row(o.looks*100, o.looks*100*2000)
	case strings.Contains(q.SQL, "c.encryption_type IS NULL"):
		r.Result(str("table_schema"), str("table_name"), str("column_name")).Row("dbo", "lines", "id").Row("dbo", "lines", "what").
			Row("dbo", "ord]ers", "id").Row("dbo", "pictures", nil)
	case strings.Contains(q.SQL, "AS stored"):
		o.looks++
		total := 42
		if strings.Contains(q.SQL, "[lines]") {
			total = o.looks
		}
		if copied && o.damaged != "" && strings.Contains(q.SQL, o.damaged) {
			total++
		}
		r.Result(big("stored"), big("total")).Row(7, total)
	default:
		return false, nil
	}
	return true, nil
}

func (o *ownLab) open(t *testing.T) *ownServer {
	t.Helper()
	s, err := Engine{}.Open(t.Context(), o.target)
	ok(t, err)
	t.Cleanup(func() { ok(t, s.Close()) })
	return s.(*ownServer)
}

func ownLayout(files int, options ...string) filewise.Layout {
	l := filewise.Layout{Name: "x", Kind: filewise.KindFilegroup, Backup: filewise.Spread{Files: files}}
	for i := 0; i < len(options); i += 2 {
		l.BackupOptions = l.BackupOptions.With(options[i], options[i+1])
	}
	return l
}

func ownProgram(t *testing.T, proof bool) filewise.Program {
	t.Helper()
	w, err := workload.NewDump(workload.Params{Own: true, Proof: proof}, 1)
	ok(t, err)
	return w.Program()
}

// TestOwnPart: filegroups are backed up by themselves, if the recovery model lets them, and the size of a backup is
// by msdb's entry of the last one.
func TestOwnPart(t *testing.T) {
	o := newOwnLab(t, nil)
	o.target.Part, o.lasted = []string{"PRIMARY"}, 25_200
	s := o.open(t)
	size, err := s.BackupSize(t.Context())
	if want := (filewise.BackupSize{Bytes: 100 * page, Whole: 1000 * page, Last: 7 * time.Hour}); err != nil || size != want {
		t.Errorf("%+v: %v", size, err)
	}
	db, err := s.Build(t.Context(), ownLayout(2), ownProgram(t, false))
	ok(t, err)
	_, err = db.Backup.Backup(t.Context())
	ok(t, err)
	if want := "BACKUP DATABASE [user's ]]sales] FILEGROUP = N'PRIMARY' TO"; !strings.Contains(strings.Join(o.wire.Received(), "\n"), want) {
		t.Errorf("%q was not sent", want)
	}
	ok(t, db.Drop(t.Context()))
	o.simple, o.lasted = true, 0
	if _, err := s.BackupSize(t.Context()); !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(err.Error(), "SIMPLE") {
		t.Errorf("a filegroup in the SIMPLE model: %v", err)
	}
	s.target.Part = []string{"ARCHIVES"}
	if _, err := s.BackupSize(t.Context()); err == nil || !strings.Contains(filewise.RemedyOf(err), "ARCHIVE, PRIMARY") {
		t.Errorf("a filegroup that is not there: %v", err)
	}
}

// TestOwnBackup: their database is backed up to stripes on all volumes, restored to a marked name and
// compared, except for what was written to in the meantime; a difference is found, and nothing is left.
func TestOwnBackup(t *testing.T) {
	o := newOwnLab(t, nil)
	s := o.open(t)
	for _, f := range s.Examine(t.Context(), filewise.Demand{}) {
		if f.Status == filewise.StatusFailed {
			t.Errorf("%+v", f)
		}
	}
	facts, err := s.Facts(t.Context())
	ok(t, err)
	if last := facts[len(facts)-1]; !strings.Contains(last.Value, "2 ms each, without a backup") {
		t.Errorf("%+v", facts)
	}
	db, err := s.Build(t.Context(), ownLayout(3, "volume", "all", "compression", "on", "maxtransfersize", "4MiB", "buffercount", "64"),
		ownProgram(t, true))
	ok(t, err)
	files, err := db.Backup.Backup(t.Context())
	ok(t, err)
	if len(files) != 3 || files[1].Volume != "b" || files[2].Volume != "a" || files[0].Bytes == 0 {
		t.Errorf("%+v", files)
	}
	sent := strings.Join(o.wire.Received(), "\n")
	for _, want := range []string{"BACKUP DATABASE [user's ]]sales] TO", "COPY_ONLY, NOFORMAT, NOINIT, CHECKSUM", "COMPRESSION, " +
		"BUFFERCOUNT = 64", "MAXTRANSFERSIZE = 4194304"} {
		if !strings.Contains(sent, want) {
			t.Errorf("%q was not sent", want)
		}
	}
	ok(t, db.Backup.Restore(t.Context()), db.Backup.Verify(t.Context()))
	name := db.Backup.(*ownBackup).restored
	o.model.mu.Lock()
	copied := o.model.databases[name]
	copied.strange = []string{"ord]ers"} // what is theirs is no reason to keep the copy
	o.damaged = "[ord]]ers]"
	o.model.mu.Unlock()
	if m, err := marker.Parse(name, copied.properties["filewise"]); err != nil || !m.Custom {
		t.Errorf("%s: %+v, %v", name, m, err)
	}
	if err := db.Backup.Verify(t.Context()); !errors.Is(err, filewise.ErrCheck) || !strings.Contains(err.Error(), "dbo.ord]ers: 7 rows") {
		t.Errorf("%v", err)
	}
	ok(t, db.Drop(t.Context()))
	if left := o.names(); len(left) != 1 || left[0] != theirs {
		t.Errorf("left are %q", left)
	}
	for _, f := range files {
		if _, err := os.Stat(f.Path); err == nil {
			t.Errorf("left is %s", f.Path)
		}
	}
	thrown := ownLayout(2)
	thrown.Discard = true
	db, err = s.Build(t.Context(), thrown, ownProgram(t, false))
	ok(t, err)
	files, err = db.Backup.Backup(t.Context())
	if ok(t, err, db.Drop(t.Context())); len(files) != 2 || files[0].Path != null {
		t.Errorf("%+v", files)
	}
}

// TestOwnRefuses what no backup of theirs can be, before anything is written.
func TestOwnRefuses(t *testing.T) {
	o := newOwnLab(t, func(m *model) { m.engine, m.edition = editionExpress, "Express Edition" })
	o.may, o.counting = false, false
	s := o.open(t)
	if s.probes() != nil {
		t.Error("work is counted by nobody")
	}
	failed := map[string]bool{}
	demand := filewise.Demand{Layouts: []filewise.Layout{ownLayout(1, "compression", "on")}}
	for _, f := range s.Examine(t.Context(), demand) {
		failed[f.Check] = f.Status == filewise.StatusFailed && f.Remedy != ""
	}
	if !failed["right to back up"] || !failed["compression"] {
		t.Errorf("%v", failed)
	}
	for what, l := range map[string]filewise.Layout{"volume": ownLayout(1, "volume", "c"), "stripes": ownLayout(65),
		"option":      ownLayout(1, "x", "y"),
		"compression": ownLayout(1, "compression", "on"), "memory": ownLayout(1, "buffercount", "300", "maxtransfersize", "4MiB")} {
		if _, err := s.Build(t.Context(), l, ownProgram(t, false)); err == nil || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	o.target.Volumes = []filewise.Volume{{Name: "far", Dir: "/nowhere/here"}}
	if _, err := o.open(t).Build(t.Context(), ownLayout(1), ownProgram(t, false)); !errors.Is(err, filewise.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	ok(t, os.Remove(filepath.Join(o.dir, "theirs.mdf"))) // the server only looks local
	o.target.Volumes = []filewise.Volume{{Name: "a", Dir: o.dir}}
	db, err := o.open(t).Build(t.Context(), ownLayout(1), ownProgram(t, false))
	ok(t, err)
	if _, err := db.Backup.Backup(t.Context()); !errors.Is(err, filewise.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	if strings.Contains(strings.Join(o.wire.Received(), "\n"), "BACKUP DATABASE [") {
		t.Error("something was written")
	}
}

// TestOwnElsewhere: a client on another host backs up what is theirs if its files can stay, one name a layout, of which the
// server reports the size and the statement the time; without that word it is refused in preflight.
func TestOwnElsewhere(t *testing.T) {
	o := newOwnLab(t, func(m *model) { m.client = "10.0.0.7" })
	layouts := []filewise.Layout{ownLayout(2), ownLayout(2, "compression", "on")}
	layouts[1].Name = "y"
	look := func(s *ownServer) (found filewise.Finding) {
		for _, f := range s.Examine(t.Context(), filewise.Demand{Layouts: layouts}) {
			if f.Check == "backup files" {
				found = f
			}
		}
		return found
	}
	if f := look(o.open(t)); f.Status != filewise.StatusFailed || !strings.Contains(f.Remedy, "keep-backups=on") {
		t.Errorf("%+v", f)
	}
	o.target.Settings = map[string]string{"keep-backups": "on"}
	s := o.open(t)
	if f := look(s); f.Status != filewise.StatusWarning || !strings.Contains(f.Remedy, "on the server's host") {
		t.Errorf("%+v", f)
	}
	written := map[string]string{} // by path the layout
	for range 2 {
		for _, l := range layouts {
			db, err := s.Build(t.Context(), l, ownProgram(t, true))
			ok(t, err)
			for range 2 {
				files, err := db.Backup.Backup(t.Context())
				ok(t, err, db.Backup.Restore(t.Context()), db.Backup.Verify(t.Context()))
				for _, f := range files {
					if before := written[f.Path]; before != "" && before != l.Name || !f.Stays || f.Bytes == 0 {
						t.Errorf("%+v of %s and %s", f, l.Name, before)
					}
					written[f.Path] = l.Name
				}
			}
			if took := db.Backup.(*ownBackup).Took(); took <= 0 {
				t.Errorf("took %v", took)
			}
			ok(t, db.Drop(t.Context()))
		}
	}
	if len(written) != 4 {
		t.Errorf("%d files: %v", len(written), written)
	}
	o.target.Settings["log-size"] = "1GiB"
	if _, err := o.open(t).Build(t.Context(), layouts[0], ownProgram(t, false)); !errors.Is(err, filewise.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

// TestOwnArms are all options that the engine takes; with volumes, each and all of them.
func TestOwnArms(t *testing.T) {
	for volumes, want := range map[int]int{1: 6, 2: 5} {
		target := filewise.Target{Volumes: volumeSets["windows"][:volumes]}
		arms, err := backup.SQLServer{Engine: Engine{}}.BackupArms(target, filewise.Program{})
		ok(t, err)
		n := 0
		for _, arm := range arms {
			name, values, _ := strings.Cut(arm, "=")
			for value := range strings.SplitSeq(values, ",") {
				n++
				target.Database = theirs
				script, err := Engine{}.Statements(filewise.Target{Mode: filewise.External, Address: &filewise.Address{}, Database: theirs,
					Volumes: target.Volumes}, ownLayout(4, name, value), filewise.Program{})
				ok(t, err)
				checkGrammar(t, []string{script.Steps[0].SQL})
			}
		}
		if n != want {
			t.Errorf("%d values of %q", n, arms)
		}
	}
}

// TestOwnScript: the script gives sqlcmd statements that are right by the grammar, restores to a new name with
// MOVE for every file, and takes no name that would break out.
func TestOwnScript(t *testing.T) {
	bin, said := t.TempDir(), filepath.Join(t.TempDir(), "said")
	ok(t, os.WriteFile(filepath.Join(bin, "sqlcmd"), []byte("#!/bin/sh\nprintf '%s\\0' \"$@\" >> \"$SAID\"\n"), 0o700))
	target := filewise.Target{Database: theirs, Address: &filewise.Address{Host: "db", User: "it's"}, Volumes: volumeSets["windows"][:2]}
	text, err := backup.SQLServer{Engine: Engine{}}.BackupScript(target,
		ownLayout(2, "volume", "all", "compression", "on", "buffercount", "64"), filewise.Program{})
	ok(t, err)
	run := func(lines []string, name string) error {
		c := osexec.CommandContext(t.Context(), "sh", "-euc", strings.Join(lines, "\n"), "sh", "-C")
		c.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "SAID=" + said, "to=" + name, "from=" + name, "database=again"}
		return c.Run()
	}
	ok(t, run(text.Backup, "monday"), run(text.Restore, "monday"))
	b, err := os.ReadFile(said)
	ok(t, err)
	var batches []string
	words := strings.Split(string(b), "\x00")
	for i, w := range words {
		if w == "-Q" {
			batches = append(batches, words[i+1])
		}
	}
	device := `N'D:\it''s [data]\$(name)_01.bak'`
	if len(batches) != 2 || !strings.Contains(batches[0], device) || !strings.Contains(string(b), "name=monday\x00") {
		t.Fatalf("%q", words)
	}
	checkGrammar(t, batches)
	for _, want := range []string{"THROW 50001", "MOVE N'''", `N''D:\it''''s [data]\$(name)_01.bak''`, "DB_ID(N'user''s ]sales')"} {
		if !strings.Contains(batches[1], want) {
			t.Errorf("no %s in\n%s", want, batches[1])
		}
	}
	for _, bad := range []string{"", "x'; DROP", "$(x)", "../x"} {
		if run(text.Backup, bad) == nil || run(text.Restore, bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
