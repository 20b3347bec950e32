package backup

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/results/archive"
)

type scripted struct {
	filewise.Engine
	filewise.BackupTuner
}

func (scripted) BackupScript(filewise.Target, filewise.Layout, filewise.Program) (filewise.BackupScript, error) {
	return filewise.BackupScript{Backup: []string{"true"}, Restore: []string{"true"}, Notes: []string{evil},
		Others: []filewise.OtherScript{{Suffix: "-agent.sql", Comment: "-- ", Notes: []string{evil}, Text: "SELECT 1"}}}, nil
}

const evil = "a\nrm -r x;\r\x1b]0;x\x07\u009b2J\u202e"

// A name ends no comment of the script, and steers no terminal that shows it.
func TestCommentsStayComments(t *testing.T) {
	r := Result{Database: evil, Server: evil, Verdict: evil}
	files, err := r.Scripts(scripted{}, evil, "v")
	if err != nil || len(files) != 2 || files[1].Path != evil+"-agent.sql" || !strings.HasSuffix(files[1].Text, "\nSELECT 1\n") {
		t.Fatalf("%q, %v", files, err)
	}
	for _, f := range files {
		if strings.ContainsAny(f.Text, "\x1b\x07\r\u009b\u202e") || strings.Contains(f.Text, "\nrm ") {
			t.Errorf("%q", f.Text)
		}
	}
}

// Its output fits on a screen of 80 columns, whatever the number of settings, and names no factor that has no
// meaning.
func TestLinesFitAScreen(t *testing.T) {
	limit := 7 * time.Millisecond
	r := Result{Run: 6, Database: "shop", Layout: "8 jobs", Verdict: lossText(11.7, false, 0.95), Limit: &limit, Work: "not counted"}
	for i := range 16 {
		r.Settings = append(r.Settings, Setting{Layout: fmt.Sprintf("%d jobs, compress=yes, rows=100000", i), Took: time.Second, Bytes: 1 << 20})
	}
	lines := r.Lines()
	text := strings.Join(lines, "\n")
	if len(lines) > 20 || !strings.Contains(text, "and 6 more: filewise report 6") || !strings.Contains(text, "not resolvable here") {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	for _, l := range lines[1:] {
		if len(l) > 80 {
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
	for log, want := range map[float64]string{0.1: "10.6 % (95", 1: "a factor of 2.8 (95"} {
		if got := lossText(log, true, 0.95); !strings.Contains(got, want) {
			t.Errorf("%v: %s, want %s", log, got, want)
		}
	}
}

// A run that has ended cannot go on: what helps is another one, with time for the blocks of a first analysis.
func TestTooLittleBudget(t *testing.T) {
	var r archive.Run
	r.ID, r.Plan.Budget, r.Plan.Layouts = 7, time.Minute, make([]filewise.Layout, 4)
	for range 2 {
		r.Trials = append(r.Trials, filewise.Trial{State: filewise.Done, Elapsed: time.Minute})
	}
	if got := onward(r, experiment.GoesOn); got != "filewise resume 7, and then filewise backup 7" {
		t.Error(got)
	}
	got := onward(r, experiment.Spent)
	if want := fmt.Sprintf("--budget %v or more", time.Duration(4*(verdict.FirstAnalysis+1)+1)*time.Minute); !strings.Contains(got, want) ||
		strings.Contains(got, "resume") {
		t.Errorf("%s; want %s", got, want)
	}
	err := unfound(r, experiment.Decision{Ending: experiment.Spent, Why: "no time." + verdict.ToDo + "set --budget 1m or more"})
	if strings.Count(err.Error()+filewise.RemedyOf(err), "--budget") != 1 || !strings.Contains(err.Error(), "no time") {
		t.Errorf("it says what to do in two ways: %v; %s", err, filewise.RemedyOf(err))
	}
	if r.Trials = nil; !strings.Contains(onward(r, experiment.Spent), "--budget 3m0s") {
		t.Error(onward(r, experiment.Spent))
	}
}
