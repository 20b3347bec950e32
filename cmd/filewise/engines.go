package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/results/report/document"
	"filewise/run"
	"filewise/run/doctor"
	"filewise/run/plan"
)

func (a *app) enginesCommand() *cobra.Command {
	var f plan.TargetOptions
	cmd := &cobra.Command{
		Use:   "engines",
		Short: "List the engines, or what an engine or a server can do",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Target.Value != "" || f.Engine.Given() {
				look := a.openedInfo
				if f.Target.Value == "" {
					look = a.namedInfo
				}
				info, err := look(cmd, &f)
				if err != nil {
					return err
				}
				return a.print(info, info.text)
			}
			out := filewise.Each(engines(), func(e filewise.Engine) engineInfo { return infoOf(cmd.Context(), e) })
			width, _ := terminal(a.stdout)
			return a.print(out, func(w *lineWriter) { printEngines(w, out, width) })
		},
	}
	registerOptions(cmd.Flags(), f.Table("")...)
	completeChoices(cmd)
	return cmd
}

// engineInfo holds the output about an engine.
type engineInfo struct {
	Name string `json:"name"`
	filewise.Description
	Proven string          `json:"proven,omitempty"` // versions on which the adapter has been proven
	Target string          `json:"target,omitempty"` // an opened server, without secrets
	Facts  []filewise.Fact `json:"facts,omitempty"`  // of an opened server
	// Offers holds for each capability "yes", or the reason why it is absent.
	Offers map[filewise.Capability]string `json:"offers,omitempty"`
}

func known(e filewise.Engine) engineInfo {
	info := engineInfo{Name: e.Name(), Description: e.Describe()}
	if info.Unproven != "" {
		info.Proven = doctor.Proven(e)
	}
	return info
}

// infoOf returns an engine's facts about itself. An embedded engine's offers are included, since opening it starts
// nothing. Others need an opened server.
func infoOf(ctx context.Context, e filewise.Engine) engineInfo {
	info := known(e)
	if info.Mode != filewise.Embedded {
		return info
	}
	here := []filewise.Volume{{Name: "here", Dir: "."}} // only for the check; nothing is written there
	s, err := e.Open(ctx, filewise.Target{Engine: e.Name(), Mode: info.Mode, Volumes: here, Durability: filewise.DurabilityFull})
	if err != nil {
		info.Missing = errors.Join(errors.New("cannot be opened"), err).Error()
		return info
	}
	defer s.Close()
	info.Offers = run.Offers(s)
	return info
}

// openedInfo opens an engine or a server, and adds its offers.
func (a *app) openedInfo(cmd *cobra.Command, f *plan.TargetOptions) (info engineInfo, err error) {
	c, err := registry().Choose(f)
	if err != nil {
		return info, err
	}
	r, err := a.openIdle(cmd.Context(), c, f)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info = known(c.Engine)
	info.Offers = run.Offers(r.Server)
	info.Mode = c.Target.Mode
	if c.Target.Address != nil {
		info.Target = c.Target.Address.String()
	}
	info.Facts, err = r.Server.Facts(cmd.Context())
	return info, err
}

// openIdle opens the chosen engine to look at it: an existing server, or a server that Filewise starts in a temporary
// scratch directory.
func (a *app) openIdle(ctx context.Context, c plan.Chosen, f *plan.TargetOptions) (*run.Environment, error) {
	t := c.Target
	t.Durability = filewise.DurabilityFull
	if t.Mode == filewise.External {
		t.Volumes = []filewise.Volume{{Name: "default"}}
	} else if len(t.Volumes) == 0 {
		t.Volumes = []filewise.Volume{{Name: "here", Dir: os.TempDir()}}
	}
	return run.LookAt(ctx, c.Engine, t, a.access(t, nil, c.Secret, f))
}

func (info engineInfo) text(w *lineWriter) {
	w.printf("%s, %s", info.Name, info.Mode)
	if info.Target != "" {
		w.printf(" (%s)", info.Target)
	}
	w.printf("\n")
	for _, fact := range info.Facts {
		if fact.Name == "version" {
			w.printf("  version %s\n", fact.Value)
		}
	}
	w.printf("  N files are: %s\n  kinds of layout: %s\n", info.Files, doctor.Kinds(info.Description))
	w.printf("%s%s%s", doctor.Labels(info.Description, info.Proven), doctor.Offered(info.Description, info.Offers),
		doctor.Account(info.Description, info.Target != ""))
}

// printEngines prints the table of engines, and details of each below it.
func printEngines(w *lineWriter, infos []engineInfo, width int) {
	w.printf("%s\n", document.Print(document.TerminalOptions{Width: width}, document.Everywhere(document.Tabulate(document.Table{}, infos,
		document.Words("ENGINE", func(e engineInfo) string { return e.Name }),
		document.Words("SERVER", func(e engineInfo) string { return doctor.Modes(e.Description) }).Wrapped(),
		document.Words("N FILES ARE", func(e engineInfo) string { return e.Files }).Wrapped(),
		document.Words("KINDS OF LAYOUT", func(e engineInfo) string { return doctor.Kinds(e.Description) }).Wrapped(),
		document.Words("HERE", func(e engineInfo) string { return doctor.Here(e.Description) }).Wrapped()))))
	for _, e := range infos {
		w.printf("%s", doctor.Below(e.Name, e.Description, e.Proven))
	}
	w.printf("\nWhat one can do, and why not: filewise engines --engine NAME, or --target URL.\n")
}

// namedInfo returns the facts of an engine given by name. Since rights must be known before an account exists, no
// server is needed.
func (a *app) namedInfo(cmd *cobra.Command, f *plan.TargetOptions) (engineInfo, error) {
	if err := f.Idle(); err != nil {
		return engineInfo{}, err
	}
	e, err := registry().Lookup(f.Engine.Value)
	if err != nil {
		return engineInfo{}, err
	}
	about := e.Describe()
	if about.Mode == filewise.External || about.Missing != "" {
		return known(e), nil
	}
	return a.openedInfo(cmd, f)
}
