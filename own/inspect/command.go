package inspect

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"filewise"
)

// run returns the command of an experiment on the target.
func (j *judge) run(scenario string, args ...string) []string {
	return append(append([]string{"filewise", "run", scenario}, j.target.Flags...), args...)
}

// largest returns the largest group of the target's database, or of the database with the largest group if the target
// names none. Groups that can be divided come first.
func (j *judge) largest() filewise.FileGroup {
	of := func(database string) []filewise.FileGroup {
		return filewise.Those(j.data(), func(g filewise.FileGroup) bool { return g.Database == database })
	}
	groups := of(j.target.database())
	if len(groups) == 0 || groups[0].Database == "" {
		groups = of(j.first().Database)
	}
	if len(groups) == 0 {
		return filewise.FileGroup{}
	}
	return groups[max(slices.IndexFunc(groups, func(g filewise.FileGroup) bool { return g.Whole == "" }), 0)]
}

// own returns the commands for its database. If the group cannot be divided, it returns none that divide.
func (j *judge) own() (all [][]string) {
	largest := j.largest()
	if largest.Database == "" || largest.Database != filewise.Printable(largest.Database) {
		return nil
	}
	on := func(command ...string) {
		all = append(all, slices.Concat([]string{"filewise"}, command, j.target.Flags, []string{"--database", largest.Database}))
	}
	if j.target.Captures {
		on("capture")
		all[0] = append(all[0], "--output", "own.yaml")
	}
	if largest.Whole != "" {
		return all
	}
	if j.target.Captures {
		run := []string{"filewise", "run", "own.yaml", "--from", j.target.of(largest.Database), "--kind", string(j.target.Kind)}
		all = append(all, slices.Concat(run, j.target.Flags[2:])) // of a kind that apply can reach
	}
	if j.target.Applies {
		on("apply", "last")
		if table, is := strings.CutPrefix(largest.Name, "table "); is && !strings.ContainsRune(table, unicode.ReplacementChar) {
			all[len(all)-1] = append(all[len(all)-1], "--table", table)
		}
	}
	return all
}

// database returns the database that the target's URL names, or an empty text.
func (t Target) database() string {
	if len(t.Flags) < 2 {
		return ""
	}
	u, err := url.Parse(t.Flags[1])
	if err != nil {
		return ""
	}
	return strings.Trim(u.Path, "/")
}

// of returns the target's URL with another database.
func (t Target) of(database string) string {
	server, query, has := strings.Cut(t.Flags[1], "?")
	scheme, rest, _ := strings.Cut(server, "://")
	host, _, _ := strings.Cut(rest, "/")
	server = scheme + "://" + host + "/" + url.PathEscape(database)
	if has {
		server += "?" + query
	}
	return server
}

// mostFiles limits the numbers of files that are proposed. More take space and time, and can be tried after these.
const mostFiles = 16

// counts returns the numbers of files worth comparing: 1, the present number, and powers of 2 up to the cores.
func (j *judge) counts(have int) string {
	all := []int{1}
	for n := 2; n <= min(max(j.Cores, 4), mostFiles); n *= 2 {
		all = append(all, n)
	}
	if have > 0 && have <= mostFiles {
		all = append(all, have)
	}
	slices.Sort(all)
	text := filewise.Each(slices.Compact(all), strconv.Itoa)
	return strings.Join(text, ",")
}

// places returns the --volume flags for the places of files, if there are several.
func (j *judge) places() []string {
	if len(j.Places) < 2 || j.target.Embedded {
		return nil
	}
	var args []string
	nameable := filewise.Those(j.Places, func(v filewise.Place) bool { return filewise.Printable(v.Name+v.Dir) == v.Name+v.Dir })
	for _, v := range nameable[:min(len(nameable), 4)] {
		args = append(args, "--volume", v.Name+"="+v.Dir)
	}
	return args
}

// volumesOf counts a group's files by device or, if devices are not known, by place.
func volumesOf(g filewise.FileGroup) map[string]int {
	all := map[string]int{}
	known := !slices.ContainsFunc(g.Files, func(f filewise.FileInspect) bool { return f.Device == "" })
	for _, f := range g.Files {
		switch {
		case known:
			all["device "+f.Device]++
		case f.Volume != "":
			all[f.Volume]++
		}
	}
	return all
}

func where(volumes map[string]int) string {
	var all []string
	for name := range volumes {
		if len(volumes) == 1 {
			return "all on " + name
		}
	}
	for name, n := range volumes {
		all = append(all, fmt.Sprintf("%s on %s", filewise.FilesName(n), name))
	}
	slices.Sort(all)
	if len(all) > 6 {
		all = append(all[:6], fmt.Sprintf("and %d more", len(all)-6))
	}
	return strings.Join(all, ", ")
}
