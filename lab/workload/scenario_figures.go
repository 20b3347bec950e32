package workload

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// Variants are the conditions under which an article measured the same families
// more than once.
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

// Variant is the condition under which a layout is measured, in the article's terms. Empty means the article had one
// only. volumes are the target's.
func (s Scenario) Variant(p Params, l filewise.Layout, volumes []filewise.Volume) string {
	switch {
	case p.Warehouses > 0 && p.Churn:
		return VariantChurn
	case p.Warehouses > 0:
		return VariantPlain
	case p.Cache == CacheWarm:
		return VariantWarm
	case p.Cache != "":
		return VariantCold
	case s.ByVolumes:
		return variantOf(used(l.Data, l.DataVolumes(volumes)))
	case !s.Stripes:
		return ""
	case l.Discard:
		return VariantDiscard
	case l.Backup.Placement != "" && l.Backup.Placement != filewise.PlaceOne && len(l.BackupVolumes(volumes)) > 1:
		return VariantVolumes
	}
	return VariantOneVolume
}

// used counts the volumes that hold files of a spread.
func used(s filewise.Spread, volumes []filewise.Volume) int {
	seen := map[string]bool{}
	for i := range s.Files {
		if len(volumes) > 0 {
			seen[s.VolumeOf(i, volumes).Name] = true
		}
	}
	return len(seen)
}

// variantOf is the condition of data files that lie on so many volumes.
func variantOf(volumes int) string {
	switch {
	case volumes < 2:
		return VariantOneVolume
	case volumes == 2:
		return VariantTwo
	}
	return VariantVolumes
}

// Holds reports whether a layout, of the number of files that a figure speaks of, is measured under a condition. A
// backup into one file takes one volume wherever it lies, and no figure without a condition speaks of backups that
// are thrown away.
func (s Scenario) Holds(condition string, p Params, l filewise.Layout, volumes []filewise.Volume) bool {
	switch {
	case condition == "":
		return !l.Discard
	case s.Stripes && condition == VariantVolumes && l.Backup.Files == 1:
		return !l.Discard
	}
	return s.Variant(p, l, volumes) == condition
}

// NumberOf is the number of a layout's files that the scenario's figures are
// about: of backup, temporary, or data files.
func (s Scenario) NumberOf(l filewise.Layout) int {
	switch {
	case s.Stripes:
		return l.Backup.Files
	case s.Temp:
		return l.Temp.Files
	}
	return l.Data.Files
}

// NumbersOf returns the layouts' numbers, each once.
func (s Scenario) NumbersOf(layouts []filewise.Layout) (all []int) {
	for _, l := range layouts {
		if n := s.NumberOf(l); !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// NameOf names a number of the files that the scenario is about.
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

// Figures are the published ones about a family under one of some conditions.
func (s Scenario) Figures(family string, variants ...string) []Figure {
	var out []Figure
	for _, f := range s.Published {
		if (f.Family == "" || f.Family == family) && (f.Variant == "" || slices.Contains(variants, f.Variant)) {
			out = append(out, f)
		}
	}
	return out
}

// AtUsers reports whether it speaks of that many users.
func (f Figure) AtUsers(n int) bool {
	return n >= f.LeastUsers && (f.MostUsers == 0 || n <= f.MostUsers)
}

// UsersOf is the number of users of a family: its load level's, or all connections.
func (p Params) UsersOf(family string) int {
	for _, n := range p.Users {
		if UsersFamily(n) == family {
			return n
		}
	}
	return p.Connections
}

// BestOf is the article's best number of files by figures about one family and condition. 0 means it names none. Of
// figures with numbers it is the fastest, of words about one engine the number in that engine's words. Readers'
// reports count if there is nothing else.
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

// DiffersHere is everything that is not as published in a run of the design with these
// layouts at a scale: what the scale and the engine make of it, then what always differs.
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

// besideDesign are flags by which an article's design is run otherwise than it was.
var besideDesign = []string{"--durability", "--key", "--table", "--commit-every", "--row-bytes", "--kind", "--memory", "--set", "--think",
	"--concurrent-load", "--backup-option"}

// givenOf returns the flags of a run's command line, each with its value.
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

// sizes are the design's at a scale, with data files of so many bytes.
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

// sizesHere are a scenario's sizes with the design's parameters at a scale.
func (s Scenario) sizesHere(scale float64, layouts []filewise.Layout) string {
	if p := s.Params; p.Warehouses > 0 {
		return fmt.Sprintf("%d warehouses with %.3g of the specification's customers and items", p.Warehouses, p.Scale)
	}
	bytes := s.Bytes
	if len(layouts) > 0 { // an engine's files may be larger than the scale's
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

// LayoutsDiffer names the article's layouts that are not run here, and those that it had not.
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
