package run

import (
	"testing"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/results/archive"
	"filewise/results/store"
)

// Any other address, and another user's state directory, breaks the seal.
func TestSealed(t *testing.T) {
	t.Setenv("FILEWISE_STATE", t.TempDir())
	a := filewise.Address{Scheme: "mysql", Host: "db1", Port: 3306, User: "u"}
	from := filewise.Address{Scheme: "mysql", Host: "db2", Path: "shop"}
	p := experiment.Plan{Target: filewise.Target{Engine: "mysql", Mode: filewise.External, Address: &a}, Notify: []string{"http://hook"}}
	r := archive.Run{Run: store.Run{ID: 1, Plan: p, Seal: sealOf(p)}}
	if err := MayConnect(r, false); err != nil || !Sealed(r) {
		t.Fatalf("its own: %v", err)
	}
	evil := a
	evil.Host = "evil"
	for name, change := range map[string]func(*experiment.Plan){
		"another host":   func(p *experiment.Plan) { p.Target.Address = &evil },
		"another origin": func(p *experiment.Plan) { p.Params.Custom = &workload.Custom{Origin: &from} },
		"another hook":   func(p *experiment.Plan) { p.Notify = []string{"http://evil"} },
	} {
		changed := r
		change(&changed.Plan)
		if Sealed(changed) || filewise.CodeOf(MayConnect(changed, false)) != filewise.CodeUsage {
			t.Errorf("%s is taken for its own", name)
		}
		if changed.Plan.Origin() == nil {
			if err := MayConnect(changed, true); err != nil {
				t.Errorf("%s, named: %v", name, err)
			}
		}
	}
	imported := r
	imported.Origin = &store.Origin{Host: "db1"}
	if MayConnect(imported, true) == nil {
		t.Error("an imported run connects")
	}
	t.Setenv("FILEWISE_STATE", t.TempDir())
	if Sealed(r) {
		t.Error("another's seal is taken for its own")
	}
}
