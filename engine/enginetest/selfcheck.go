package enginetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/doctor"
	"filewise/experiment"
	"filewise/plan"
)

// SelfCheck takes an external server through doctor's self-check: nothing fails, and each
// of tried is a trial that has passed. It sets a variable of the environment, which a
// parallel test must not.
func SelfCheck(t *testing.T, e filewise.Engine, target filewise.Target, tried ...string) {
	t.Helper()
	all := SelfCheckFindings(t, e, target)
	for _, f := range all {
		if f.Status != filewise.StatusOK && (f.Status != filewise.StatusNote || !strings.HasPrefix(f.Detail, "not offered: ")) {
			t.Errorf("%+v", f)
		}
	}
	for _, name := range tried {
		if !slices.ContainsFunc(all, func(f filewise.Finding) bool { return strings.HasPrefix(f.Check, name+" on ") }) {
			t.Errorf("%s was not tried", name)
		}
	}
}

// SelfCheckFindings is what the self-check says of a server.
func SelfCheckFindings(t *testing.T, e filewise.Engine, target filewise.Target) (all []filewise.Finding) {
	t.Helper()
	t.Setenv("FILEWISE_LOCK", t.Name())
	o := plan.New()
	o.Engine, o.Target = plan.Of(e.Name()), plan.Of(plan.Describe(e).Schemes[0]+"://ada@localhost/")
	err := doctor.SelfCheck(Within(t, 2*time.Minute), doctor.Patient{
		Engine: e, Plan: experiment.Plan{Target: target}, Options: o,
		Login: func(context.Context) (filewise.Address, error) { return *target.Address, nil },
	}, func(f filewise.Finding) { all = append(all, f) })
	fatal(t, err)
	return all
}
