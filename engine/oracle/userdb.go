package oracle

import (
	"context"
	"errors"
	"os"
	"strings"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/internal/userbackup"
)

// ownServer is a server whose database RMAN backs up, on the server's own host.
type ownServer struct {
	*server
	target filewise.Target
	rman   *rmanClient
}

func (Engine) openOwn(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	client, err := newRMAN(t)
	if err != nil {
		return nil, err
	}
	there := t
	there.Volumes, there.Database = []filewise.Volume{{Name: "default"}}, ""
	s, err := open(ctx, there)
	if err != nil {
		return nil, err
	}
	if err := s.about.ownDatabase(t.Database); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &ownServer{s, t, client}, nil
}

// ownDatabase refuses a name that is not the database that RMAN would back up, and a server on another host.
func (a about) ownDatabase(name string) error {
	host, err := os.Hostname()
	switch {
	case err != nil:
		return err
	case !strings.EqualFold(firstLabel(host), firstLabel(a.host)):
		return filewise.Errorf(filewise.CodePreflight, "run Filewise on "+a.host, "RMAN writes on the server's host, %s, and this is %s: %w",
			a.host, host, filewise.ErrUnsupported)
	case a.container != "" && !strings.EqualFold(name, a.container):
		return filewise.Errorf(filewise.CodeUsage, "give --database "+a.container+", or the service of "+name, "service %s is of pluggable "+
			"database %s, not %s", a.service, a.container, name)
	}
	return nil
}

// Offers returns what an own database offers: backups, since nothing is built.
func (s *ownServer) Offers() map[filewise.Capability]error {
	all := s.server.Offers()
	all[filewise.CanBackup] = nil
	return all
}

// Examine checks whether RMAN can make a backup.
func (s *ownServer) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	return s.examineOwn(ctx, s.control, d)
}

func (s *ownServer) examineOwn(ctx context.Context, c client, d filewise.Demand) []filewise.Finding {
	e := &examination{Examination: external.Examination{Demand: d}, server: s.server, client: c}
	e.version()
	if found, ok := e.ask(ctx, "archive log", 8, "database"); ok && len(found) == 1 && text(found[0][2]) != "ARCHIVELOG" {
		e.Fail("archive log", "use a database in ARCHIVELOG, or shut it down for a backup by hand",
			"the database is in %s: RMAN cannot back it up while it is open", text(found[0][2]))
	}
	for _, v := range s.target.Volumes {
		if err := s.rman.Try(ctx, v.Dir); err != nil {
			e.Fail("RMAN", filewise.RemedyOf(err), "it does not connect as SYSBACKUP: %v", err)
			break
		}
	}
	e.Note("backup records", "CHANGE BACKUP TAG … UNCATALOG, of tags that begin with FILEWISE_, if a run was killed",
		"each backup is recorded in the control file until it is removed; where a control file autobackup is configured, each makes one")
	return e.Findings
}

// BackupSize returns the size of the datafiles of the database or of tablespaces.
func (s *ownServer) BackupSize(ctx context.Context) (filewise.BackupSize, error) {
	rows, err := rows(ctx, s.control, 9, "inspect-files", nil)
	parts, whole := map[string]int64{}, int64(0)
	for _, r := range rows {
		n, _ := number(r[5])
		parts[text(r[0])] += n
		whole += n
	}
	if err != nil {
		return filewise.BackupSize{}, err
	}
	return userbackup.SizeOf(s.target, parts, whole)
}

// Build returns a database that offers only backups. It builds nothing.
func (s *ownServer) Build(_ context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if err := rmanCheck(s.target, l, p); err != nil {
		return nil, err
	}
	return userbackup.Database(s.target, l, s.rman.Tool(l), nil), nil
}

// BackupArms returns what to compare: compression, sections of files, and files in a set.
func (Engine) BackupArms(filewise.Target, filewise.Program) ([]string, error) { return arms, nil }

// BackupScript returns an RMAN script with a backup and its validation.
func (Engine) BackupScript(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.BackupScript, error) {
	return rmanKept(l), rmanCheck(t, l, p)
}

var _ filewise.BackupTuner = Engine{}
