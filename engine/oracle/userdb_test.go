package oracle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
	"filewise/own/backup"
)

// A backup of a database of the user's needs RMAN on the server's own host, and ARCHIVELOG;
// without, what to do is reported.
func TestOwnDatabase(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const refusing = "#!/bin/sh\necho 'RMAN-00569: ===='\necho 'ORA-01031: no'\n"
	if err := os.WriteFile(filepath.Join(dir, "rman"), []byte(refusing), 0o700); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	target := serverTarget(filewise.Volume{Name: "v", Dir: dir})
	target.ServerBin, target.Database = dir, "PDB1"
	target.Address = &filewise.Address{Scheme: "oracle", User: "ada", Password: "x", Host: "db", Path: "svc"}
	f := newFake()
	identity(f)
	f.answers["identity"][0][5], f.answers["identity"][0][6] = host+".example", "svc"
	open := func(target filewise.Target) (filewise.Server, error) {
		s := opened(t, f)
		s.pool = newPool(&config{}, nil)
		return backup.Oracle{}.OpenOwn(t.Context(), opensFake{server: s}, target)
	}
	s, err := open(target)
	if err != nil {
		t.Fatal(err)
	}
	f.answers["database"] = [][]any{{"CDB", "Linux x86 64-bit", "NOARCHIVELOG", "NO", "YES", "READ WRITE", "PRIMARY", "NO"}}
	said := ""
	for _, x := range s.(filewise.ExternalServer).Examine(t.Context(), filewise.Demand{}) {
		if x.Status == filewise.StatusFailed {
			said += x.Check + ": " + x.Detail + "; " + x.Remedy + "\n"
		}
	}
	for _, want := range []string{"in NOARCHIVELOG", "GRANT SYSBACKUP TO"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
	other := target
	other.Database = "PDB2"
	_, err = open(other)
	f.answers["identity"][0][5] = "db9"
	_, far := open(target)
	for what, err := range map[string]error{"another database": err, "another host": far} {
		if err == nil || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// opensFake opens a server that a test has.
type opensFake struct {
	Engine
	server *server
}

func (o opensFake) Open(context.Context, filewise.Target) (filewise.Server, error) {
	return o.server, nil
}
