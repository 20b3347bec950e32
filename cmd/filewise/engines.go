package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/doctor"
	"filewise/plan"
	"filewise/run"
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

// engineInfo is what is known of an engine.
type engineInfo struct {
	Name string `json:"name"`
	filewise.Description
	Target string          `json:"target,omitempty"` // of an opened server, without secrets
	Facts  []filewise.Fact `json:"facts,omitempty"`  // of an opened server
	// Offers says of each capability "yes", or why not.
	Offers map[filewise.Capability]string `json:"offers,omitempty"`
}

// infoOf asks an engine what it is. Offers need an opened server; opening an
// embedded engine starts nothing.
func infoOf(ctx context.Context, e filewise.Engine) engineInfo {
	info := engineInfo{Name: e.Name(), Description: plan.Describe(e)}
	if info.Mode != filewise.Embedded {
		return info
	}
	here := []filewise.Volume{{Name: "here", Dir: "."}} // looked at, not used
	s, err := e.Open(ctx, filewise.Target{Engine: e.Name(), Mode: info.Mode, Volumes: here, Durability: filewise.DurabilityFull})
	if err != nil {
		info.Missing = errors.Join(errors.New("cannot be opened"), err).Error()
		return info
	}
	defer s.Close()
	info.Offers = run.Offers(s)
	return info
}

// openedInfo opens an engine, or a server, and asks what it offers.
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
	info = engineInfo{Name: c.Engine.Name(), Description: c.About, Offers: run.Offers(r.Server)}
	info.Mode = c.Target.Mode
	if c.Target.Address != nil {
		info.Target = c.Target.Address.String()
	}
	info.Facts, err = r.Server.Facts(cmd.Context())
	return info, err
}

// openIdle opens what is chosen to look at it: an existing server, or one that Filewise
// starts in a scratch directory among the temporary files.
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
	printLabels(w, info)
	printOffers(w, info)
	printServer(w, info)
}

// printLabels says what holds for every result of an engine.
func printLabels(w *lineWriter, info engineInfo) {
	for _, label := range []struct{ name, text string }{{"missing", info.Missing}, {"unproven", info.Unproven}, {"licence", info.Licence},
		{"note", info.Note}} {
		if label.text != "" {
			w.printf("  %s: %s\n", label.name, label.text)
		}
	}
}
