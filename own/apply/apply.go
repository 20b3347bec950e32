// Package apply writes the script that takes a user's database to the layout that a run recommends, and the script
// back. It executes neither. If the run's result does not hold for that database it refuses, unless an option allows
// it, and states so on top.
package apply

import (
	"context"
	"slices"
	"strings"

	"filewise"
	"filewise/own/inspect"
	"filewise/results/archive"
)

// Request holds what Write needs: the run, its recommended layout, and the user's database.
type Request struct {
	Run    archive.Run
	Layout string          // by name. Empty means the recommended one
	Target filewise.Target // the user's server; its volumes take the place of the run's, by name
	Wish   filewise.Wish   // its layout and run are filled in
	// Untested has the scripts written even if the run's result does not hold for the database.
	Untested bool
}

// Scripts holds the script that takes the database to the layout, and the script back.
type Scripts struct {
	filewise.Migration
	Run      int64           `json:"run"`
	Layout   filewise.Layout `json:"layout"`
	Verdict  string          `json:"verdict"`
	Untested []string        `json:"untested,omitempty"` // why the run's result does not hold for the database
	// Read and Written are the storage's rates, in bytes per second. 0 means not known.
	Read    float64 `json:"read_rate,omitempty"`
	Written float64 `json:"write_rate,omitempty"`
	target  filewise.Target
}

// Write reads the database, and writes the scripts.
func Write(ctx context.Context, e filewise.Engine, q Request) (*Scripts, error) {
	if !Writes(e.Name()) {
		return nil, filewise.Errorf(filewise.CodeUsage, "see the layout's steps: filewise plan", "no script is written for databases of "+
			"%s: %w", e.Name(), filewise.ErrUnsupported)
	}
	out := &Scripts{Run: q.Run.ID, target: q.Target}
	if err := out.choose(q); err != nil {
		return nil, err
	}
	if err := q.place(out.Layout); err != nil {
		return nil, err
	}
	out.target.Volumes = q.Target.Volumes
	q.Wish.Layout, q.Wish.Run = out.Layout, out.Run
	if c := q.Run.Plan.Params.Custom; c != nil && len(q.Wish.Tables) == 0 { // only these tables were spread in the run
		for _, t := range c.Tables {
			q.Wish.Tables = append(q.Wish.Tables, t.Name)
		}
	}
	look := q.Target
	look.Volumes = []filewise.Volume{{Name: "default"}}
	seen, err := inspect.Look(ctx, e, look)
	if err != nil {
		return nil, err
	}
	if q.Run.Plan.Target.Engine != e.Name() {
		out.Untested = append(out.Untested, "it was on "+q.Run.Plan.Target.Engine+", the database is one of "+e.Name())
		if !q.Untested {
			return nil, out.refuse()
		}
	}
	if out.Migration, err = Migrate(ctx, e, q.Target, q.Wish); err != nil {
		return nil, err
	}
	out.compare(q.Run, products[e.Name()], seen)
	if len(out.Untested) > 0 && !q.Untested {
		return nil, out.refuse()
	}
	out.Read, out.Written = rates(q.Run)
	return out, nil
}

func (s *Scripts) refuse() error {
	return filewise.Errorf(filewise.CodePreflight, "run the experiment for this database first, or say --untested to have the script "+
		"nevertheless", "run %d does not apply to this database: %s", s.Run, strings.Join(s.Untested, "; "))
}

// choose finds the layout: the named one, or the recommended.
func (s *Scripts) choose(q Request) error {
	p := q.Run.Plan
	j, err := p.Judge(q.Run.Trials)
	if err != nil {
		return err
	}
	s.Verdict = q.Run.Verdict
	name := q.Layout
	if name == "" {
		if name = j.First().Result.RecommendedName(); name == "" {
			return filewise.Errorf(filewise.CodeUsage, "go on with filewise resume, or name one with --layout: "+names(p.Layouts),
				"run %d recommends no layout", s.Run)
		}
		if name == p.Baseline {
			return filewise.Errorf(filewise.CodeUsage, "leave the database as it is, or name a layout with --layout: "+names(p.Layouts),
				"nothing to do: run %d keeps %s, its baseline", q.Run.ID, name)
		}
	}
	n := slices.IndexFunc(p.Layouts, func(l filewise.Layout) bool { return l.Name == name })
	if n < 0 {
		return filewise.Errorf(filewise.CodeUsage, "its layouts are "+names(p.Layouts), "run %d has no layout %q", s.Run, name)
	}
	s.Layout = p.Layouts[n]
	switch l := s.Layout; {
	case l.Backup.Files > 0 || l.Discard:
		return filewise.Errorf(filewise.CodeUsage, "name a run that compares data files", "run %d compares files of backups, of which a "+
			"database has none", s.Run)
	case l.Temp.Files > 0:
		return filewise.Errorf(filewise.CodeUsage, "name a run that compares data files", "run %d compares places of temporary files, "+
			"which are a setting of the server", s.Run)
	case l.AddedLater != "":
		return filewise.Errorf(filewise.CodeUsage, "name a run without --added-later", "run %d compares what files give that are "+
			"added later", s.Run)
	}
	return nil
}

func names(layouts []filewise.Layout) string {
	return strings.Join(filewise.LayoutNames(layouts), ", ")
}

// place sets the target's volumes: the run's volumes, each replaced by the user's volume of that name, if there is one.
// If the run had one volume and the user gives none, the volume's directory is empty: files go next to the database's
// own.
func (q *Request) place(l filewise.Layout) error {
	given := q.Target.Volumes
	q.Target.Volumes = slices.Clone(q.Run.Plan.Target.Volumes)
	if len(q.Target.Volumes) == 1 {
		q.Target.Volumes[0].Dir = ""
	}
	for _, v := range given {
		n := slices.IndexFunc(q.Target.Volumes, func(o filewise.Volume) bool { return o.Name == v.Name })
		if n < 0 {
			return filewise.Errorf(filewise.CodeUsage, "leave it out, or give it a name of the run's volumes", "run %d has no volume %q", q.Run.ID,
				v.Name)
		}
		q.Target.Volumes[n] = v
	}
	if len(l.DataVolumes(q.Target.Volumes)) == 0 {
		return filewise.Errorf(filewise.CodeInternal, "", "layout %q of run %d has no volume for data", l.Name, q.Run.ID)
	}
	return nil
}
