package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"filewise"
)

// maxLayouts is the most layouts of an experiment. More layouts need more trials for each of them.
const maxLayouts = 32

// LayoutOptions chooses the layouts to compare.
type LayoutOptions struct {
	Kind        Opt[string]
	Files       Opt[[]int]
	Size        Opt[string]
	Allocation  Opt[string]
	Growth      Opt[string]
	Placement   Opt[string]
	LogVolume   Opt[string]
	IndexVolume Opt[string]
	Indexes     Opt[string]
	AddedLater  Opt[string]
	Layouts     Opt[[]LayoutSpec]
}

// Table returns the rows of these options.
func (o *LayoutOptions) Table() []Option {
	return []Option{
		Row(&o.Kind, "kind", "", "`kind` of layout (default the engine's usual one)"),
		Row(&o.Files, "files", nil, "compare these `numbers` of files at one total size (backup, temp: of backup or temporary files; "+
			"cores: one per core; default the scenario's)").between(1, 1e6).orCores().insteadOf("layout"),
		Row(&o.Size, "size", "", "total `size` of data files, such as 64MiB (default the scenario's)"),
		Row(&o.Allocation, "allocation", string(filewise.Preallocated), "`allocation` of files: full size at once (preallocated, if "+
			"possible) or growing").oneOf(string(filewise.Preallocated), string(filewise.Growing)),
		Row(&o.Growth, "growth", "1MiB", "grow files by this many `bytes`, or by the server's step (0)"),
		Row(&o.Placement, "placement", "", "`placement` of files: on the first volume (one) or spread (round-robin, the default "+
			"with several)").oneOf(string(filewise.PlaceOne), string(filewise.PlaceRoundRobin)),
		Row(&o.LogVolume, "log-volume", "", "`name` of a --volume for log and server files only"),
		Row(&o.IndexVolume, "index-volume", "", "`name` of a --volume for indexes only"),
		Row(&o.Indexes, "indexes", "", "`place` of a further index: its table's files (together) or others (apart)").
			oneOf(filewise.IndexesTogether, filewise.IndexesApart),
		Row(&o.AddedLater, "added-later", "", "with --preload: compare an untouched database with files added: `layouts` "+
			"new-data, rebuilt, or both").alone(laterAll),
		Row(&o.Layouts, "layout", nil, "add a `layout` such as files=8,kind=partitions (repeatable, instead of --files; keys: "+
			strings.Join(layoutKeys, ", ")+")").withKeys(layoutKeys...).insteadOf("files"),
	}
}

// setLayouts makes the layouts that are compared, the baseline first.
func (m *maker) setLayouts() error {
	base, err := m.baseLayout()
	if err != nil {
		return err
	}
	if m.sc.Temp && m.About.TempAsIs {
		return m.tempAsIs(base)
	}
	arms, err := m.arms(base)
	if err != nil {
		return err
	}
	m.indexDivided(arms)
	if err := m.settleAllocation(arms); err != nil {
		return err
	}
	sizeAlike(arms)
	for _, a := range arms {
		if a.sizeGiven && (a.Data.Allocation != filewise.Preallocated || m.sc.Temp) {
			return filewise.Errorf(filewise.CodeUsage, "leave size= out, or use a kind whose files have their whole size at the start",
				"--layout %s: its files grow with the data, and have no size to set%w", a.Name, unfit{name: "layout"})
		}
	}
	if len(m.o.Files.Value) == 0 && len(m.o.Layouts.Value) == 0 && !m.work.Appends() {
		if arms, err = m.possible(arms); err != nil {
			if files := m.unpublishedNumbers(); files != nil {
				m.sc.Files = files
				return m.setLayouts()
			}
			return err
		}
	}
	m.plan.Layouts = nil
	for _, a := range arms {
		m.plan.Layouts = append(m.plan.Layouts, a.Layout)
	}
	return different(m.plan.Layouts)
}

// tempAsIs plans the only layout twice. The difference between the two is noise. A later run can be compared with this
// run by command compare.
func (m *maker) tempAsIs(l filewise.Layout) error {
	for name, given := range map[string]bool{"files": m.o.Files.Given(), "layout": len(m.o.Layouts.Value) > 0} {
		if given {
			return filewise.Errorf(filewise.CodePreflight, "leave it out, have the owner change them, and compare the run before with the one after",
				"--%s: the server decides on temporary files of %s: %w", name, m.plan.Target.Engine, filewise.ErrUnsupported)
		}
	}
	l.Name, l.Rank, l.Data.Files, l.Data.Placement = "as it is", 1, 1, filewise.PlaceOne
	m.plan.Layouts, m.plan.Baseline = []filewise.Layout{l}, l.Name
	var err error
	m.plan, err = m.plan.WithAA()
	return err
}

// arm is a layout in preparation, with the user's settings for it.
type arm struct {
	filewise.Layout
	allocationGiven, growthGiven, sizeGiven bool
}

// sizeAlike sets all layouts' servers for the largest size, if any layout has its own size. Otherwise the gain of
// a larger log would look like a gain of larger files.
func sizeAlike(arms []arm) {
	if !slices.ContainsFunc(arms, func(a arm) bool { return a.sizeGiven }) {
		return
	}
	largest := int64(0)
	for _, a := range arms {
		largest = max(largest, a.Data.Bytes)
	}
	for i := range arms {
		arms[i].SizedBy = largest
	}
}

// arms returns the layouts to compare. They come from --layout, or they are made for files added later, for stripes,
// for temporary files, or by the engine itself. Otherwise there is one for each number of files.
func (m *maker) arms(base filewise.Layout) ([]arm, error) {
	if len(m.o.Layouts.Value) > 0 {
		if m.o.Files.Given() || m.o.AddedLater.Value != "" {
			return nil, filewise.Errorf(filewise.CodeUsage, "leave it out, and give every layout by --layout",
				"--layout and --files or --added-later exclude each other")
		}
		return m.inFull(base)
	}
	files, err := m.numbers()
	if err != nil {
		return nil, err
	}
	var layouts []filewise.Layout
	engine, arranges := m.Engine.(arranger)
	switch {
	case m.o.AddedLater.Value != "":
		layouts, err = m.later(base, files)
	case m.sc.Stripes:
		layouts, err = m.stripes(base, files)
	case m.sc.Temp:
		layouts = temps(base, files, m.sc)
	case arranges && !m.o.Kind.Given():
		layouts = engine.Arrange(m.plan.Target, base, files)
	default:
		layouts = byNumber(base, withOne(base.Kind, files))
	}
	arms := filewise.Each(layouts, func(l filewise.Layout) arm {
		return arm{Layout: l, allocationGiven: m.o.Allocation.Given(), growthGiven: m.o.Growth.Given()}
	})
	return m.publishedArms(arms), err
}

// withOne adds the baseline of one partition to numbers of partitions. It is one file with the cost of partitioning.
func withOne(kind filewise.Kind, files []int) []int {
	if kind != filewise.KindPartitions || slices.Contains(files, 1) || len(files) == maxLayouts {
		return files
	}
	return append([]int{1}, files...)
}

// byNumber returns one layout for each number of files, equal to base in everything else.
func byNumber(base filewise.Layout, files []int) []filewise.Layout {
	var out []filewise.Layout
	for _, n := range files {
		l := base
		l.Data.Files, l.Name, l.Rank = n, filewise.FilesName(n), n
		out = append(out, l)
	}
	return out
}

// usualFiles returns the scenario's numbers of files. In a scenario with PerCore that is not run as published, the
// number of cores is one of them, if it is known.
func (m *maker) usualFiles() []int {
	files := m.sc.Files
	if !m.sc.PerCore || m.o.AsPublished.Value || m.o.Files.Given() || len(m.o.Layouts.Value) > 0 {
		return files
	}
	n, err := m.countCores()
	if err != nil {
		m.plan.LeftOut = []string{"one file per core: " + strings.TrimPrefix(err.Error(), "--files cores: ")}
		return files
	}
	if !slices.Contains(files, n) {
		files = append(slices.Clone(files), n)
		slices.Sort(files)
	}
	return files
}

// countCores returns the number of cores of the server: this machine's, or the number that a server elsewhere reports.
// It asks once.
func (m *maker) countCores() (int, error) {
	if m.cores == nil {
		n, err := m.askCores()
		m.cores = func() (int, error) { return n, err }
	}
	return m.cores()
}

func (m *maker) askCores() (int, error) {
	if n := cores(m.plan.Target); n > 0 {
		return n, nil
	}
	const remedy = "give the number instead, such as --files 1,8"
	if _, asks := m.Engine.(filewise.Asker); !asks || m.o.Inspect == nil {
		return 0, filewise.Errorf(filewise.CodeUsage, remedy, "--files cores: %s does not report its cores", m.Engine.Name())
	}
	ctx, cancel := context.WithTimeout(context.Background(), corePatience)
	defer cancel()
	t := m.plan.Target
	if m.Secret.Scheme != "" {
		t.Address = &m.Secret
	}
	i, err := m.o.Inspect(ctx, m.Engine, t)
	if err == nil && i.Cores > 0 {
		return i.Cores, nil
	}
	if err == nil {
		err = errors.New("it does not report them")
	}
	return 0, filewise.Errorf(filewise.CodeUsage, remedy, "--files cores: the cores of the server are not known: %w", err)
}

// corePatience is the time limit for asking a server for its cores.
const corePatience = 15 * time.Second

// numbers returns the numbers of files to compare, each once.
func (m *maker) numbers() ([]int, error) {
	files := m.o.Files.Value
	if len(files) == 0 {
		files = m.usualFiles()
		if m.o.AddedLater.Value != "" {
			files = []int{usualLater}
		}
	}
	if slices.Contains(files, PerCore) {
		n, err := m.countCores()
		if err != nil {
			return nil, err
		}
		files = slices.DeleteFunc(slices.Clone(files), func(x int) bool { return x == n })
		files[slices.Index(files, PerCore)] = n
	}
	least := 2
	if m.o.AddedLater.Value != "" || m.plan.Params.Own { // with one number, backup options may still differ
		least = 1
	}
	if len(files) < least || len(files) > maxLayouts {
		return nil, BadValue("files", joined(files, " "), fmt.Sprintf(
			"layouts are compared with each other: give %d to %d different numbers of files, such as 1,4,8", least, maxLayouts))
	}
	for i, n := range files {
		if n < 1 {
			return nil, OutOfRange("files", n, "every number of files must be at least 1")
		}
		if slices.Contains(files[:i], n) {
			return nil, BadValue("files", n, "each number of files may be given once")
		}
	}
	return files, nil
}

// different refuses layouts that are the same, or have the same name.
func different(layouts []filewise.Layout) error {
	if len(layouts) < 2 || len(layouts) > maxLayouts {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("give 2 to %d", maxLayouts), "%d layouts cannot be compared", len(layouts))
	}
	for i, l := range layouts {
		for _, other := range layouts[:i] {
			if l.Name == other.Name {
				return filewise.Errorf(filewise.CodeUsage, "give each another name: --layout files=8,name=…",
					"two layouts are called %q", l.Name)
			}
			backup := l.Backup == other.Backup && l.Discard == other.Discard && l.BackupOptions == other.BackupOptions
			if backup && l.BuildKey() == other.BuildKey() {
				return filewise.Errorf(filewise.CodeUsage, "leave one out", "the layouts %q and %q are the same", other.Name, l.Name)
			}
		}
	}
	return nil
}

// arranger is an engine whose comparisons need more layouts than one per number of files, because the number alone does
// not show what helps.
type arranger interface {
	// Arrange returns the layouts that compare numbers of files. base sets everything except the number, name and rank.
	// The first layout is the baseline.
	Arrange(t filewise.Target, base filewise.Layout, files []int) []filewise.Layout
}
