package backup

import (
	"fmt"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"
)

// File is a file to write.
type File struct{ Path, Text string }

// Scripts returns a shell script for the path, which makes and restores backups with the setting, without Filewise. It
// also returns the engine's files for other ways to run backups, next to the script.
func (r *Result) Scripts(e filewise.Engine, path, version string) ([]File, error) {
	script, err := e.(filewise.BackupTuner).BackupScript(r.plan.Target, r.layout, filewise.Program{Phases: []filewise.Phase{
		{Act: filewise.ActBackup, Logical: true}}})
	if err != nil {
		return nil, err
	}
	r.Proof.By = script.Proof
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	b.WriteString(r.head("# ", version, append(script.Notes, "sh "+path+" backup NEW-DIRECTORY, or sh "+path+
		" restore DIRECTORY EMPTY-DATABASE")))
	fmt.Fprintf(&b, shellScript, strings.Join(script.Backup, "\n  "), strings.Join(script.Restore, "\n  "))
	out := []File{{path, b.String()}}
	for _, o := range script.Others {
		out = append(out, File{strings.TrimSuffix(path, ".sh") + o.Suffix, r.head(o.Comment, version, o.Notes) + o.Text + "\n"})
	}
	return out, nil
}

// head returns the comment on top of a file: the database, the run, the backup's figures, and the notes.
func (r *Result) head(marker, version string, notes []string) string {
	proved := fmt.Sprintf("it was restored in %s and compared with the original", say.Human(r.Proof.Restore))
	if r.Proof.By != "" {
		proved = fmt.Sprintf("in %s, %s", say.Human(r.Proof.Restore), r.Proof.By)
	}
	lines := append([]string{
		fmt.Sprintf("Backup and restore of database %s of %s: %s.", r.Database, r.Server, r.Layout),
		fmt.Sprintf("Written by Filewise %s from run %d of %s. %s", version, r.Run, r.at.UTC().Format(time.DateOnly), r.Verdict),
		fmt.Sprintf("A backup took %s and %s; %s.", say.Human(r.Proof.Backup), say.Size(r.Proof.Bytes), proved),
	}, notes...)
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(marker + filewise.Printable(line) + "\n")
	}
	return b.String()
}

const shellScript = `set -eu
usage() {
  echo "usage: sh $0 backup NEW-DIRECTORY | restore DIRECTORY EMPTY-DATABASE [OPTION…]" >&2
  exit 2
}
[ $# -ge 2 ] || usage
case "$1" in
backup)
  to=$2
  shift 2
  [ ! -e "$to" ] || { echo "$to exists" >&2; exit 1; }
  %s
  ;;
restore)
  [ $# -ge 3 ] || usage
  from=$2 database=$3
  shift 3
  %s
  ;;
*) usage ;;
esac
`
