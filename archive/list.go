package archive

import (
	"cmp"
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
