package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/experiment"
	"filewise/workload"
)

// maxLayouts bounds an experiment: more layouts need more trials for each.
const maxLayouts = 32

// layoutFlags say which layouts are compared.
type layoutFlags struct {
	kind                   string
	files                  []int
	size                   string
	allocation, growth     string
	placement              string
	logVolume, indexVolume string
	indexes                string
	addedLater             string
	layouts                []string
}

func (f *layoutFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.kind, "kind", "", "`kind` of layout (default the engine's usual one)")
	fs.IntSliceVar(&f.files, "files", nil, "`numbers` of data files to compare, the total size held constant; in scenario backup, of backup files; in temp, of temporary files (default the scenario's)")
	fs.StringVar(&f.size, "size", "", "total `size` of the data files, such as 64MiB (default the scenario's)")
	fs.StringVar(&f.allocation, "allocation", string(filewise.Preallocated), "`allocation` of files: at full size from the start (preallocated) or growing; what the engine can do decides where this is not given")
	fs.StringVar(&f.growth, "growth", "1MiB", "`bytes` by which a growing file grows")
	fs.StringVar(&f.placement, "placement", "", "`placement` of files: all on the first volume (one) or spread over the volumes (round-robin) (default round-robin with several volumes)")
	fs.StringVar(&f.logVolume, "log-volume", "", "`name` of a --volume that holds the log and no data")
	fs.StringVar(&f.indexVolume, "index-volume", "", "`name` of a --volume that holds the indexes and no data")
	fs.StringVar(&f.indexes, "indexes", "", "`place` of a further index: on the files of its table (together) or on files of its own (apart)")
	fs.StringVar(&f.addedLater, "added-later", "", "compare what adding files to a loaded database gives (with --preload): untouched with `arms` new-data and rebuilt; =rebuilt or =new-data leaves the other out")
	fs.Lookup("added-later").NoOptDefVal = laterAll
	fs.StringArrayVar(&f.layouts, "layout", nil, "a `layout` in full, such as files=8,kind=partitions,placement=one,name=mine (repeatable, instead of --files; keys: "+strings.Join(layoutKeys, ", ")+")")
}

// setLayouts makes the layouts that are compared, the baseline first.
func (f *planFlags) setLayouts(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) error {
	base, err := f.baseLayout(cmd, p, sc)
	if err != nil {
		return err
	}
	arms, err := f.arms(cmd, p, base, sc)
	if err != nil {
		return err
	}
	f.indexDivided(cmd, p, arms)
	if err := f.settleAllocation(p, arms, sc); err != nil {
		return err
	}
	if len(f.files) == 0 && len(f.layouts) == 0 && sc.Phased {
		if arms, err = f.possible(p, arms, sc); err != nil {
			if own := f.ownNumbers(sc); own != nil {
				sc.Files = own
				return f.setLayouts(cmd, p, sc)
			}
			return err
		}
	}
	p.Layouts = nil
	for _, a := range arms {
		p.Layouts = append(p.Layouts, a.Layout)
	}
	return different(p.Layouts)
}

// arm is a layout on its way, with what the user has said of it.
type arm struct {
	filewise.Layout
	allocationGiven, growthGiven bool
}

// arms are made in one of four ways: each in full, as files added later, by the
// engine itself, or by numbers of files.
func (f *planFlags) arms(cmd *cobra.Command, p *experiment.Plan, base filewise.Layout, sc workload.Scenario) ([]arm, error) {
	set := cmd.Flags().Changed
	if len(f.layouts) > 0 {
		if set("files") || f.addedLater != "" {
			return nil, filewise.Errorf(filewise.CodeUsage, "leave it out, and give every layout by --layout", "--layout and --files or --added-later exclude each other")
		}
		return f.inFull(cmd, p, base)
	}
	files, err := f.numbers(sc)
	if err != nil {
		return nil, err
	}
	var layouts []filewise.Layout
	arranger, arranges := f.engine.(filewise.Arranger)
	switch {
	case f.addedLater != "":
		layouts, err = f.later(cmd, p, base, files)
	case sc.Stripes:
		layouts, err = f.stripes(base, files, sc)
	case sc.Temp:
		layouts = temps(base, files, sc)
	case arranges && !set("kind"):
		layouts = arranger.Arrange(p.Target, base, files)
	default:
		layouts = byNumber(base, files)
	}
	arms := make([]arm, len(layouts))
	for i, l := range layouts {
		arms[i] = arm{l, set("allocation"), set("growth")}
	}
	return f.publishedArms(arms, sc), err
}

// byNumber is a layout of every number of files, equal in everything else.
func byNumber(base filewise.Layout, files []int) []filewise.Layout {
	var out []filewise.Layout
	for _, n := range files {
		l := base
		l.Data.Files, l.Name, l.Rank = n, filewise.FilesName(n), n
		out = append(out, l)
	}
	return out
}

// numbers are the numbers of files, each once.
func (f *planFlags) numbers(sc workload.Scenario) ([]int, error) {
	files := f.files
	if len(files) == 0 {
		files = sc.Files
		if f.addedLater != "" {
			files = []int{usualLater}
		}
	}
	least := 2
	if f.addedLater != "" {
		least = 1
	}
	if len(files) < least || len(files) > maxLayouts {
		return nil, badValue("files", strings.Trim(fmt.Sprint(files), "[]"), fmt.Sprintf("layouts are compared with each other: give %d to %d different numbers of files, such as 1,4,8", least, maxLayouts))
	}
	for i, n := range files {
		if n < 1 {
			return nil, badValue("files", n, "every number of files must be at least 1")
		}
		if slices.Contains(files[:i], n) {
			return nil, badValue("files", n, "each number of files may be given once")
		}
	}
	return files, nil
}

// baseLayout is what the layouts have in common: all but number, name and rank.
func (f *planFlags) baseLayout(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) (l filewise.Layout, err error) {
	if l.Kind, err = f.layoutKind(f.kind); err != nil {
		return l, err
	}
	if own := f.ownKinds(cmd, sc); f.kind == "" && len(own) > 0 && (sc.Temp || p.Target.Mode != filewise.External) {
		l.Kind = own[0]
	}
	if f.indexes != "" {
		if l.Indexes, err = choice("indexes", f.indexes, filewise.IndexesTogether, filewise.IndexesApart); err != nil {
			return l, err
		}
	}
	l.LogVolume, l.IndexVolume = f.logVolume, f.indexVolume
	if err := checkApart(l, p.Target.Volumes, "--log-volume", "--index-volume"); err != nil {
		return l, err
	}
	if l.Data, err = f.spread(cmd, l.DataVolumes(p.Target.Volumes), sc); err != nil {
		return l, err
	}
	return l, f.fitLoaded(cmd, p, &l, sc)
}

// checkApart refuses volumes for log and indexes that there are not, or that
// leave none for the data.
func checkApart(l filewise.Layout, volumes []filewise.Volume, logFlag, indexFlag string) error {
	names := make([]string, len(volumes))
	for i, v := range volumes {
		names[i] = v.Name
	}
	for flag, name := range map[string]string{logFlag: l.LogVolume, indexFlag: l.IndexVolume} {
		if name != "" && !slices.Contains(names, name) {
			_, err := choice(strings.TrimPrefix(flag, "--"), name, names...)
			return err
		}
	}
	if len(l.DataVolumes(volumes)) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "add another --volume NAME=DIR for the data", "no volume is left for the data: %s holds no data", strings.Join(names, ", "))
	}
	return nil
}

// spread is what the data files have in common.
func (f *planFlags) spread(cmd *cobra.Command, volumes []filewise.Volume, sc workload.Scenario) (s filewise.Spread, err error) {
	if s.Bytes, err = f.totalBytes(cmd, sc); err != nil {
		return s, err
	}
	if s.Allocation, err = choice("allocation", f.allocation, filewise.Preallocated, filewise.Growing); err != nil {
		return s, err
	}
	if s.Allocation == filewise.Growing || len(f.layouts) > 0 || cmd.Flags().Changed("growth") && !cmd.Flags().Changed("allocation") {
		if s.Growth, err = bytesOf("growth", f.growth); err != nil {
			return s, err
		}
	}
	s.Placement = filewise.PlaceOne
	if len(volumes) > 1 {
		s.Placement = filewise.PlaceRoundRobin
	}
	if cmd.Flags().Changed("placement") {
		s.Placement, err = choice("placement", f.placement, filewise.PlaceOne, filewise.PlaceRoundRobin)
	}
	return s, err
}

// totalBytes is the size of the data files: the user's, the engine's usual one for
// the main scenario, or the scenario's.
func (f *planFlags) totalBytes(cmd *cobra.Command, sc workload.Scenario) (int64, error) {
	switch {
	case cmd.Flags().Changed("size"):
		return bytesOf("size", f.size)
	case f.about.Bytes > 0 && !sc.Phased && !f.asPublished:
		return f.about.Bytes, nil
	}
	return sc.Bytes, nil
}

// indexDivided gives the table of dml an index on its key where some layout divides
// the rows by that, unless the user says otherwise: without one a statement reads all
// rows that its key's file has, so that N files would be N times as fast whatever
// files are worth.
func (f *planFlags) indexDivided(cmd *cobra.Command, p *experiment.Plan, arms []arm) {
	divides := func(a arm) bool { return a.Kind == filewise.KindPartitions || a.Kind == filewise.KindShards }
	if p.Params.Index == "" || f.asPublished || cmd.Flags().Changed("index") || !slices.ContainsFunc(arms, divides) {
		return
	}
	p.Params.Index = workload.IndexKey
	if !cmd.Flags().Changed("repeat") {
		p.Params.Repeat = workload.IndexedRepeat
	}
}

// ownKinds are the engine's for the scenario; none: its usual ones.
func (f *planFlags) ownKinds(cmd *cobra.Command, sc workload.Scenario) []filewise.Kind {
	switch {
	case sc.Stripes:
		return f.about.BackupKinds
	case sc.Temp:
		return f.about.TempKinds
	case sc.Params.Index != "" && !f.asPublished && !cmd.Flags().Changed("allocation") && !cmd.Flags().Changed("growth"):
		return f.about.RowKinds
	}
	return nil
}

// layoutKind is the kind of layout asked for, or the engine's usual one here.
func (f *planFlags) layoutKind(kind string) (filewise.Kind, error) {
	if kind == "" {
		return f.kinds()[0], nil
	}
	return choice("kind", kind, f.kinds()...)
}

// different refuses layouts that are one, or have one name.
func different(layouts []filewise.Layout) error {
	if len(layouts) < 2 || len(layouts) > maxLayouts {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("give 2 to %d", maxLayouts), "%d layouts cannot be compared", len(layouts))
	}
	for i, l := range layouts {
		for _, other := range layouts[:i] {
			if l.Name == other.Name {
				return filewise.Errorf(filewise.CodeUsage, "give each a name of its own: --layout files=8,name=…", "two layouts are called %q", l.Name)
			}
			if l.BuildKey() == other.BuildKey() && l.Backup == other.Backup && l.Discard == other.Discard && l.BackupOptions == other.BackupOptions {
				return filewise.Errorf(filewise.CodeUsage, "leave one out", "the layouts %q and %q are the same", other.Name, l.Name)
			}
		}
	}
	return nil
}
