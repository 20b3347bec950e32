package plan

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// stripes returns a layout for every combination of a number of backup files, a number of data files and values of the
// backup's options. The default is one data file. If processes copy whole files, it is the largest number of processes;
// if the engine backs up file by file, it is the number of backup files.
func (m *maker) stripes(base filewise.Layout, files []int) ([]filewise.Layout, error) {
	if err := m.checkDataFiles(); err != nil {
		return nil, err
	}
	options, err := m.optionArms()
	if err != nil {
		return nil, err
	}
	data := m.o.DataFiles.Value
	switch {
	case len(data) > 0:
	case m.About.CopiesFiles && !m.plan.Params.Own:
		data = []int{slices.Max(files)}
	default:
		data = []int{1}
	}
	var out []filewise.Layout
	for _, of := range data {
		for _, option := range options {
			for _, n := range files {
				l := m.stripe(base, n, of)
				l.BackupOptions = option
				if len(data) > 1 {
					l.Name += " of " + filewise.FilesName(of)
					l.Rank += of * maxRank
				}
				if len(options) > 1 {
					l.Name += ", " + strings.ReplaceAll(string(option), ",", ", ")
				}
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// stripe returns a layout with n backup files for a database of the given number of data files.
func (m *maker) stripe(l filewise.Layout, n, of int) filewise.Layout {
	l.Discard, l.Data.Files = m.o.Discard.Value, of
	if m.About.StripesAsFiles {
		l.Data.Files = n
	}
	l.Backup = filewise.Spread{Files: n, Placement: l.Data.Placement}
	if l.Data.Placement == filewise.PlaceRoundRobin { // a backup never lies on a volume of the data
		l.Data.Placement, l.Backup.Placement = filewise.PlaceOne, filewise.PlaceApart
		m.halve(&l)
	}
	if m.plan.Params.Own {
		l.Backup.Placement = filewise.PlaceOne
	}
	l.Name, l.Rank = m.sc.NameOf(n), n
	return l
}

// halve places several data files on the first half of the volumes, and the backup files on the other half, as the
// article had a drive for each. If there are only two or three volumes, the data get one.
func (m *maker) halve(l *filewise.Layout) {
	names := filewise.Each(l.DataVolumes(m.plan.Target.Volumes), func(v filewise.Volume) string { return v.Name })
	data := min(slices.Max(append(m.o.DataFiles.Value, 1)), len(names)/2)
	if m.About.StripesAsFiles {
		data = len(names) / 2
	}
	if data < 2 {
		return
	}
	join := func(names []string) filewise.VolumeNames { return filewise.VolumeNames(strings.Join(names, "+")) }
	l.Data.Volumes, l.Backup.Volumes = join(names[:data]), join(names[data:])
	l.Data.Placement = filewise.PlaceRoundRobin
}

// maxRank is larger than every number of backup files.
const maxRank = 1000

func (m *maker) checkDataFiles() error {
	for i, n := range m.o.DataFiles.Value {
		if n < 1 || slices.Contains(m.o.DataFiles.Value[:i], n) {
			return BadValue("data-files", n, "give whole numbers from 1, each once")
		}
	}
	if len(m.o.DataFiles.Value) > 0 && m.About.StripesAsFiles {
		return filewise.Errorf(filewise.CodeUsage, "leave it out, and give --files",
			"--data-files: a backup has as many files as the database here: %w%w", filewise.ErrUnsupported, unfit{name: "data-files"})
	}
	return nil
}

// optionArms returns all combinations of the options' values. If no options are given, it returns one empty
// combination.
func (m *maker) optionArms() ([]filewise.BackupOptions, error) {
	arms, options := []filewise.BackupOptions{""}, m.o.BackupOptions.Value
	if m.plan.Params.Own {
		var err error
		if options, err = m.ownOptions(); err != nil {
			return nil, err
		}
	}
	for i, text := range options {
		name, values, ok := strings.Cut(text, "=")
		if !ok || name == "" || values == "" {
			return nil, BadValue("backup-option", text, "give NAME=VALUE, or NAME=VALUE,VALUE to compare values")
		}
		if slices.ContainsFunc(options[:i], func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			return nil, BadValue("backup-option", text, fmt.Sprintf("give all values of %s at once: %s=A,B", name, name))
		}
		var more []filewise.BackupOptions
		for value := range strings.SplitSeq(values, ",") {
			for _, a := range arms {
				more = append(more, a.With(name, value))
			}
		}
		arms = more
	}
	return arms, nil
}
