package backup

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// parted names what is backed up: all, or tablespaces.
const parted = `(DATABASE|TABLESPACE "[^"]+"(, "[^"]+")*)`

// allowed is all that RMAN is ever given, by the syntax of the Backup and Recovery Reference:
// ALLOCATE CHANNEL, BACKUP, RESTORE … VALIDATE, CHANGE … UNCATALOG of a tag of Filewise's.
var allowed = []*regexp.Regexp{
	regexp.MustCompile(`^CONNECT TARGET "[^" /@]+/[^" /@]+@//[\w.-]+:\d+/[\w.]+ AS SYSBACKUP";$`),
	regexp.MustCompile(`^RUN \{$|^\}$|^EXIT;$`),
	regexp.MustCompile(`^ALLOCATE CHANNEL filewise\d+ DEVICE TYPE DISK( FORMAT '[^']+/%U')?;$`),
	regexp.MustCompile(`^SET COMPRESSION ALGORITHM 'BASIC';$`),
	regexp.MustCompile(`^BACKUP( AS COMPRESSED BACKUPSET)?( FILESPERSET \d+)?( SECTION SIZE \d+M)? ` +
		`TAG 'FILEWISE_[^']{1,21}' ` + parted + `;$`),
	regexp.MustCompile(`^BACKUP VALIDATE( FILESPERSET \d+)?( SECTION SIZE \d+M)? ` + parted + `;$`),
	regexp.MustCompile(`^RESTORE DATABASE FROM TAG 'FILEWISE_[^']{1,21}' VALIDATE;$`),
	regexp.MustCompile(`^CHANGE BACKUP TAG 'FILEWISE_[^']{1,21}' UNCATALOG;$`),
}

func rmanIs(line string) bool {
	for _, a := range allowed {
		if a.MatchString(line) {
			return true
		}
	}
	return false
}

func rmanTarget(dir string) filewise.Target {
	return filewise.Target{Engine: "oracle", Mode: filewise.External, Database: "PDB1", ServerBin: dir,
		Volumes: []filewise.Volume{{Name: "v", Dir: dir}},
		Address: &filewise.Address{Scheme: "oracle", User: "ada", Password: filewise.Secret("Qq7Canary"), Host: "db", Path: "pdb1"}}
}

// layout has channels, and options as NAME=VALUE.
func layout(channels int, options ...string) filewise.Layout {
	l := filewise.Layout{Name: "x", Backup: filewise.Spread{Files: channels}}
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		l.BackupOptions = l.BackupOptions.With(name, value)
	}
	return l
}

func rmanProgram(t *testing.T, proof bool) filewise.Program {
	t.Helper()
	w, err := workload.NewDump(workload.Params{Connections: 1, CommitEvery: 1, Own: true, Proof: proof}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return w.Program()
}

// Every line of every setting is one that is allowed; damaged and dangerous ones are not, and
// no two settings are the same.
func TestLines(t *testing.T) {
	seen := map[string]bool{}
	for _, compress := range []string{"no", "basic"} {
		for _, section := range []string{"0", "512"} {
			for _, set := range []string{"1", "4"} {
				for _, channels := range []int{1, 8} {
					l := layout(channels, "compress="+compress, "section="+section, "filesperset="+set)
					s, err := rmanScript(rmanTarget("/u02/backup"), l, rmanProgram(t, true))
					if err != nil {
						t.Fatal(err)
					}
					all := ""
					for _, x := range s.Steps {
						all += x.SQL + "\n"
					}
					if seen[all] {
						t.Errorf("two settings are the same:\n%s", all)
					}
					seen[all] = true
					l.Discard = true
					if s, err = rmanScript(rmanTarget("/u02/backup"), l, rmanProgram(t, false)); err != nil {
						t.Fatal(err)
					}
					for line := range strings.Lines(all + s.Steps[0].SQL) {
						if line = strings.TrimSpace(line); !rmanIs(line) {
							t.Errorf("not allowed: %s", line)
						}
					}
				}
			}
		}
	}
	for _, bad := range []string{"DELETE OBSOLETE;", "CROSSCHECK BACKUP;", "CONFIGURE COMPRESSION ALGORITHM 'BASIC';", "RESTORE DATABASE;",
		"RESTORE DATABASE FROM TAG 'FILEWISE_A';", "RECOVER DATABASE;", "CHANGE BACKUP TAG 'DAILY' UNCATALOG;", "CHANGE BACKUP UNCATALOG;",
		"BACKUP TAG 'DAILY' DATABASE;", "BACKUP INCREMENTAL LEVEL 0 TAG 'FILEWISE_A' DATABASE;", "BACKUP ARCHIVELOG ALL DELETE INPUT;",
		"SET COMPRESSION ALGORITHM 'HIGH';", "HOST 'rm -rf /';", "SQL 'ALTER SYSTEM SWITCH LOGFILE';"} {
		if rmanIs(bad) {
			t.Errorf("allowed: %s", bad)
		}
	}
}

// fake stands for RMAN: it notes what it is sent, writes a piece into the directory of BACKUP, and fails
// as it does, with exit code 0.
const fake = `#!/bin/sh
here=$(dirname "$0")
echo "args: $*" >> "$here/told"
while IFS= read -r line; do
  echo "$line" >> "$here/told"
  case "$line" in
  *FORMAT*) to=${line#*FORMAT \'}; to=${to%%/%U*}; echo piece > "$to/piece1" ;;
  "$(cat "$here/fails" 2>/dev/null || echo none)"*)
    printf 'RMAN-00571: ====\nRMAN-00569: ==== ERROR MESSAGE STACK FOLLOWS ====\n%s\n' "$(cat "$here/why")" ;;
  esac
done
echo "Recovery Manager complete."
`

// A backup is made, validated and forgotten under one tag of its own; the password is on
// standard input alone; what RMAN prints of an error is reported, whatever its exit code.
func TestTool(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil { //nolint:gosec // it is executed
			t.Fatal(err)
		}
	}
	write("rman", fake)
	c, err := newRMAN(rmanTarget(dir))
	if err != nil {
		t.Fatal(err)
	}
	o, to := c.Tool(layout(2)), filepath.Join(dir, "backup")
	for _, err := range []error{c.Try(t.Context(), dir), o.Dump(t.Context(), to), o.Fill(t.Context(), to),
		o.Compare(t.Context()), o.Drop(t.Context()), o.Drop(t.Context())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "piece1")); err != nil {
		t.Error(err)
	}
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]int{}
	for line := range strings.Lines(string(told)) {
		line = strings.TrimSpace(line)
		if line != "args:" && !rmanIs(line) {
			t.Errorf("not allowed: %s", line)
		}
		if _, tag, ok := strings.Cut(line, " TAG '"); ok {
			tags[tag[:27]]++
		}
	}
	for tag, n := range tags {
		if len(tags) != 1 || n != 3 {
			t.Errorf("tag %s is in %d of 3 lines", tag, n)
		}
	}
	write("fails", "BACKUP")
	write("why", "RMAN-06149: cannot BACKUP DATABASE in NOARCHIVELOG mode")
	if err := o.Dump(t.Context(), to); err == nil || !strings.Contains(filewise.RemedyOf(err), "NOARCHIVELOG") ||
		strings.Contains(err.Error(), "Canary") {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
	write("fails", "CHANGE")
	write("why", "RMAN-03002: failure of change command")
	if err := o.Drop(t.Context()); err == nil || !strings.Contains(err.Error(), "UNCATALOG") {
		t.Errorf("records that stay are not told: %v", err)
	}
	write("rman", "#!/bin/sh\nexit 0\n")
	if err := c.Try(t.Context(), dir); err == nil {
		t.Error("an RMAN that does nothing passes")
	}
}

// The script that is kept makes a backup and validates it.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rman"), []byte(fake), 0o700); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	s := rmanKept(layout(2, "compress=basic"))
	for _, lines := range [][]string{append([]string{"to=" + dir + "/new"}, s.Backup...),
		append([]string{"from=" + dir + "/new"}, s.Restore...)} {
		cmd := osexec.Command("sh", "-euc", strings.Join(lines, "\n  "))
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, strings.Join(lines, "\n  "))
		}
	}
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	want := regexp.MustCompile(`(?s)target /.*BACKUP AS COMPRESSED BACKUPSET TAG '(FW\d{12})' DATABASE;.*FROM TAG 'FW\d{12}' VALIDATE;`)
	if err != nil || !want.Match(told) {
		t.Errorf("%v\n%s", err, told)
	}
}

// What cannot be is refused before anything is executed.
func TestRefused(t *testing.T) {
	for what, change := range map[string]func(*filewise.Target){
		"no RMAN":             func(t *filewise.Target) { t.ServerBin = "/nowhere" },
		"options":             func(t *filewise.Target) { t.Address.Options = map[string]string{"SID": "x"} },
		"a quote in password": func(t *filewise.Target) { t.Address.Password = filewise.Secret(`a"b`) },
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "rman"), []byte(fake), 0o700); err != nil { //nolint:gosec // it is executed
			t.Fatal(err)
		}
		x := rmanTarget(dir)
		change(&x)
		if _, err := newRMAN(x); err == nil || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := rmanScript(rmanTarget("/it's"), layout(1), rmanProgram(t, false)); err == nil {
		t.Error("a directory with a quote passes")
	}
	if _, err := rmanScript(rmanTarget("/a"), layout(1, "section=1"), rmanProgram(t, false)); err == nil {
		t.Error("a section of 1 MiB passes")
	}
}
