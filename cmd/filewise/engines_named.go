package main

import (
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/doctor"
	"filewise/plan"
)

// namedInfo is what there is to know of an engine by its name. Its rights must be
// known before there is an account, so that no server is needed for them.
func (a *app) namedInfo(cmd *cobra.Command, f *plan.TargetOptions) (engineInfo, error) {
	if err := f.Idle(); err != nil {
		return engineInfo{}, err
	}
	e, err := registry().Lookup(f.Engine.Value)
	if err != nil {
		return engineInfo{}, err
	}
	about := plan.Describe(e)
	if about.Mode == filewise.External || about.Missing != "" {
		return engineInfo{Name: e.Name(), Description: about}, nil
	}
	return a.openedInfo(cmd, f)
}

// printOffers says what an opened engine can and cannot, or why none was opened.
func printOffers(w *lineWriter, info engineInfo) {
	if info.Offers == nil {
		why := "it is not installed here"
		if info.Mode == filewise.External {
			why = "Filewise cannot start a managed server of it"
		}
		w.printf("\nWhat it can is not looked at: %s.\n", why)
		return
	}
	w.printf("\nIt can\n")
	for _, c := range filewise.Capabilities {
		if info.Offers[c] == "yes" {
			w.printf("  yes  %s\n", c)
		}
	}
	w.printf("\nIt cannot\n")
	for _, c := range filewise.Capabilities {
		switch why, known := info.Offers[c]; {
		case !known:
			w.printf("  no   %s: not said\n", c)
		case why != "yes":
			w.printf("  no   %s: %s\n", c, indent(why, 7))
		}
	}
}

// printServer says how an existing server is named, and what its account needs.
func printServer(w *lineWriter, info engineInfo) {
	if len(info.Schemes) == 0 {
		return
	}
	if info.Target == "" {
		w.printf("\nAn existing server, by URL\n")
		for _, scheme := range info.Schemes {
			w.printf("  --target %s\n", doctor.URLForm(info.Description, scheme))
		}
		kinds := filewise.Each(info.ExternalKinds, func(k filewise.Kind) string { return string(k) })
		w.printf("  kinds of layout there: %s\n", strings.Join(kinds, " "))
	}
	w.printf("\nRights of the account that Filewise needs on an existing server\n")
	for _, right := range info.Rights {
		w.printf("  %s\n", indent(right, 2))
	}
}
