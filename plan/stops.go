package plan

import (
	"filewise"
	"filewise/experiment"
	"filewise/internal/limit"
	"filewise/internal/maintenance"
)

// StopOptions say when others come first: those of run, plan and resume.
type StopOptions struct {
	AbortIf Opt[[]string]
	Windows Opt[[]string]
}

// Table has their rows.
func (o *StopOptions) Table() []Option {
	return []Option{
		Row(&o.AbortIf, "abort-if", nil, "`limit` on what others do on the server of --target or --from, such as active>5 or sessions>100: "+
			"beyond it the run stops, and resume goes on (repeatable)"),
		Row(&o.Windows, "maintenance-window", nil, "`hours` of local time in which trials may run, such as 22:00-06:00 or Sat,Sun "+
			"08:00-20:00: outside them the run waits (repeatable)"),
	}
}

func (m *maker) setStops() error { return m.o.StopOptions.Apply(&m.plan) }

// Apply puts into the plan what is given.
func (o *StopOptions) Apply(p *experiment.Plan) error {
	if limits := o.AbortIf.Value; len(limits) > 0 {
		if _, err := limit.ParseAll(limits); err != nil {
			return err
		}
		if p.Target.Mode != filewise.External && p.Origin() == nil {
			return badUse("abort-if", limits[0], "it watches the server of --target; on "+p.Target.Engine+
				" of Filewise's own nobody else works: leave it out")
		}
		p.AbortIf = limits
	}
	if windows := o.Windows.Value; len(windows) > 0 {
		if _, err := maintenance.ParseAll(windows); err != nil {
			return err
		}
		p.Maintenance = windows
	}
	return nil
}
