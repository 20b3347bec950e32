package run

import (
	"context"
	"runtime"

	"filewise"
	"filewise/machine"
)

// Inspect looks at an existing server, or at an embedded engine's files, and adds what
// this machine tells of them. Nothing is written.
func Inspect(ctx context.Context, e filewise.Engine, t filewise.Target) (filewise.Inspection, error) {
	inspector, ok := e.(filewise.Inspector)
	if !ok {
		return filewise.Inspection{}, filewise.Errorf(filewise.CodeUsage, "see filewise engines", "%s cannot be inspected: %w",
			e.Name(), filewise.ErrUnsupported)
	}
	i, err := inspector.Inspect(ctx, t)
	if err == nil {
		addMachine(&i)
	}
	return i, err
}

// addMachine tells what the server itself does not, where it runs on this host: the
// cores, and the devices below the files.
func addMachine(i *filewise.Inspection) {
	if !i.Local {
		return
	}
	if i.Cores == 0 {
		i.Cores = runtime.NumCPU()
	}
	devices := map[string]string{}
	under := func(dir, told string) string {
		if dir == "" || told != "" {
			return told
		}
		name, known := devices[dir]
		if !known {
			if d, err := machine.DeviceOf(dir); err == nil {
				name = d.String()
			}
			devices[dir] = name
		}
		return name
	}
	for n := range i.Places {
		i.Places[n].Device = under(i.Places[n].Path, i.Places[n].Device)
	}
	for g := range i.Groups {
		for n := range i.Groups[g].Files {
			file := &i.Groups[g].Files[n]
			file.Device = under(file.Dir, file.Device)
		}
	}
}
