package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/internal/nearest"
)

// layoutKeys are the keys of --layout.
var layoutKeys = []string{"files", "kind", "placement", "allocation", "growth", "log", "indexes", "index-volume", "name"}

// inFull makes the layouts that are given by --layout. What one leaves open is as
// the other flags say.
func (f *planFlags) inFull(cmd *cobra.Command, p *experiment.Plan, base filewise.Layout) ([]arm, error) {
	arms := make([]arm, len(f.layouts))
	for i, text := range f.layouts {
		arms[i] = arm{base, cmd.Flags().Changed("allocation"), cmd.Flags().Changed("growth")}
		if err := f.readLayout(text, &arms[i]); err != nil {
			return nil, err
		}
		if err := checkApart(arms[i].Layout, p.Target.Volumes, "log", "index-volume"); err != nil {
			return nil, err
		}
	}
	nameArms(arms)
	rankArms(arms)
	return arms, nil
}

// readLayout reads files=8,kind=partitions,… into an arm. A part without a key
// belongs to the value before it: names may hold commas.
func (f *planFlags) readLayout(text string, a *arm) error {
	type pair struct{ key, value string }
	var pairs []pair
	for part := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		switch {
		case ok && slices.Contains(layoutKeys, key):
			if slices.ContainsFunc(pairs, func(p pair) bool { return p.key == key }) {
				return badLayout(text, "give each key once", "%s is given twice", key)
			}
			pairs = append(pairs, pair{key, strings.TrimSpace(value)})
		case ok:
			return badLayout(text, nearest.Remedy(key, layoutKeys), "key %q is unknown", key)
		case len(pairs) > 0 && pairs[len(pairs)-1].key == "name":
			pairs[len(pairs)-1].value += "," + part
		default:
			return badLayout(text, "give it as files=8,kind=partitions", "%q is no KEY=VALUE", part)
		}
	}
	a.Name = ""
	for _, p := range pairs {
		if err := f.setKey(a, p.key, p.value); err != nil {
			return err
		}
	}
	if a.Data.Files == 0 {
		return badLayout(text, "add files=N", "it does not say how many files it has")
	}
	if a.growthGiven && a.allocationGiven && a.Data.Allocation == filewise.Preallocated {
		return badLayout(text, "add allocation=growing, or leave growth out", "preallocated files do not grow")
	}
	return nil
}

func badLayout(text, remedy, format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "--layout %q: %s", text, fmt.Sprintf(format, args...))
}

func (f *planFlags) setKey(a *arm, key, value string) (err error) {
	switch key {
	case "files":
		if a.Data.Files, err = strconv.Atoi(value); err != nil || a.Data.Files < 1 {
			return badValue("layout files="+value, "", "give a whole number from 1")
		}
	case "kind":
		a.Kind, err = choice("layout kind=", value, f.kinds()...)
	case "placement":
		a.Data.Placement, err = choice("layout placement=", value, filewise.PlaceOne, filewise.PlaceRoundRobin)
	case "allocation":
		a.allocationGiven = true
		a.Data.Allocation, err = choice("layout allocation=", value, filewise.Preallocated, filewise.Growing)
	case "growth":
		a.growthGiven = true
		a.Data.Growth, err = bytesOf("layout growth=", value)
	case "log":
		a.LogVolume = value
	case "indexes":
		a.Indexes, err = choice("layout indexes=", value, filewise.IndexesTogether, filewise.IndexesApart)
	case "index-volume":
		a.IndexVolume = value
	case "name":
		if value == "" || len(value) > 60 || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return badValue("layout name="+strconv.Quote(value), "", "give a name of 1 to 60 bytes in one line")
		}
		a.Name = value
	}
	return err
}

// nameArms names the layouts that have no name: by their number of files, and by
// whatever tells them apart besides.
func nameArms(arms []arm) {
	traits := make([][]string, len(arms))
	for i, a := range arms {
		traits[i] = traitsOf(a)
	}
	for i := range arms {
		if arms[i].Name != "" {
			continue
		}
		name := filewise.FilesName(arms[i].Data.Files)
		for t := range traits[i] {
			differs := slices.ContainsFunc(traits, func(of []string) bool { return of[t] != traits[0][t] })
			if differs && traits[i][t] != "" {
				name += ", " + traits[i][t]
			}
		}
		arms[i].Name = name
	}
}

// traitsOf are in words what may tell a layout from another one, besides its
// number of files.
func traitsOf(a arm) []string {
	growth, log, index := "", "", ""
	if a.growthGiven {
		growth = "by " + humanize.IBytes(uint64(a.Data.Growth))
	}
	if a.LogVolume != "" {
		log = "log on " + a.LogVolume
	}
	if a.IndexVolume != "" {
		index = "indexes on " + a.IndexVolume
	}
	allocation := ""
	if a.allocationGiven {
		allocation = string(a.Data.Allocation)
	}
	indexes := ""
	if a.Indexes != "" {
		indexes = "indexes " + a.Indexes
	}
	return []string{string(a.Kind), "placed " + string(a.Data.Placement), allocation, growth, log, indexes, index}
}

// simplest orders the kinds by how much they ask of whoever keeps the database:
// one table in one file before anything partitioned. Kinds that are not listed
// come after these.
var simplest = []filewise.Kind{filewise.KindSingle, filewise.KindBigfile, filewise.KindShards, filewise.KindSystem, filewise.KindFilegroup,
	filewise.KindSmallfile, filewise.KindPerTable, filewise.KindPartitions}

// rankArms ranks layouts by "fewest files" over kinds: files, then the simpler
// kind, then what lies apart. Equal ones share a rank.
func rankArms(arms []arm) {
	type key struct{ files, kind, apart int }
	keyOf := func(a arm) key {
		kind := slices.Index(simplest, a.Kind)
		if kind < 0 {
			kind = len(simplest)
		}
		apart := 0
		for _, is := range []bool{a.LogVolume != "", a.IndexVolume != "", a.Indexes == filewise.IndexesApart, a.Data.Placement == filewise.PlaceRoundRobin} {
			if is {
				apart++
			}
		}
		return key{a.Data.Files, kind, apart}
	}
	compare := func(a, b key) int {
		return cmp.Or(cmp.Compare(a.files, b.files), cmp.Compare(a.kind, b.kind), cmp.Compare(a.apart, b.apart))
	}
	keys := make([]key, len(arms))
	for i, a := range arms {
		keys[i] = keyOf(a)
	}
	slices.SortFunc(keys, compare)
	keys = slices.Compact(keys)
	for i := range arms {
		arms[i].Rank = 1 + slices.Index(keys, keyOf(arms[i]))
	}
}
