package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/experiment"
	"filewise/internal/limit"
	"filewise/internal/maintenance"
	"filewise/workload"
)

// stopFlags say when others come first: those of run, plan and resume.
type stopFlags struct {
	abortIf []string
	windows []string
}

func (f *stopFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.abortIf, "abort-if", nil, "`limit` on what others do on the server of --target, such as active>5 or sessions>100: beyond it the run stops, and resume goes on (repeatable)")
	fs.StringArrayVar(&f.windows, "maintenance-window", nil, "`hours` of local time in which trials may run, such as 22:00-06:00 or Sat,Sun 08:00-20:00: outside them the run waits (repeatable)")
}

func (f *planFlags) setStops(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	return f.stops.apply(p)
}

// apply puts into the plan what is given.
func (f *stopFlags) apply(p *experiment.Plan) error {
	if len(f.abortIf) > 0 {
		if _, err := limit.ParseAll(f.abortIf); err != nil {
			return err
		}
		if p.Target.Mode != filewise.External {
			return badUse("abort-if", f.abortIf[0], "it watches the server of --target; on "+p.Target.Engine+" of Filewise's own nobody else works: leave it out")
		}
		p.AbortIf = f.abortIf
	}
	if len(f.windows) > 0 {
		if _, err := maintenance.ParseAll(f.windows); err != nil {
			return err
		}
		p.Maintenance = f.windows
	}
	return nil
}
