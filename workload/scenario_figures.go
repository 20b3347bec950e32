package workload

import (
	"slices"

	"filewise"
)

// Variants are the conditions under which an article measured the same families
// more than once.
const (
	VariantWarm      = "warm"
	VariantCold      = "cold"
	VariantOneVolume = "one volume"
	VariantVolumes   = "several volumes"
	VariantDiscard   = "discarded"
	VariantPlain     = "without churn"
	VariantChurn     = "churn"
)

// Variant is the condition under which a layout is measured, in the article's
// terms; empty: the article had one only. volumes are the target's.
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
	case !s.Stripes:
		return ""
	case l.Discard:
		return VariantDiscard
	case l.Backup.Placement != "" && l.Backup.Placement != filewise.PlaceOne && len(l.BackupVolumes(volumes)) > 1:
		return VariantVolumes
	}
	return VariantOneVolume
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

// AtUsers tells whether it speaks of that many users.
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

// BestOf is the article's best number of files by figures about one family and
// condition; 0: it names none. Of figures with numbers it is the fastest, of words
// about one engine what that engine's say.
func BestOf(figures []Figure, engine string) int {
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
