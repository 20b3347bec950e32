package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/capture"
	"filewise/internal/filesystem"
	"filewise/plan"
)

// captured is what was read, with the study file where that is not written to a file.
type captured struct {
	*capture.Study
	YAML string `json:"study"`
}

func (a *app) captureCommand() *cobra.Command {
	var f plan.TargetOptions
	var output, log string
	var o capture.Options
	cmd := &cobra.Command{
		Use:   "capture",
		Short: "Write a study file of what an existing database is given to do",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.capture(cmd, &f, o, log)
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
			return a.print(out, func(w *lineWriter) {
				if text != "" {
					w.printf("%s", text)
					return
				}
				for _, line := range s.Account() {
					w.printf("%s\n", line)
				}
			})
		},
	}
	registerOptions(cmd.Flags(), f.ServerTable()...)
	cmd.Flags().StringVar(&o.Database, "database", "", "the `database` whose work is captured (default: that of the URL)")
	cmd.Flags().DurationVar(&o.For, "for", 10*time.Minute, "how `long` to watch; 0s: take all that the server has counted so far")
	cmd.Flags().StringVar(&log, "log", "", "take the statements from this `file`, a log of the server's")
	cmd.Flags().BoolVar(&o.Values, "values", false, "take values of columns that look personal, too")
	cmd.Flags().StringArrayVar(&o.Tell, "tell", nil, "take values of this `column` (COLUMN or TABLE.COLUMN; repeatable)")
	cmd.Flags().StringArrayVar(&o.Withhold, "withhold", nil, "take no values of this `column` (COLUMN or TABLE.COLUMN; repeatable)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this new `file` instead of standard output")
	completeChoices(cmd)
	return cmd
}

func (a *app) capture(cmd *cobra.Command, f *plan.TargetOptions, o capture.Options, log string) (*capture.Study, error) {
	switch {
	case f.Target.Value == "":
		return nil, filewise.Errorf(filewise.CodeUsage, "name a server: --target URL", "capture needs a target")
	case o.For < 0:
		return nil, plan.BadValue("for", o.For.String(), "give a time such as 10m, or 0s")
	}
	c, err := registry().Choose(f)
	if err != nil {
		return nil, err
	}
	e, ok := c.Engine.(filewise.Capturer)
	if !ok || c.Target.Address == nil {
		return nil, filewise.Errorf(filewise.CodeUsage, "write a study by hand: filewise init custom", "nothing can be captured on %s: %w",
			c.Target.Engine, filewise.ErrUnsupported)
	}
	if o.Database = cmp.Or(o.Database, c.Target.Address.Path); o.Database == "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "name it by --database, or in the URL", "capture needs a database")
	}
	if log != "" {
		file, err := filesystem.Open(log)
		if err != nil {
			return nil, filewise.Errorf(filewise.CodeUsage, "name a readable file by --log", "log: %w", err)
		}
		defer file.Close()
		o.Log, o.LogName = file, log
	}
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
	if o.Engine = c.Target.Engine; o.Log == nil && o.For > 0 && !a.json {
		fmt.Fprintf(a.stderr, "filewise: watching %s for %v\n", o.Database, o.For)
	}
	return capture.Take(cmd.Context(), e, w, o)
}
