package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise/lab/workload"
)

// Defaults returns a scenario's name and the defaults of its options on the usual engine, by option name. If no
// scenario is given, it is DefaultScenario. Options without a default are left out, and all options of an unknown
// scenario.
func (e Engines) Defaults(scenario string) (string, map[string]string) {
	o := e.New()
	o.Scenario = cmp.Or(scenario, DefaultScenario)
	out := map[string]string{}
	sc, err := workload.Lookup(o.Scenario)
	if err != nil {
		return scenario, out
	}
	made, err := e.Make(o)
	if err != nil {
		return scenario, out
	}
	p := made.Plan
	var files []string
	for _, l := range p.Layouts {
		if n := strconv.Itoa(sc.NumberOf(l)); n != "0" && !slices.Contains(files, n) {
			files = append(files, n)
		}
	}
	out["files"] = strings.Join(files, ",")
	for name, n := range map[string]int{"connections": p.Params.Connections, "row-bytes": p.Params.RowBytes,
		"commit-every": p.Params.CommitEvery} {
		if n > 0 {
			out[name] = strconv.Itoa(n)
		}
	}
	if len(p.Layouts) > 0 && p.Layouts[0].Data.Bytes > 0 {
		out["size"] = strings.ReplaceAll(humanize.IBytes(uint64(p.Layouts[0].Data.Bytes)), " ", "") // in the form that users type
	}
	return o.Scenario, out
}
