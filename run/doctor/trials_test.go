package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/oracle"
	"filewise/engine/sqlserver"
	"filewise/lab/workload"
	"filewise/run/plan"
)

// On the engines that are not run here, the self-check of a server by URL plans a trial of every workload; what they
// do not offer is refused as such, and nothing else. First contact: fault 2.
func TestTrialsArePlanned(t *testing.T) {
	for e, absent := range map[filewise.Engine][]string{
		oracle.Engine{}: {"backup", "dump", "temp"}, sqlserver.Engine{}: {"dump"},
	} {
		refused, all := map[string]bool{}, trials(e.Describe())
		drawn := slices.ContainsFunc(all, func(x trial) bool { return strings.HasSuffix(x.name, "keys of the server") })
		if drawn != (len(absent) == 1) { // SQL Server draws them, and makes backups
			t.Errorf("%s: keys of the server: %v", e.Name(), drawn)
		}
		for _, x := range all {
			o := plan.New()
			o.Engine, o.Target = plan.Of(e.Name()), plan.Of(e.Describe().Schemes[0]+"://ada@db.example/pdb1")
			x.set(o)
			made, err := plan.Engines{e}.Make(o)
			if err == nil {
				err = rendered(e, made)
			}
			name, _, _ := strings.Cut(strings.ReplaceAll(x.name, ",", " "), " ")
			if err != nil && !errors.Is(err, filewise.ErrUnsupported) {
				t.Errorf("%s: %s: %v", e.Name(), x.name, err)
			}
			if refused[name] = err != nil; refused[name] != slices.Contains(absent, name) {
				t.Errorf("%s: %s: %v", e.Name(), x.name, err)
			}
		}
		if len(refused) != 8 {
			t.Errorf("%s: of %d workloads: %v", e.Name(), len(refused), refused)
		}
	}
}

// rendered renders the statements of a plan's trials.
func rendered(e filewise.Engine, p plan.Made) error {
	sc, err := workload.Lookup(p.Scenario)
	if err != nil {
		return err
	}
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return err
	}
	for _, l := range p.Layouts {
		s, wrong := e.Statements(p.Target, l, p.Program(w))
		if wrong == nil && len(s.Steps) < 5 {
			wrong = fmt.Errorf("%d steps on layout %s", len(s.Steps), l.Name)
		}
		err = errors.Join(err, wrong)
	}
	return err
}
