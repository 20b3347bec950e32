package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/nearest"
	"filewise/lab/workload"
)

var layoutKeys = []string{"files", "size", "kind", "placement", "allocation", "growth", "volumes", "log", "indexes", "index-volume",
	"backup-files", "backup-volumes", "name"}

// LayoutSpec describes a layout by keys. The other options set what it leaves open.
type LayoutSpec []Pair

func (s LayoutSpec) String() string { return strings.Join(filewise.Each(s, Pair.String), ",") }

// ParseLayout reads files=8,kind=partitions,… A part without a key continues the name before it, since names may hold
// commas.
func ParseLayout(text string) (LayoutSpec, error) {
	var spec LayoutSpec
	for part := range strings.SplitSeq(text, ",") {
		p := ParsePair(part)
		p.Name = strings.TrimSpace(p.Name)
		switch {
		case !p.Bare && slices.Contains(layoutKeys, p.Name):
			if slices.ContainsFunc(spec, func(o Pair) bool { return o.Name == p.Name }) {
				return nil, badLayout(text, "give each key once", "%s is given twice", p.Name)
			}
			spec = append(spec, Pair{Name: p.Name, Value: strings.TrimSpace(p.Value)})
		case !p.Bare:
			return nil, badLayout(text, nearest.Remedy(p.Name, layoutKeys), "key %q is unknown", p.Name)
		case len(spec) > 0 && spec[len(spec)-1].Name == "name":
			spec[len(spec)-1].Value += "," + part
		default:
			return nil, badLayout(text, "give it as files=8,kind=partitions", "%q is no KEY=VALUE", part)
		}
	}
	return spec, nil
}

func badLayout(text, remedy, format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "--layout %q: %s", text, fmt.Sprintf(format, args...))
}

// inFull returns the layouts that --layout describes.
func (m *maker) inFull(base filewise.Layout) ([]arm, error) {
	arms := make([]arm, len(m.o.Layouts.Value))
	for i, spec := range m.o.Layouts.Value {
		arms[i] = arm{Layout: base, allocationGiven: m.o.Allocation.Given(), growthGiven: m.o.Growth.Given()}
		if err := m.follow(spec, &arms[i]); err != nil {
			return nil, err
		}
		if err := checkApart(arms[i].Layout, m.plan.Target.Volumes, "--layout log=", "--layout index-volume="); err != nil {
			return nil, err
		}
	}
	nameArms(arms)
	rankArms(arms)
	return arms, nil
}

// follow sets the layout from the keys.
func (m *maker) follow(spec LayoutSpec, a *arm) error {
	a.Name = ""
	for _, p := range spec {
		if err := m.setKey(a, p.Name, p.Value); err != nil {
			return err
		}
	}
	if a.Data.Files == 0 {
		return badLayout(spec.String(), "add files=N", "it does not set the number of files")
	}
	if err := m.inBackup(spec, a); err != nil {
		return err
	}
	if a.growthGiven && a.allocationGiven && a.Data.Allocation == filewise.Preallocated {
		return badLayout(spec.String(), "add allocation=growing, or leave growth out", "preallocated files do not grow")
	}
	return nil
}

func (m *maker) setKey(a *arm, key, value string) (err error) {
	switch key {
	case "files":
		if a.Data.Files, err = strconv.Atoi(value); err != nil || a.Data.Files < 1 {
			return BadValue("layout files="+value, "", "give a whole number from 1")
		}
	case "size":
		a.sizeGiven = true
		a.Data.Bytes, err = bytesOf("layout size=", value)
	case "kind":
		a.Kind, err = m.kind("layout kind=", value)
	case "placement":
		a.Data.Placement, err = Choice("layout placement=", value, filewise.PlaceOne, filewise.PlaceRoundRobin)
	case "allocation":
		a.allocationGiven = true
		a.Data.Allocation, err = Choice("layout allocation=", value, filewise.Preallocated, filewise.Growing)
	case "growth":
		a.growthGiven = true
		a.Data.Growth, err = m.growthOf("layout growth=", value)
	case "volumes":
		a.Data.Volumes, a.Data.Placement, err = m.volumes("layout volumes=", value)
	case "backup-volumes":
		a.Backup.Volumes, a.Backup.Placement, err = m.volumes("layout backup-volumes=", value)
	case "backup-files":
		if a.Backup.Files, err = strconv.Atoi(value); err != nil || a.Backup.Files < 1 {
			return BadValue("layout backup-files="+value, "", "give a whole number from 1")
		}
	case "log":
		a.LogVolume = value
	case "indexes":
		a.Indexes, err = Choice("layout indexes=", value, filewise.IndexesTogether, filewise.IndexesApart)
	case "index-volume":
		a.IndexVolume = value
	case "name":
		control := func(r rune) bool { return r < ' ' || r == 0x7f }
		if value == "" || len(value) > 60 || strings.ContainsFunc(value, control) {
			return BadValue("layout name="+strconv.Quote(value), "", "give a name of 1 to 60 bytes in one line")
		}
		a.Name = value
	}
	return err
}

// volumes parses volume names joined by "+", each at most once. It also returns how files are placed on the volumes.
func (m *maker) volumes(what, value string) (filewise.VolumeNames, filewise.Placement, error) {
	all := filewise.Each(m.plan.Target.Volumes, func(v filewise.Volume) string { return v.Name })
	names := strings.Split(value, "+")
	for i, name := range names {
		if err := checkVolume("--"+what, name, all); err != nil {
			return "", "", err
		}
		if slices.Contains(names[:i], name) {
			return "", "", BadValue(what+value, "", "name each volume once")
		}
	}
	if len(names) == 1 {
		return filewise.VolumeNames(value), filewise.PlaceOne, nil
	}
	return filewise.VolumeNames(value), filewise.PlaceRoundRobin, nil
}

// checkVolume refuses a name that no --volume gives a directory.
func checkVolume(what, name string, all []string) error {
	if slices.Contains(all, name) {
		return nil
	}
	remedy := "add --volume " + name + "=DIR"
	if near := nearest.Name(name, all); near != "" {
		remedy = fmt.Sprintf("did you mean %q? Otherwise %s", near, remedy)
	} else if name == "" {
		remedy = "name a volume that --volume NAME=DIR gives"
	}
	return filewise.Errorf(filewise.CodeUsage, remedy, "%s %q is unknown", what, name)
}

// inBackup completes a layout of scenario backup, whose backup files lie apart from the data. There is a backup file
// for each of its volumes, or for each data file if the engine backs up files one by one.
func (m *maker) inBackup(spec LayoutSpec, a *arm) error {
	given := func(key string) bool {
		return slices.ContainsFunc(spec, func(p Pair) bool { return p.Name == key })
	}
	switch {
	case !m.sc.Stripes && (given("backup-files") || given("backup-volumes")):
		return badLayout(spec.String(), "leave them out, or run scenario backup", "it places backups, and none are made")
	case !m.sc.Stripes:
		return nil
	case m.About.StripesAsFiles && given("backup-files"):
		return badLayout(spec.String(), "leave backup-files out", "a backup has as many files as the database here")
	}
	a.Discard = m.o.Discard.Value
	switch {
	case m.About.StripesAsFiles:
		a.Backup.Files = a.Data.Files
	case a.Backup.Files == 0:
		a.Backup.Files = max(1, len(a.Backup.Volumes.List()))
	}
	if a.Backup.Placement == "" && len(m.plan.Target.Volumes) > 1 {
		a.Backup.Placement = filewise.PlaceApart
		return a.CheckBackupVolumes(m.plan.Target.Volumes)
	}
	return nil
}

// baseLayout returns what all layouts have in common: everything except number of files, name and rank.
func (m *maker) baseLayout() (l filewise.Layout, err error) {
	if l.Kind, err = m.layoutKind(m.o.Kind.Value); err != nil {
		return l, err
	}
	if usual := m.scenarioKinds(); m.o.Kind.Value == "" && len(usual) > 0 && (m.sc.Temp || m.plan.Target.Mode != filewise.External) {
		l.Kind = usual[0]
	}
	l.Indexes, l.LogVolume, l.IndexVolume = m.o.Indexes.Value, m.o.LogVolume.Value, m.o.IndexVolume.Value
	if l.Indexes != "" && m.sc.Temp {
		return l, badUse("indexes", l.Indexes, "leave it out: temporary tables have no index on separate files")
	}
	if err := checkApart(l, m.plan.Target.Volumes, "--log-volume", "--index-volume"); err != nil {
		return l, err
	}
	if l.Data, err = m.spread(l.DataVolumes(m.plan.Target.Volumes)); err != nil {
		return l, err
	}
	return l, m.fitLoaded(&l)
}

// checkApart refuses volumes for log and indexes that do not exist, or that leave no volume for the data.
func checkApart(l filewise.Layout, volumes []filewise.Volume, logFlag, indexFlag string) error {
	names := filewise.Each(volumes, func(v filewise.Volume) string { return v.Name })
	for flag, name := range map[string]string{logFlag: l.LogVolume, indexFlag: l.IndexVolume} {
		if name != "" && !slices.Contains(names, name) {
			return checkVolume(flag, name, names)
		}
	}
	for _, name := range l.Data.Volumes.List() {
		if name == l.LogVolume || name == l.IndexVolume {
			return filewise.Errorf(filewise.CodeUsage, "leave it out of volumes=, or put the log and the indexes elsewhere",
				"volume %s is for data, and for the log or the indexes alone", name)
		}
	}
	if len(l.DataVolumes(volumes)) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "add another --volume NAME=DIR for the data",
			"no volume is left for the data: %s holds no data", strings.Join(names, ", "))
	}
	return nil
}

// spread returns what the data files of all layouts have in common.
func (m *maker) spread(volumes []filewise.Volume) (s filewise.Spread, err error) {
	if s.Bytes, err = m.totalBytes(); err != nil {
		return s, err
	}
	s.Allocation = filewise.Allocation(m.o.Allocation.Value)
	if s.Allocation == filewise.Growing || len(m.o.Layouts.Value) > 0 || m.o.Growth.Given() && !m.o.Allocation.Given() {
		if s.Growth, err = m.growthOf("growth", m.o.Growth.Value); err != nil {
			return s, err
		}
	}
	s.Placement = filewise.PlaceOne
	if len(volumes) > 1 {
		s.Placement = filewise.PlaceRoundRobin
	}
	if m.o.Placement.Given() {
		if len(volumes) < 2 && m.o.Placement.Value == string(filewise.PlaceRoundRobin) {
			return s, badUse("placement", m.o.Placement.Value, "give a second --volume: all files lie on one")
		}
		s.Placement = filewise.Placement(m.o.Placement.Value)
	}
	return s, err
}

// totalBytes returns the total size of the data files: the user's, the engine's usual size for the main scenario, or
// the scenario's.
func (m *maker) totalBytes() (int64, error) {
	switch {
	case m.o.Size.Given():
		return bytesOf("size", m.o.Size.Value)
	case m.About.Bytes > 0 && m.work.Appends() && !m.o.AsPublished.Value:
		return m.About.Bytes, nil
	case m.o.AsPublished.Value: // a small scale must not refuse the article's numbers of files
		return max(m.sc.Bytes, m.About.LeastFile*int64(slices.Max(m.sc.Files))), nil
	}
	return m.sc.Bytes, nil
}

// indexDivided gives the table of dml an index on its key if a layout divides the rows by the key, unless the user sets
// --index. Without an index, a statement reads all rows in its key's file. N files would then be N times as fast,
// whatever files are worth.
func (m *maker) indexDivided(arms []arm) {
	divides := func(a arm) bool { return a.Kind == filewise.KindPartitions || a.Kind == filewise.KindShards }
	if m.plan.Params.Index == "" || m.o.AsPublished.Value || m.o.Index.Given() || !slices.ContainsFunc(arms, divides) {
		return
	}
	m.plan.Params.Index = workload.IndexKey
	if !m.o.Repeat.Given() {
		m.plan.Params.Repeat = workload.IndexedRepeat
	}
}

// scenarioKinds returns the engine's kinds of layout for the scenario. None means its usual kinds.
func (m *maker) scenarioKinds() []filewise.Kind {
	switch {
	case m.sc.Stripes:
		return m.About.BackupKinds
	case m.sc.Temp:
		return m.About.TempKinds
	case m.sc.Params.Index != "" && !m.o.AsPublished.Value && !m.o.Allocation.Given() && !m.o.Growth.Given():
		return m.About.RowKinds
	}
	return nil
}

// layoutKind returns the chosen kind of layout, or the engine's usual one here.
func (m *maker) layoutKind(kind string) (filewise.Kind, error) {
	if kind == "" {
		return m.Kinds()[0], nil
	}
	return m.kind("kind", kind)
}
