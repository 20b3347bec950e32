package archive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/store"
)

// ListOrders are those in which runs can be listed.
var ListOrders = []string{"number", "newest", "name", "scenario", "engine"}

// Chosen are the runs for which all filters (KEY=VALUE) hold, in an order of ListOrders.
func Chosen(runs []store.RunInfo, filters []string, order string) ([]store.RunInfo, error) {
	out := slices.Clone(runs)
	for _, f := range filters {
		key, value, ok := strings.Cut(f, "=")
		of := map[string]func(store.RunInfo) []string{
			"name": func(r store.RunInfo) []string { return []string{r.Name} }, "tag": func(r store.RunInfo) []string { return r.Tags },
			"scenario": func(r store.RunInfo) []string { return []string{r.Scenario} },
			"engine":   func(r store.RunInfo) []string { return []string{r.Engine} },
			"state":    func(r store.RunInfo) []string { return []string{string(r.State)} },
		}[key]
		if !ok || of == nil {
			return nil, filewise.Errorf(filewise.CodeUsage, "give one of name=, tag=, scenario=, engine= and state=, such as tag=env=prod",
				"--filter %q is none", f)
		}
		out = slices.DeleteFunc(out, func(r store.RunInfo) bool { return !slices.Contains(of(r), value) })
	}
	slices.SortStableFunc(out, func(a, b store.RunInfo) int {
		switch order {
		case "newest":
			return b.Started.Compare(a.Started)
		case "name":
			return cmp.Compare(a.Name, b.Name)
		case "scenario":
			return cmp.Compare(a.Scenario, b.Scenario)
		case "engine":
			return cmp.Compare(a.Engine, b.Engine)
		}
		return 0
	})
	return out, nil
}

// ListText is a list of runs for people, of so many that are stored.
func ListText(runs []store.RunInfo, stored int) string {
	switch {
	case stored == 0:
		return "No runs yet. \"filewise run\" makes one.\n"
	case len(runs) == 0:
		return "None of " + filewise.Counted(stored, "run") + " is like that.\n"
	}
	var b strings.Builder
	b.WriteString(" RUN  STARTED           STATE        WHAT\n")
	for _, r := range runs {
		what := fmt.Sprintf("%s on %s, %s; %s", r.Scenario, r.Engine, strings.Join(r.Layouts, " · "), filewise.Counted(r.Trials, "trial"))
		fmt.Fprintf(&b, "%4d  %s  %-11s  %s\n", r.ID, r.Started.Local().Format("2006-01-02 15:04"), r.State, what)
		lines := []string{strings.Join(slices.DeleteFunc(append([]string{r.Name}, r.Tags...), func(s string) bool { return s == "" }), ", ")}
		if r.Origin != nil {
			lines = append(lines, "imported: "+r.Origin.String())
		}
		for _, line := range append(lines, r.Verdict) {
			if line != "" {
				fmt.Fprintf(&b, "      %s\n", line)
			}
		}
	}
	return b.String()
}
