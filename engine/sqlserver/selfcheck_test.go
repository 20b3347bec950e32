package sqlserver

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
	"filewise/run/doctor"
	"filewise/run/plan"
)

// selfCheck has every workload tried on a server elsewhere, and returns what is reported and
// what the server was instructed to back up, restore and look at.
func selfCheck(t *testing.T, settings ...plan.Pair) (said []filewise.Finding, told []string) {
	t.Helper()
	lab := newLab(t, func(m *model) { m.available = 1 << 50 })
	others := regexp.MustCompile(`CREATE TABLE (dbo\.)?\[?(fw_(rows|dml)|warehouse|accounts)|SET OFFLINE`)
	lab.model.fault = func(_ context.Context, q Request, r *Reply) (bool, error) {
		if !others.MatchString(q.SQL) {
			return false, nil
		}
		r.Error(50099, 16, "the test does without") // what it is not about costs no time
		return true, nil
	}
	ok(t, doctor.SelfCheck(t.Context(), volunteer(t, lab, settings...), func(f filewise.Finding) { said = append(said, f) }))
	for _, text := range lab.wire.Received() {
		if regexp.MustCompile(`(?m)^(BACKUP|RESTORE) `).MatchString(text) && !strings.Contains(text, "N'NUL'") {
			told = append(told, text)
		}
	}
	return said, told
}

func volunteer(t *testing.T, lab *lab, settings ...plan.Pair) doctor.Patient {
	t.Helper()
	t.Setenv("FILEWISE_LOCK", t.Name())
	o := plan.New()
	o.Target, o.Settings = plan.Of("sqlserver://filewise@far.example"), plan.Of(settings)
	made, err := plan.Engines{Engine{}}.Make(o)
	ok(t, err)
	return doctor.Patient{Engine: Engine{}, Plan: made.Plan, Options: o,
		Login: func(context.Context) (filewise.Address, error) { return *lab.target.Address, nil }}
}

// TestSelfCheckAll: it goes on after refusals. It ends a trial in which the server does not answer, and itself when its time
// is over. The record for others has the refusals without a name of the server's, and the version even if nothing could be tried.
func TestSelfCheckAll(t *testing.T) {
	lab := newLab(t, func(m *model) { m.available = 1 << 50 })
	const theirs = "Hopper's ]db"
	lab.add(theirs, nil)
	creates, hung := regexp.MustCompile(`(?m)^CREATE DATABASE`), atomic.Int32{}
	lab.model.fault = func(ctx context.Context, q Request, r *Reply) (bool, error) {
		switch {
		case creates.MatchString(q.SQL) && hung.CompareAndSwap(0, 1): // of the first trial
			<-ctx.Done()
			return true, ctx.Err()
		case creates.MatchString(q.SQL):
			r.Error(5123, 16, `CREATE FILE encountered operating system error 5(Hopper) at 'D:\hopper\x.mdf'`)
			return true, nil
		}
		return false, nil
	}
	limits := doctor.Limits{One: 2 * time.Second, Tries: time.Minute, Whole: 2 * time.Minute}
	var said []filewise.Finding
	r, err := doctor.SelfCheckAll(t.Context(), volunteer(t, lab), limits, func(f filewise.Finding) { said = append(said, f) })
	ok(t, err)
	failed := 0
	for _, o := range r.Outcomes {
		if o.State == doctor.StateFailed {
			failed++
		}
	}
	if failed < 8 || r.Outcomes[7].At != "time" || r.Outcomes[8].At != filewise.StageBuild {
		t.Errorf("%+v\n%+v", r.Outcomes, said)
	}
	if i := slices.IndexFunc(r.Refused, func(x doctor.Refused) bool { return x.Code == "5123" }); i < 0 ||
		!strings.Contains(r.Refused[i].Statement, "CREATE DATABASE ? ON PRIMARY") {
		t.Errorf("%+v", r.Refused)
	}
	if text := strings.ToLower(r.JSON()); strings.Contains(text, "hopper") || strings.Contains(text, "far.example") ||
		strings.Contains(text, "filewise_") {
		t.Error(text)
	}
	if left := lab.names(); len(left) != 1 || left[0] != theirs {
		t.Errorf("left are %q", left)
	}
	hung.Store(0)
	start := time.Now()
	r, err = doctor.SelfCheckAll(t.Context(), volunteer(t, lab), doctor.Limits{One: time.Minute, Tries: time.Minute, Whole: time.Second},
		func(filewise.Finding) {})
	if ok(t, err); time.Since(start) > 30*time.Second || r.Outcomes[7].At != "time" {
		t.Errorf("after %v: %+v", time.Since(start), r.Outcomes)
	}
	r, err = doctor.SelfCheckAll(t.Context(), volunteer(t, lab), doctor.Limits{Whole: time.Minute}, func(filewise.Finding) {})
	if ok(t, err); !strings.HasPrefix(r.Version, "16.") || r.Outcomes[0].State != doctor.StateProven {
		t.Errorf("without a trial the version is %q: %+v", r.Version, r.Outcomes[0])
	}
}

// TestSelfCheckOfBackups: on a server elsewhere the self-check backs up, restores and verifies two
// stripes where the owner lets them stay, and names them; else it reports which words to add.
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
