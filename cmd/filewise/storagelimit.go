package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/probe"
	"filewise/scratch"
	"filewise/storage"
	"filewise/workload"
)

// The values of --storage-limit.
const (
	storageAuto = "auto"
	storageOff  = "off"
)

// budgetForStorage is how many times as long as measuring the storage a run's budget
// must be for the run to do it by itself.
const budgetForStorage = 20

func (f *planFlags) setStorageLimit(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	switch f.storageLimit {
	case storageAuto:
	case storageOff:
		p.StorageLimit = storageOff
	default:
		return badValue("storage-limit", f.storageLimit, "give "+storageAuto+" or "+storageOff)
	}
	return nil
}

// storageLimits are what the storage of a run's volumes gives, as far as known.
type storageLimits struct {
	limits []storage.Limit
	facts  []filewise.Fact
}

func (s storageLimits) ceilings() []probe.Ceiling {
	var out []probe.Ceiling
	for _, l := range s.limits {
		out = append(out, l.Ceiling())
	}
	return out
}

// storageDemand is what a plan wants of the storage: on the volumes as given, or on
// their scratch directories.
func storageDemand(about filewise.Description, p experiment.Plan, volumes []filewise.Volume) storage.Demand {
	d := storage.Demand{Volumes: volumes, Page: about.Page}
	for _, l := range p.Layouts {
		d.Files = max(d.Files, l.Data.Files, l.Backup.Files)
	}
	return d
}

// storageLimits looks up what is known of the storage, or measures it where there is
// time enough. The error is of the context.
func (r *rig) storageLimits(ctx context.Context, p experiment.Plan) (storageLimits, error) {
	if p.StorageLimit == storageOff {
		return storageLimits{facts: storageUnknown(p.Target.Volumes, "not asked for (--storage-limit off)")}, nil
	}
	state, err := scratch.StateDir()
	if err != nil {
		return storageLimits{}, err
	}
	cache, demand := storage.NewCache(state), storageDemand(describe(r.engine), p, r.target.Volumes)
	if limits, ok := cache.Find(demand, time.Now()); ok {
		return known(limits, nil), nil
	}
	if p.Budget > 0 && p.Budget < budgetForStorage*demand.Expected() {
		return storageLimits{facts: storageUnknown(p.Target.Volumes, "not measured yet: filewise doctor --storage does it once, by fio")}, nil
	}
	return measureStorage(ctx, cache, demand)
}

// measureStorage asks fio, and remembers what it says.
func measureStorage(ctx context.Context, cache storage.Cache, demand storage.Demand) (storageLimits, error) {
	limits, absent, err := storage.Measure(ctx, demand)
	if err != nil {
		return storageLimits{}, err
	}
	out := known(limits, absent)
	if err := cache.Add(limits); err != nil { // what was measured holds for this run
		out.facts = append(out.facts, filewise.Fact{Name: "storage limit", Value: "not remembered: " + err.Error()})
	}
	return out, nil
}

func known(limits []storage.Limit, absent map[string]string) storageLimits {
	out := storageLimits{limits: limits}
	for _, l := range limits {
		out.facts = append(out.facts, filewise.Fact{Name: storageFact(l.Volume), Value: l.String()})
	}
	for volume, why := range absent {
		out.facts = append(out.facts, filewise.Fact{Name: storageFact(volume), Value: "not measured: " + why})
	}
	return out
}

func storageUnknown(volumes []filewise.Volume, why string) []filewise.Fact {
	var out []filewise.Fact
	for _, v := range volumes {
		out = append(out, filewise.Fact{Name: storageFact(v.Name), Value: why})
	}
	return out
}

func storageFact(volume string) string { return "storage limit of volume " + volume }

// storageFindings measures the storage of the usual experiment anew, in scratch
// directories.
func storageFindings(ctx context.Context, f *planFlags) (_ []filewise.Finding, err error) {
	p, err := f.usual(true)
	if err != nil {
		return nil, err
	}
	if p.Target.Mode == filewise.External {
		return nil, filewise.Errorf(filewise.CodeUsage, "leave --target out, and name a --volume of this machine", "--storage measures volumes of this machine")
	}
	r, err := prepare(p)
	if err != nil {
		return nil, err
	}
	if err := r.lockHost(ctx, "the storage's own limit"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	r.target = p.Target
	if err := r.makeScratch("the storage's own limit"); err != nil {
		return nil, err
	}
	state, err := scratch.StateDir()
	if err != nil {
		return nil, err
	}
	found, err := measureStorage(ctx, storage.NewCache(state), storageDemand(describe(r.engine), p, r.target.Volumes))
	var out []filewise.Finding
	for _, fact := range found.facts {
		x := filewise.Finding{Check: fact.Name, Status: filewise.StatusOK, Detail: fact.Value}
		if len(found.limits) == 0 {
			x.Status, x.Remedy = filewise.StatusNote, "install what is missing, or name another --volume"
		}
		out = append(out, x)
	}
	return out, err
}
