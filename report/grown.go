package report

import (
	"fmt"

	"filewise"
	"filewise/internal/say"
)

// grown says by how much the files of each layout grew in its trials, log files included,
// where the design compares files that grow; and where none did, that this is no such run.
func (v view) grown() []string {
	var out []string
	for _, l := range v.Plan.Layouts {
		if l.Data.Allocation != filewise.Growing || len(v.Scenario.Design.Allocations) == 0 {
			continue
		}
		var data, log []float64
		for _, t := range v.whole.Trials {
			if t.Cell.Layout != l.Name || t.State != filewise.Done || len(t.Final) == 0 {
				continue
			}
			d, w := growth(t)
			data, log = append(data, float64(d)), append(log, float64(w))
		}
		if len(data) == 0 {
			continue
		}
		words := fmt.Sprintf("%s: data files grew by %s in the typical trial, log files by %s.", l.Name, say.Size(int64(median(data))),
			say.Size(int64(median(log))))
		if median(data) == 0 {
			words += " The rows fitted into the files as the engine makes them, so that this layout tells nothing about growing data files: " +
				"give a larger --scale."
		}
		out = append(out, words)
	}
	return out
}

// growth is by how much data and log files grew while a trial worked, files that came included.
func growth(t filewise.Trial) (data, log int64) {
	before := map[string]int64{}
	for _, f := range t.Files {
		before[f.Path] = f.Bytes
	}
	for _, f := range t.Final {
		switch more := max(f.Bytes-before[f.Path], 0); f.Role {
		case filewise.RoleData:
			data += more
		case filewise.RoleLog:
			log += more
		}
	}
	return data, log
}
