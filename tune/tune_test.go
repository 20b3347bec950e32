package tune

import (
	"strings"
	"testing"

	"filewise"
)

type scripted struct {
	filewise.Engine
	filewise.BackupTuner
}

func (scripted) BackupScript(filewise.Target, filewise.Layout, filewise.Program) (filewise.BackupScript, error) {
	return filewise.BackupScript{Backup: []string{"true"}, Restore: []string{"true"}, Notes: []string{evil}}, nil
}

const evil = "a\nrm -r x;\r\x1b]0;x\x07\u009b2J\u202e"

// A name ends no comment of the script, and steers no terminal that shows it.
func TestCommentsStayComments(t *testing.T) {
	r := Result{Database: evil, Server: evil, Verdict: evil}
	text, err := r.Script(scripted{}, evil, "v")
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text, "\x1b\x07\r\u009b\u202e") || strings.Contains(text, "\nrm ") {
		t.Errorf("%q", text)
	}
}
