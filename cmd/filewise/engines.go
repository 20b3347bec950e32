package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"filewise"
)

func (a *app) enginesCommand() *cobra.Command {
	var f targetFlags
	cmd := &cobra.Command{
		Use:   "engines",
		Short: "List the engines, or what an engine or a server can do",
		Long: `Engines lists what Filewise can lay databases out on. With --engine NAME it says
of that engine how an existing server is named by URL and which rights an account
needs there, and opens a private server of it to say of everything that an
experiment may want whether it can be had, or why not. With --target URL it opens
that server instead, as what it can depends on version and rights. It writes
nothing to an existing server.`,
		Example: "  filewise engines\n  filewise engines --engine mariadb\n  filewise engines --target postgres://ada@db/ --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.url != "" || cmd.Flags().Changed("engine") {
				look := a.openedInfo
				if f.url == "" {
					look = a.namedInfo
				}
				info, err := look(cmd, &f)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(info)
				}
				return a.printOpened(info)
			}
			var out []engineInfo
			for _, e := range engines() {
				out = append(out, infoOf(cmd.Context(), e))
			}
			if a.json {
				return a.printJSON(out)
			}
			return a.printEngines(out)
		},
	}
	f.register(cmd.Flags(), "")
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
	info := engineInfo{Name: e.Name(), Description: describe(e)}
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
	info.Offers = offersOf(s)
	return info
}

func offersOf(s filewise.Server) map[filewise.Capability]string {
	out := make(map[filewise.Capability]string)
	for c, why := range s.Offers() {
		out[c] = "yes"
		if why != nil {
			out[c] = plain(why)
		}
	}
	return out
}

// openedInfo opens an engine, or a server, and asks what it offers.
func (a *app) openedInfo(cmd *cobra.Command, f *targetFlags) (info engineInfo, err error) {
	c, err := f.choose(cmd)
	if err != nil {
		return info, err
	}
	r, err := a.openIdle(cmd.Context(), c, f)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	info = engineInfo{Name: c.engine.Name(), Description: c.about, Offers: offersOf(r.server)}
	info.Mode = c.target.Mode
	if c.target.Address != nil {
		info.Target = c.target.Address.String()
	}
	info.Facts, err = r.server.Facts(cmd.Context())
	return info, err
}

// openIdle opens what is chosen to look at it: an existing server, or one of
// Filewise's own in a scratch directory among the temporary files.
func (a *app) openIdle(ctx context.Context, c chosen, f *targetFlags) (*rig, error) {
	r := &rig{engine: c.engine}
	c.target.Durability = filewise.DurabilityFull
	if c.target.Mode == filewise.External {
		c.target.Volumes = []filewise.Volume{{Name: "default"}}
		err := r.connect(ctx, c.target, func(ctx context.Context) (filewise.Address, error) { return a.login(ctx, c.target, c.secrets, f) })
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		return r, nil
	}
	if len(c.target.Volumes) == 0 {
		c.target.Volumes = []filewise.Volume{{Name: "here", Dir: os.TempDir()}}
	}
	r.target = c.target
	err := r.makeScratch("a look at " + c.engine.Name())
	if err == nil {
		if r.server, err = c.engine.Open(ctx, r.target); err == nil {
			r.undo = append(r.undo, r.server.Close)
			return r, nil
		}
	}
	return nil, errors.Join(err, r.close())
}

func (a *app) printOpened(info engineInfo) error {
	w := &lineWriter{w: a.stdout}
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
	w.printf("  N files are: %s\n  kinds of layout: %s\n", info.Files, kindsText(info.Description))
	printLabels(w, info)
	printOffers(w, info)
	printServer(w, info)
	return w.err
}

// printLabels says what holds for every result of an engine.
func printLabels(w *lineWriter, info engineInfo) {
	for _, label := range []struct{ name, text string }{{"missing", info.Missing}, {"unproven", info.Unproven}, {"licence", info.Licence}, {"note", info.Note}} {
		if label.text != "" {
			w.printf("  %s: %s\n", label.name, label.text)
		}
	}
}

// modes are the ways in which an engine's server comes about.
func modes(d filewise.Description) string {
	switch {
	case d.Mode == filewise.External || len(d.Schemes) == 0:
		return string(d.Mode)
	}
	return fmt.Sprintf("%s, %s", d.Mode, filewise.External)
}
