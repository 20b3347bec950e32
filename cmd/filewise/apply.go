package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/own/apply"
	"filewise/run/plan"
)

// applyFlags names the database, and where the scripts are written.
type applyFlags struct {
	server  plan.TargetOptions
	places  plan.PlaceOptions
	request apply.Request

	output string
}

func (a *app) applyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:               "apply [RUN]",
		Short:             "Write the scripts that take your database to a run's layout and back",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.apply(cmd, &f, args) },
	}
	registerOptions(cmd.Flags(), append(f.server.ServerTable(),
		f.places.VolumeRow("`NAME=PLACE` on the server of --target for a volume of the run (repeatable)"))...)
	flags := cmd.Flags()
	flags.StringVar(&f.request.Wish.Database, "database", "", "`name` of the database (default: the URL's)")
	flags.StringArrayVar(&f.request.Wish.Tables, "table", nil, "`name` of a table to spread (repeatable; default: the large ones)")
	flags.StringVar(&f.request.Layout, "layout", "", "`name` of a layout of the run (default: the recommended one)")
	flags.BoolVar(&f.request.Untested, "untested", false, "write scripts even if the run does not apply")
	flags.StringVarP(&f.output, "output", "o", "", "`file` for the script; FILE-back.sql undoes it (default filewise-RUN-apply.sql)")
	completeChoices(cmd)
	return cmd
}

func (a *app) apply(cmd *cobra.Command, f *applyFlags, args []string) error {
	if f.server.Target.Value == "" {
		return filewise.Errorf(filewise.CodeUsage, "name the server: --target URL --database NAME", "apply needs a target")
	}
	c, err := registry().Choose(&f.server)
	if err != nil {
		return err
	}
	if c.Target.Address == nil {
		return filewise.Errorf(filewise.CodeUsage, "name a server by its URL", "%s has no server to apply a layout on", c.Target.Engine)
	}
	q := f.request
	if q.Run, err = a.load(cmd.Context(), args); err != nil {
		return err
	}
	q.Target = c.Target
	full, err := a.login(cmd.Context(), c.Target, c.Secret, &f.server)
	if err != nil {
		return err
	}
	q.Target.Address = &full
	for _, v := range f.places.Volumes.Value {
		q.Target.Volumes = append(q.Target.Volumes, filewise.Volume{Name: v.Name, Dir: v.Value})
	}
	scripts, err := apply.Write(cmd.Context(), c.Engine, q)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(scripts)
	}
	there := f.output
	if there == "" {
		there = fmt.Sprintf("filewise-%d-apply.sql", scripts.Run)
	}
	back := strings.TrimSuffix(there, filepath.Ext(there)) + "-back" + filepath.Ext(there)
	for _, way := range []struct {
		path, other string
		back        bool
	}{{there, back, false}, {back, there, true}} {
		text := scripts.Text(versionString(), way.back, way.path, way.other)
		if err := a.write(way.path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			return err
		}
	}
	return nil
}
