package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flag whose value is empty is never what its command does without it.
func TestFlagsAreFilled(t *testing.T) {
	var each func(*cobra.Command)
	each = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			each(sub)
		}
		c.NonInheritedFlags().VisitAll(func(fl *pflag.Flag) {
			if row := rowOf(fl); row != nil && row.Choices != nil { // tested in bad_values.txtar
				return
			}
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			fs.AddFlag(fl)
			if fs.Parse([]string{"--" + fl.Name + "="}) == nil && filled(fs) == nil {
				t.Errorf("%s takes --%s without a value", c.CommandPath(), fl.Name)
			}
		})
	}
	each(new(app).command())
}

// A line of run is one of plan: the flags that no plan follows from are not shown in its help.
func TestPlanTakesWhatRunTakes(t *testing.T) {
	a := new(app)
	planned := a.planCommand().Flags()
	a.runCommand().Flags().VisitAll(func(fl *pflag.Flag) {
		has := planned.Lookup(fl.Name)
		if has == nil || has.NoOptDefVal != fl.NoOptDefVal || has.Value.Type() != fl.Value.Type() {
			t.Errorf("run has --%s, plan %+v", fl.Name, has)
		} else if has.Hidden != (rowOf(fl) == nil && fl.Name != "only") {
			t.Errorf("plan hides --%s: %v", fl.Name, has.Hidden)
		}
	})
}
