package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"filewise"
	"filewise/engine/all"
)

func (a *app) enginesCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "engines",
		Short:   "List the engines and what each offers",
		Example: "  filewise engines\n  filewise engines --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out []engineInfo
			for _, e := range all.Engines() {
				out = append(out, infoOf(cmd.Context(), e))
			}
			if a.json {
				return a.printJSON(out)
			}
			return a.printEngines(out)
		},
	}
}

// engineInfo is a line of the table of engines.
type engineInfo struct {
	Name string `json:"name"`
	filewise.Description
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
	info.Offers = make(map[filewise.Capability]string)
	for c, why := range s.Offers() {
		info.Offers[c] = "yes"
		if why != nil {
			info.Offers[c] = why.Error()
		}
	}
	return info
}

func (a *app) printEngines(engines []engineInfo) error {
	w := &lineWriter{w: a.stdout}
	for _, e := range engines {
		w.printf("%s (%s)\n  N files are: %s\n  kinds of layout: %v\n", e.Name, e.Mode, e.Files, e.Kinds)
		if e.Bytes > 0 {
			w.printf("  usual experiment: %s of data files, rows of %d bytes, %v of trials\n", humanize.IBytes(uint64(e.Bytes)), e.RowBytes, e.Budget)
		}
		if e.Missing != "" {
			w.printf("  missing: %s\n", e.Missing)
		}
		if e.Note != "" {
			w.printf("  note: %s\n", e.Note)
		}
		var names []string
		for c := range e.Offers {
			names = append(names, string(c))
		}
		slices.Sort(names)
		for _, c := range names {
			w.printf("  %-28s %s\n", c+":", e.Offers[filewise.Capability(c)])
		}
	}
	if w.err != nil {
		return fmt.Errorf("write: %w", w.err)
	}
	return nil
}
