package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/own/capture"
	"filewise/run/plan"
)

// captured holds the study, and its text unless that is written to a file.
type captured struct {
	*capture.Study
	YAML string `json:"study"`
}

func (a *app) captureCommand() *cobra.Command {
	var f plan.TargetOptions
	var output string
	var o capture.Options
	cmd := &cobra.Command{
		Use:   "capture",
		Short: "Write a study file of an existing database's workload",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.capture(cmd, &f, o)
			if err != nil {
				return err
			}
			text := s.YAML()
			if output != "" && output != "-" {
				if err := a.writeNew(output, text); err != nil {
					return err
				}
				text = ""
			}
			out := captured{s, text}
			err = a.print(out, func(w *lineWriter) { w.printf("%s", cmp.Or(text, strings.Join(append(s.Account(), ""), "\n"))) })
			if err == nil && s.Interrupted {
				err = filewise.Errorf(codeInterrupted, "run it again for all of it", "interrupted: the study covers what was read until then")
			}
			return err
		},
	}
	registerOptions(cmd.Flags(), f.ServerTable()...)
	cmd.Flags().StringVar(&o.Database, "database", "", "`database` whose work is captured (default: the URL's)")
	cmd.Flags().DurationVar(&o.For, "for", 10*time.Minute, "watch this `long`; 0s: all that the server has counted so far")
	cmd.Flags().StringVar(&o.LogName, "log", "", "read the statements from this log `file` of the server")
	cmd.Flags().BoolVar(&o.Values, "values", false, "also take values of columns that look personal")
	cmd.Flags().StringArrayVar(&o.Tell, "tell", nil, "take values of this `column` (COLUMN or TABLE.COLUMN; repeatable)")
	cmd.Flags().StringArrayVar(&o.Withhold, "withhold", nil, "take no values of this `column` (likewise; repeatable)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this new `file`, not standard output")
	completeChoices(cmd)
	return cmd
}

func (a *app) capture(cmd *cobra.Command, f *plan.TargetOptions, o capture.Options) (*capture.Study, error) {
	switch {
	case f.Target.Value == "":
		return nil, filewise.Errorf(filewise.CodeUsage, "name a server: --target URL", "capture needs a target")
	case o.For < 0:
		return nil, plan.OutOfRange("for", o.For.String(), "give a time such as 10m, or 0s")
	}
	c, err := registry().Choose(f)
	if err != nil {
		return nil, err
	}
	e, ok := capture.Of(c.Engine)
	if !ok || c.Target.Address == nil {
		return nil, filewise.Errorf(filewise.CodeUsage, "write a study by hand: filewise init custom", "nothing can be captured on %s: %w",
			c.Target.Engine, filewise.ErrUnsupported)
	}
	if o.Database = cmp.Or(o.Database, c.Target.Address.Path); o.Database == "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "name it by --database, or in the URL", "capture needs a database")
	}
	if err := o.OpenLog(); err != nil {
		return nil, err
	}
	defer o.Close()
	full, err := a.login(cmd.Context(), c.Target, c.Secret, f)
	if err != nil {
		return nil, err
	}
	of := *c.Target.Address
	of.Path = o.Database
	o.URL, c.Target.Address = of.String(), &full
	c.Target.Volumes = []filewise.Volume{{Name: "default"}}
	c.Target.Durability = filewise.DurabilityFull
	w, err := e.Watch(cmd.Context(), c.Target, o.Database)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	o.Engine = c.Target.Engine
	return capture.Take(cmd.Context(), e, w, o)
}
