package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"filewise"
)

// room is the size that a layout's data files are given in all, in bytes: where no
// file is ever added, that of the one file there is.
func room(l filewise.Layout) int64 {
	if l.AddedLater == filewise.LaterUntouched && l.Data.Files > 0 {
		return l.Data.Bytes / int64(l.Data.Files)
	}
	return l.Data.Bytes
}

// outgrown warns of data that have outgrown the layout's size, which is then no
// longer held constant. An engine may keep more in reserve than it uses.
func (l *life) outgrown() []filewise.Warning {
	var bytes int64
	for _, f := range l.trial.Final {
		switch {
		case f.Role != filewise.RoleData:
		case f.Used != nil:
			bytes += *f.Used
		default:
			bytes += f.Bytes
		}
	}
	given := room(l.layout)
	if bytes <= given+given/100 {
		return nil
	}
	w := filewise.Warning{
		Code: "outgrown",
		Message: fmt.Sprintf("The data of %s grew to %d MiB, beyond the %d MiB that layouts have in common.", l.layout.Name, bytes>>20,
			given>>20),
		Remedy: "Make --size larger, or --window or --work smaller.",
	}
	if given != l.layout.Data.Bytes {
		w.Message = fmt.Sprintf("The data of %s, to which no file is added, grew to %d MiB, beyond the %d MiB of its one file.",
			l.layout.Name, bytes>>20, given>>20)
	}
	return []filewise.Warning{w}
}

// retried warns of failures that were tried again: what they cost is part of the
// trial, and the reader must know that there were any.
func (l *life) retried(failures map[filewise.Class]int64, when string) {
	var words []string
	for _, class := range slices.Sorted(maps.Keys(failures)) {
		if slices.Contains(l.program.Retry, class) {
			words = append(words, fmt.Sprintf("%d × %s", failures[class], class))
		}
	}
	if len(words) == 0 {
		return
	}
	l.trial.Warnings = append(l.trial.Warnings, filewise.Warning{
		Code:    "retried",
		Message: fmt.Sprintf("Operations of %s failed and were tried again %s: %s.", l.layout.Name, when, strings.Join(words, ", ")),
		Remedy:  "Every failure is counted in its trial (filewise show); what they cost is in the throughput.",
	})
}
