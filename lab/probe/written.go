package probe

import (
	"path"
	"slices"

	"filewise"
)

// Written returns the deltas of filewise.ProbeWritten that follow from a measure's other deltas. They are bytes written
// to the engine's files by role, if the engine has not counted them, and bytes that the server's processes wrote by
// calls. Each is also given per byte of the work's data. Files are the files observed before and after.
func Written(m filewise.Measure, files []filewise.File, embedded bool) []filewise.Delta {
	var out []filewise.Delta
	said := func(name string) bool {
		_, ok := Find(m.Deltas, filewise.ProbeWritten, name)
		return ok
	}
	sums := make(map[string]float64)
	for _, d := range m.Deltas {
		if d.Probe == filewise.ProbeFiles && d.Name == filewise.FileBytes {
			sums[writtenName(roleOf(d.File, files))] += d.Value
		}
	}
	server := filewise.ProbeServer
	if embedded {
		server = "process"
	}
	if v, ok := Find(m.Deltas, server, callsWritten); ok {
		sums[filewise.WrittenCalls] = v
	}
	for _, name := range writtenNames {
		if v, ok := sums[name]; ok && !said(name) {
			out = append(out, filewise.Delta{Probe: filewise.ProbeWritten, Name: name, Unit: "B", Value: v})
		}
	}
	if m.Bytes <= 0 {
		return out
	}
	for _, d := range slices.Concat(m.Deltas, out) {
		if d.Probe == filewise.ProbeWritten && d.Unit == "B" {
			out = append(out, filewise.Delta{Probe: d.Probe, Name: d.Name, Unit: filewise.UnitPerByte, Value: d.Value / m.Bytes})
		}
	}
	return out
}

// writtenNames lists the names that Written may add, in order.
var writtenNames = []string{filewise.WrittenData, filewise.WrittenIndex, filewise.WrittenLog, filewise.WrittenTemp, filewise.WrittenBackup,
	filewise.WrittenRest, filewise.WrittenCalls}

func writtenName(r filewise.Role) string {
	switch r {
	case filewise.RoleData:
		return filewise.WrittenData
	case filewise.RoleIndex:
		return filewise.WrittenIndex
	case filewise.RoleLog:
		return filewise.WrittenLog
	case filewise.RoleTemp:
		return filewise.WrittenTemp
	case filewise.RoleBackup:
		return filewise.WrittenBackup
	}
	return filewise.WrittenRest
}

// roleOf returns the role of a file. A file that existed only in between, as logs do, counts as a log if all files
// observed in its directory are logs.
func roleOf(name string, files []filewise.File) filewise.Role {
	logs, others := 0, 0
	for _, f := range files {
		if f.Path == name {
			return f.Role
		}
		if path.Dir(f.Path) != path.Dir(name) {
			continue
		}
		if f.Role == filewise.RoleLog {
			logs++
		} else {
			others++
		}
	}
	if logs > 0 && others == 0 {
		return filewise.RoleLog
	}
	return filewise.RoleSystem
}
