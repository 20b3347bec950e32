package oracle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
)

// A backup of a database of the user's needs RMAN on the server's own host, and ARCHIVELOG;
// without, what to do is reported.
func TestOwnDatabase(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	here := about{host: host + ".example", container: "PDB1", service: "svc"}
	if err := here.ownDatabase("pdb1"); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"another database": here.ownDatabase("PDB2"),
		"another host": about{host: "db9"}.ownDatabase("x")} {
		if err == nil || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	dir := t.TempDir()
	const refusing = "#!/bin/sh\necho 'RMAN-00569: ===='\necho 'ORA-01031: no'\n"
	if err := os.WriteFile(filepath.Join(dir, "rman"), []byte(refusing), 0o700); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	target := serverTarget(filewise.Volume{Name: "v", Dir: dir})
	target.ServerBin, target.Database = dir, "PDB1"
	target.Address = &filewise.Address{Scheme: "oracle", User: "ada", Password: "x", Host: "db", Path: "svc"}
	client, err := newRMAN(target)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	identity(f)
	s := &ownServer{opened(t, f), target, client}
	f.answers["database"] = [][]any{{"CDB", "Linux x86 64-bit", "NOARCHIVELOG", "NO", "YES", "READ WRITE", "PRIMARY", "NO"}}
	said := ""
	for _, x := range s.examineOwn(t.Context(), f, filewise.Demand{}) {
		if x.Status == filewise.StatusFailed {
			said += x.Check + ": " + x.Detail + "; " + x.Remedy + "\n"
		}
	}
	for _, want := range []string{"in NOARCHIVELOG", "GRANT SYSBACKUP TO"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
}
