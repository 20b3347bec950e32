package workload

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// Variants: conditions under which an article measured the same operations more than once.
const (
	VariantWarm      = "warm"
	VariantCold      = "cold"
	VariantOneVolume = "one volume"
	VariantTwo       = "two volumes"
	VariantVolumes   = "several volumes"
	VariantDiscard   = "discarded"
	VariantPlain     = "without churn"
	VariantChurn     = "churn"
)

// Variant returns the condition under which a layout is measured, in the article's terms. It returns "" if the article
// had only one condition. Volumes are the target's.
func (s Scenario) Variant(p Params, l filewise.Layout, volumes []filewise.Volume) string {
	switch {
	case p.Warehouses > 0 && p.Churn:
		return VariantChurn
	case p.Warehouses > 0:
		return VariantPlain
	case s.ByVolumes:
		return variantOf(used(l.Data, l.DataVolumes(volumes)))
	case !s.Stripes && p.Cache == CacheWarm:
		return VariantWarm
	case !s.Stripes && p.Cache != "":
		return VariantCold
	case !s.Stripes:
		return ""
	case l.Discard:
		return VariantDiscard
	case l.Backup.Placement != "" && l.Backup.Placement != filewise.PlaceOne && len(l.BackupVolumes(volumes)) > 1:
		return VariantVolumes
	}
	return VariantOneVolume
}

// used returns the number of volumes that hold files of a spread.
func used(s filewise.Spread, volumes []filewise.Volume) int {
	seen := map[string]bool{}
	for i := range s.Files {
		if len(volumes) > 0 {
			seen[s.VolumeOf(i, volumes).Name] = true
		}
	}
	return len(seen)
}

// variantOf returns the condition of data files on that many volumes.
func variantOf(volumes int) string {
	switch {
	case volumes < 2:
		return VariantOneVolume
	case volumes == 2:
		return VariantTwo
	}
	return VariantVolumes
}

// Holds reports whether a layout is measured under a condition; it has the number of files that a figure is about. A
// backup into one file uses one volume wherever it lies. A figure without a condition never applies to discarded
// backups.
func (s Scenario) Holds(condition string, p Params, l filewise.Layout, volumes []filewise.Volume) bool {
	switch {
	case condition == "":
		return !l.Discard
	case s.Stripes && condition == VariantVolumes && l.Backup.Files == 1:
		return !l.Discard
	}
	return s.Variant(p, l, volumes) == condition
}

// NumberOf returns how many files a layout has of the kind that the scenario's figures are about: backup, temporary, or
// data files.
func (s Scenario) NumberOf(l filewise.Layout) int {
	switch {
	case s.Stripes:
		return l.Backup.Files
	case s.Temp:
		return l.Temp.Files
	}
	return l.Data.Files
}

// NumbersOf returns the layouts' numbers of files, each once.
func (s Scenario) NumbersOf(layouts []filewise.Layout) (all []int) {
	for _, l := range layouts {
		if n := s.NumberOf(l); !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// NameOf returns the name of a number of the files that the scenario is about, such as "4 jobs".
func (s Scenario) NameOf(files int) string {
	switch {
	case s.Jobs:
		return filewise.Counted(files, "job")
	case s.Stripes:
		return filewise.Counted(files, backupFile)
	case s.Temp:
		return filewise.Counted(files, "temporary file")
	}
	return filewise.FilesName(files)
}

// Figures returns the published figures about an operation under one of the given conditions.
func (s Scenario) Figures(operation string, variants ...string) []Figure {
	var out []Figure
	for _, f := range s.Published {
		if (f.Operation == "" || f.Operation == operation) && (f.Variant == "" || slices.Contains(variants, f.Variant)) {
			out = append(out, f)
		}
	}
	return out
}

// AtUsers reports whether the figure covers that many users.
func (f Figure) AtUsers(n int) bool {
	return n >= f.LeastUsers && (f.MostUsers == 0 || n <= f.MostUsers)
}

// UsersOf returns the number of users of an operation: of its load level, or else all connections.
func (p Params) UsersOf(operation string) int {
	for _, n := range p.Users {
		if UsersOperation(n) == operation {
			return n
		}
	}
	return p.Connections
}

// BestOf returns the article's best number of files, from figures about one operation and condition. It returns 0 if they
// name none. With numbers it is the fastest; with words about one engine it is the number in these words. Readers'
// reports count only if there is nothing else.
func BestOf(figures []Figure, engine string) int {
	if own := slices.DeleteFunc(slices.Clone(figures), func(f Figure) bool { return f.Reader }); len(own) > 0 {
		figures = own
	}
	best, most := 0, 0.0
	for _, f := range figures {
		if f.Engine != "" && f.Engine != engine || f.Sign == 0 {
			continue
		}
		winner := f.Files
		if f.Sign < 0 {
			winner = f.Against
		}
		gain := 0.0
		if f.Percent != nil && f.Sign > 0 {
			gain = *f.Percent
		}
		if best == 0 || gain > most {
			best, most = winner, gain
		}
	}
	return best
}

// DiffersHere lists what differs from the publication if the design runs with these layouts at a scale. First comes
// what follows from the scale and the engine, then what always differs.
func (s Scenario) DiffersHere(layouts []filewise.Layout, scale float64, command []string) []string {
	if s.Design == nil {
		return nil
	}
	var out []string
	there := s.Design.sizes(1, Scaled(s.Design.Bytes, 1, leastBytes))
	if here := s.AsPublished(scale).sizesHere(scale, layouts); scale != 1 && there != "" {
		out = append(out, fmt.Sprintf("Sizes: %s there, %s here.", there, here))
	}
	out = append(out, s.LayoutsDiffer(layouts)...)
	if given := givenOf(command); len(given) > 0 {
		out = append(out, "Given here, and no part of the article's design: "+strings.Join(given, ", ")+".")
	}
	return append(out, s.Design.Differs...)
}

// besideDesign lists flags that change an article's design.
var besideDesign = []string{"--durability", "--key", "--table", "--commit-every", "--row-bytes", "--kind", "--memory", "--set", "--think",
	"--concurrent-load", "--backup-option"}

// givenOf returns the flags of a command line that change the design, each with its value.
func givenOf(command []string) []string {
	var out []string
	for i, word := range command {
		name, _, joined := strings.Cut(word, "=")
		if !slices.Contains(besideDesign, name) {
			continue
		}
		if !joined && i+1 < len(command) {
			word += " " + command[i+1]
		}
		out = append(out, word)
	}
	return out
}

// sizes returns the design's sizes at a scale, with that many bytes of data files.
func (d Design) sizes(scale float64, bytes int64) string {
	var parts []string
	if d.Bytes > 0 {
		parts = append(parts, bytesText(bytes)+" of data files")
	}
	if d.Work > 0 {
		parts = append(parts, bytesText(d.WorkIn(bytes))+" of work")
	}
	if d.Rows > 0 {
		parts = append(parts, fmt.Sprintf("%d rows", Scaled(d.Rows, scale, d.LeastRows)))
	}
	return strings.Join(parts, ", ")
}

// sizesHere returns the scenario's sizes with the design's parameters at a scale.
func (s Scenario) sizesHere(scale float64, layouts []filewise.Layout) string {
	if p := s.Params; p.Warehouses > 0 {
		return fmt.Sprintf("%d warehouses with %.3g of the specification's customers and items", p.Warehouses, p.Scale)
	}
	bytes := s.Bytes
	if len(layouts) > 0 { // an engine may need larger files than the scale gives
		bytes = layouts[0].Data.Bytes
	}
	return s.Design.sizes(scale, bytes)
}

func bytesText(n int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.bytes {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

// LayoutsDiffer returns which of the article's layouts are not run here, and which layouts here are not the article's.
func (s Scenario) LayoutsDiffer(layouts []filewise.Layout) []string {
	d := s.Design
	var missing, further []string
	for _, n := range d.Files {
		if !slices.ContainsFunc(layouts, func(l filewise.Layout) bool { return s.NumberOf(l) == n }) {
			missing = append(missing, s.NameOf(n))
		}
	}
	for _, a := range d.Allocations {
		if !slices.ContainsFunc(layouts, func(l filewise.Layout) bool { return l.Data.Allocation == a }) {
			missing = append(missing, string(a)+" files")
		}
	}
	seen := map[string]bool{}
	for _, l := range layouts {
		key := fmt.Sprint(s.NumberOf(l), len(d.Allocations) > 1, l.Data.Allocation)
		if seen[key] || !slices.Contains(slices.Concat(d.Files, d.Further), s.NumberOf(l)) {
			further = append(further, l.Name)
		}
		seen[key] = true
	}
	var out []string
	if len(missing) > 0 {
		out = append(out, "Published and not run here, where the engine cannot do it: "+strings.Join(missing, ", ")+".")
	}
	if len(further) > 0 {
		out = append(out, "Run here and not published: "+strings.Join(further, ", ")+".")
	}
	return out
}
