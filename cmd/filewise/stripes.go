package main

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/workload"
)

// stripes makes a layout of every number of backup files, with every number of data
// files and every value of the backup's options. The data have one file unless told
// otherwise, and where the engine backs up file by file as many as the backup.
func (f *planFlags) stripes(base filewise.Layout, files []int, sc workload.Scenario) ([]filewise.Layout, error) {
	if err := f.checkDataFiles(); err != nil {
		return nil, err
	}
	options, err := f.optionArms()
	if err != nil {
		return nil, err
	}
	data := f.dataFiles
	if len(data) == 0 {
		data = []int{1}
	}
	var out []filewise.Layout
	for _, of := range data {
		for _, option := range options {
			for _, n := range files {
				l := base
				l.Discard, l.BackupOptions, l.Data.Files = f.discard, option, of
				if f.about.StripesAsFiles {
					l.Data.Files = n
				}
				l.Backup = filewise.Spread{Files: n, Placement: base.Data.Placement}
				if base.Data.Placement == filewise.PlaceRoundRobin { // never on a volume of the data
					l.Data.Placement, l.Backup.Placement = filewise.PlaceOne, filewise.PlaceApart
				}
				l.Name, l.Rank = sc.NameOf(n), n
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

// maxRank is above every number of backup files.
const maxRank = 1000

func (f *planFlags) checkDataFiles() error {
	for i, n := range f.dataFiles {
		if n < 1 || slices.Contains(f.dataFiles[:i], n) {
			return badValue("data-files", n, "give whole numbers from 1, each once")
		}
	}
	if len(f.dataFiles) > 0 && f.about.StripesAsFiles {
		return filewise.Errorf(filewise.CodeUsage, "leave it out, and give --files", "--data-files: a backup has as many files as the database here: %w%w", filewise.ErrUnsupported, notFor{flag: "data-files"})
	}
	return nil
}

// optionArms are all combinations of the options' values; one without any when none
// is given.
func (f *planFlags) optionArms() ([]filewise.BackupOptions, error) {
	arms := []filewise.BackupOptions{""}
	for i, text := range f.backupOptions {
		name, values, ok := strings.Cut(text, "=")
		if !ok || name == "" || values == "" {
			return nil, badValue("backup-option", text, "give NAME=VALUE, or NAME=VALUE,VALUE to compare values")
		}
		if slices.ContainsFunc(f.backupOptions[:i], func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			return nil, badValue("backup-option", text, fmt.Sprintf("give all values of %s at once: %s=A,B", name, name))
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
