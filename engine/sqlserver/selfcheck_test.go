package sqlserver

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/doctor"
	"filewise/plan"
)

// selfCheck has every workload tried on a server elsewhere, and returns what is said and
// what the server was told to back up, restore and look at.
func selfCheck(t *testing.T, settings ...plan.Pair) (said []filewise.Finding, told []string) {
	t.Helper()
	t.Setenv("FILEWISE_LOCK", t.Name())
	lab := newLab(t, func(m *model) { m.available = 1 << 50 })
	others := regexp.MustCompile(`CREATE TABLE (dbo\.)?\[?(fw_(rows|dml)|warehouse|accounts)|SET OFFLINE`)
	lab.model.fault = func(_ context.Context, q Request, r *Reply) (bool, error) {
		if !others.MatchString(q.SQL) {
			return false, nil
		}
		r.Error(50099, 16, "the test does without") // what it is not about costs no time
		return true, nil
	}
	o := plan.New()
	o.Target, o.Settings = plan.Of("sqlserver://filewise@far.example"), plan.Of(settings)
	made, err := plan.Engines{Engine{}}.Make(o)
	ok(t, err)
	patient := doctor.Patient{Engine: Engine{}, Plan: made.Plan, Options: o,
		Login: func(context.Context) (filewise.Address, error) { return *lab.target.Address, nil }}
	ok(t, doctor.SelfCheck(t.Context(), patient, func(f filewise.Finding) { said = append(said, f) }))
	for _, text := range lab.wire.Received() {
		if regexp.MustCompile(`(?m)^(BACKUP|RESTORE) `).MatchString(text) && !strings.Contains(text, "N'NUL'") {
			told = append(told, text)
		}
	}
	return said, told
}

// TestSelfCheckOfBackups: on a server elsewhere the self-check backs up, restores and verifies two
// stripes where the owner lets them stay, and names them; else it says which words to add.
func TestSelfCheckOfBackups(t *testing.T) {
	said, told := selfCheck(t)
	i := slices.IndexFunc(said, func(f filewise.Finding) bool { return f.Check == "backup" }) // before anything is built
	if i < 0 || said[i].Status != filewise.StatusNote || !strings.Contains(said[i].Remedy, "--set keep-backups=on") || len(told) > 0 {
		t.Errorf("%+v\n%q", said, told)
	}
	said, told = selfCheck(t, plan.Pair{Name: "keep-backups", Value: "on"})
	stay := map[string]string{}
	for _, f := range said {
		if name, is := strings.CutSuffix(f.Check, ": files stay"); is && strings.Contains(f.Remedy, "remove them") {
			stay[name] = f.Detail
		}
		if f.Check == "backup on 2 backup files" && (f.Status != filewise.StatusOK || !strings.Contains(f.Detail, "restore 1 restores")) {
			t.Errorf("%+v", f)
		}
	}
	written := regexp.MustCompile(`DISK = N'([^']*)'`)
	for _, text := range told {
		for _, m := range written.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(stay["backup on 1 backup file"]+stay["backup on 2 backup files"], m[1]) {
				t.Errorf("%s is not told among %q", m[1], stay)
			}
		}
	}
	all := strings.Join(told, "\n")
	for _, want := range []string{"BACKUP DATABASE", "RESTORE HEADERONLY", "RESTORE FILELISTONLY", "RESTORE DATABASE"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	if len(stay) != 2 || strings.Count(stay["backup on 2 backup files"], ", ") != 1 {
		t.Errorf("%q in %+v", stay, said)
	}
}
