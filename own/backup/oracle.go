package backup

import (
	"context"
	"errors"
	"os"
	"strings"

	"filewise"
	"filewise/engine/userbackup"
	"filewise/internal/findings"
)

// Oracle backs up users' databases with RMAN, on the server's own host.
type Oracle struct{}

// oracleServer is an opened server that answers questions in its own session.
type oracleServer interface {
	filewise.ExternalServer
	Asked() filewise.Asked
	ExamineVersion(*findings.Examination)
}

// oracleBackups is a server whose database RMAN backs up.
type oracleBackups struct {
	oracleServer
	asked  filewise.Asked
	target filewise.Target
	rman   *rmanClient
}

// OpenOwn opens the server of a user's database.
func (Oracle) OpenOwn(ctx context.Context, e filewise.Engine, t filewise.Target) (filewise.Server, error) {
	client, err := newRMAN(t)
	if err != nil {
		return nil, err
	}
	there := t
	there.Volumes, there.Database = []filewise.Volume{{Name: "default"}}, ""
	s, err := e.Open(ctx, there)
	if err != nil {
		return nil, err
	}
	on := s.(oracleServer)
	own := &oracleBackups{on, on.Asked(), t, client}
	if err := rmanReaches(own.asked.About().Settings, t.Database); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return own, nil
}

// rmanReaches refuses a name that is not the database that RMAN would back up, and a server on another host.
func rmanReaches(about map[string]string, name string) error {
	host, err := os.Hostname()
	label := func(host string) string { label, _, _ := strings.Cut(host, "."); return label }
	switch {
	case err != nil:
		return err
	case !strings.EqualFold(label(host), label(about["host"])):
		return filewise.Errorf(filewise.CodePreflight, "run Filewise on "+about["host"],
			"RMAN writes on the server's host, %s, and this is %s: %w", about["host"], host, filewise.ErrUnsupported)
	case about["container"] != "" && !strings.EqualFold(name, about["container"]):
		return filewise.Errorf(filewise.CodeUsage, "give --database "+about["container"]+", or the service of "+name,
			"service %s is of pluggable database %s, not %s", about["service"], about["container"], name)
	}
	return nil
}

// Offers returns what an own database offers: backups, since nothing is built.
func (s *oracleBackups) Offers() map[filewise.Capability]error {
	all := s.oracleServer.Offers()
	all[filewise.CanBackup] = nil
	return all
}

// Examine checks whether RMAN can make a backup.
func (s *oracleBackups) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	e := &findings.Examination{Demand: d}
	s.ExamineVersion(e)
	if found, err := s.asked.Rows(ctx, "database", nil); err != nil {
		e.Unseen("archive log", err)
	} else if len(found) == 1 && found[0].Text(2) != "ARCHIVELOG" {
		e.Fail("archive log", "use a database in ARCHIVELOG, or shut it down for a backup by hand",
			"the database is in %s: RMAN cannot back it up while it is open", found[0].Text(2))
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
func (s *oracleBackups) BackupSize(ctx context.Context) (filewise.BackupSize, error) {
	rows, err := s.asked.Rows(ctx, "inspect-files", nil)
	if err != nil {
		return filewise.BackupSize{}, err
	}
	parts, whole := map[string]int64{}, int64(0)
	for _, r := range rows {
		parts[r.Text(0)] += r.Int(5)
		whole += r.Int(5)
	}
	return userbackup.SizeOf(s.target, parts, whole)
}

// Build returns a database that offers only backups. It builds nothing.
func (s *oracleBackups) Build(_ context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if err := rmanCheck(s.target, l, p); err != nil {
		return nil, err
	}
	return userbackup.Database(s.target, l, s.rman.Tool(l), nil), nil
}

// OwnStatements describes what a trial has RMAN execute.
func (Oracle) OwnStatements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	return rmanScript(t, l, p)
}

// BackupArms returns what to compare: compression, sections of files, and files in a set.
func (Oracle) BackupArms(filewise.Target, filewise.Program) ([]string, error) {
	return []string{"compress=no,basic", "section=0,512", "filesperset=4,1"}, nil
}

// BackupScript returns an RMAN script with a backup and its validation.
func (Oracle) BackupScript(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.BackupScript, error) {
	return rmanKept(l), rmanCheck(t, l, p)
}
