package filewise

import "fmt"

// Filler is an engine whose files are filled one after the other, so that work
// which ends early leaves the later ones untouched.
type Filler interface {
	// FillWork is the fixed work, in payload bytes of all connections, that fills the files of a layout as far as is
	// safe. 0 means the layout does not need it.
	FillWork(Target, Layout, Program) (int64, error)
}

// Sizer is a Filler that can compute the space of a program's loaded data.
type Sizer interface {
	// LoadedBytes is the size of data files that the program's loaded data fill up to the last one, in bytes. 0 means
	// the program loads nothing.
	LoadedBytes(Target, Program) (int64, error)
}

// tolerated is the part of the files by which preallocated ones may grow without
// a warning, 1/20: InnoDB keeps so much free that the last of many files cannot
// be reached without a little growth.
const tolerated = 20

// FillWarnings warns of preallocated files among a trial's final files that grew (File.Grew).
func FillWarnings(final []File) []Warning {
	var grew, bytes, logGrew int64
	for _, f := range final {
		if f.Role == RoleLog {
			logGrew += f.Grew
		}
		if f.Role != RoleData {
			continue
		}
		grew, bytes = grew+f.Grew, bytes+f.Bytes
	}
	var all []Warning
	if logGrew > 0 {
		all = append(all, Warning{
			Code:    "log-grew",
			Message: fmt.Sprintf("the log grew by %.1f MiB in the trial: that is measured too, and it is larger by then", float64(logGrew)/(1<<20)),
			Remedy:  "make the log larger at first, or the work smaller",
		})
	}
	if grew*tolerated > bytes {
		all = append(all, Warning{
			Code:    "preallocated-grew",
			Message: fmt.Sprintf("preallocated data files grew by %.1f MiB in the trial: the work was more than they hold", float64(grew)/(1<<20)),
			Remedy:  "make --work smaller, or --size larger",
		})
	}
	return all
}
