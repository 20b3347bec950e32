package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/lab/experiment"
)

// nameArms names the layouts without a name by their number of files, and by the other traits in which they differ.
func nameArms(arms []arm) {
	traits := filewise.Each(arms, traitsOf)
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

// traitsOf returns in words the traits that may distinguish a layout, except its number of files.
func traitsOf(a arm) []string {
	growth, log, index := "", "", ""
	if a.growthGiven {
		growth = "by " + humanize.IBytes(uint64(a.Data.Growth))
		if a.Data.Growth == 0 {
			growth = "by the server's step"
		}
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
	placed, backup, backupFiles := "placed "+string(a.Data.Placement), "", ""
	if names := a.Data.Volumes.List(); len(names) > 0 {
		placed = "on " + strings.Join(names, " and ")
	}
	if names := a.Backup.Volumes.List(); len(names) > 0 {
		backup = "backups on " + strings.Join(names, " and ")
	}
	if a.Backup.Files > 0 {
		backupFiles = "backup in " + filewise.FilesName(a.Backup.Files)
	}
	size := ""
	if a.sizeGiven {
		size = humanize.IBytes(uint64(a.Data.Bytes)) + " in all"
	}
	return []string{size, string(a.Kind), placed, allocation, growth, log, indexes, index, backupFiles, backup}
}

// simplest lists kinds by the effort of maintaining the database, the least first: one table in one file comes before
// anything partitioned. Unlisted kinds come last.
var simplest = []filewise.Kind{
	filewise.KindSingle, filewise.KindBigfile, filewise.KindShards, filewise.KindSystem, filewise.KindFilegroup,
	filewise.KindSmallfile, filewise.KindPerTable, filewise.KindPartitions,
}

// rankArms ranks layouts for "fewest files" across kinds: by files, then by the simpler kind, then by how much is
// placed apart. Equal layouts share a rank.
func rankArms(arms []arm) {
	type key struct{ files, kind, apart int }
	keyOf := func(a arm) key {
		kind := slices.Index(simplest, a.Kind)
		if kind < 0 {
			kind = len(simplest)
		}
		return key{a.Data.Files, kind, apartness(a)}
	}
	compare := func(a, b key) int {
		return cmp.Or(cmp.Compare(a.files, b.files), cmp.Compare(a.kind, b.kind), cmp.Compare(a.apart, b.apart))
	}
	keys := filewise.Each(arms, keyOf)
	slices.SortFunc(keys, compare)
	keys = slices.Compact(keys)
	for i := range arms {
		arms[i].Rank = 1 + slices.Index(keys, keyOf(arms[i]))
	}
}

// apartness counts the parts of a layout that are placed apart.
func apartness(a arm) int {
	apart := 0
	for _, is := range []bool{
		a.LogVolume != "", a.IndexVolume != "", a.Indexes == filewise.IndexesApart, a.Data.Placement == filewise.PlaceRoundRobin,
	} {
		if is {
			apart++
		}
	}
	return apart
}

// mostName is the largest length of a name or tag.
const mostName = 100

// Naming holds the user's name and tags for a run.
type Naming struct {
	Name string
	Tags []string // KEY=VALUE
}

// Apply gives a plan its name and tags. It refuses a name that could be a number, or "last", since that would name
// another run.
func (n Naming) Apply(p *experiment.Plan) error {
	_, err := strconv.ParseInt(n.Name, 10, 64)
	switch {
	case n.Name != "" && (err == nil || n.Name == "last" || strings.TrimSpace(n.Name) != n.Name || tooLong(n.Name)):
		return BadValue("name", n.Name, "give one line of at most 100 letters that is neither a number nor \"last\"")
	case n.Name != "":
		p.Name = n.Name
	}
	for _, tag := range n.Tags {
		if pair := ParsePair(tag); pair.Bare || pair.Name == "" || tooLong(tag) {
			return BadValue("tag", tag, "give KEY=VALUE, such as env=prod, of at most 100 letters")
		}
	}
	p.Tags = append(p.Tags, n.Tags...)
	return nil
}

// tooLong reports whether a text is too long, or not printable, for a line in a list of runs.
func tooLong(text string) bool {
	return utf8.RuneCountInString(text) > mostName || filewise.Printable(text) != text
}
