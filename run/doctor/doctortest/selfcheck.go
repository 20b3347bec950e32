// Package doctortest runs doctor's self-check of engines in tests.
package doctortest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/run/doctor"
	"filewise/run/plan"
)

// SelfCheck runs doctor's self-check on an external server. The test fails if a finding fails, or if a trial in tried
// has not passed.
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

// selfCheck lets only one self-check of the test binary run at a time, with its own host lock.
var selfCheck sync.Mutex

// SelfCheckFindings returns the findings of the self-check on a server.
func SelfCheckFindings(t *testing.T, e filewise.Engine, target filewise.Target) (all []filewise.Finding) {
	t.Helper()
	selfCheck.Lock()
	defer selfCheck.Unlock()
	if err := os.Setenv("FILEWISE_LOCK", fmt.Sprintf("enginetest %d", os.Getpid())); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	o := plan.New()
	o.Engine, o.Target = plan.Of(e.Name()), plan.Of(e.Describe().Schemes[0]+"://ada@localhost/")
	err := doctor.SelfCheck(ctx, doctor.Patient{
		Engine: e, Plan: experiment.Plan{Target: target}, Options: o,
		Login: func(context.Context) (filewise.Address, error) { return *target.Address, nil },
	}, func(f filewise.Finding) { all = append(all, f) })
	if err != nil {
		t.Fatal(err)
	}
	return all
}
