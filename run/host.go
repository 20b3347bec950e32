package run

import (
	"cmp"
	"runtime"

	"filewise"
	"filewise/host/machine"
	"filewise/lab/experiment"
)

// HostOf returns the facts of a target's machine without asking its server.
func HostOf(t filewise.Target) experiment.Host {
	if t.Mode == filewise.External && (t.Address == nil || !t.Address.Here()) {
		return experiment.Host{}
	}
	memory, _ := machine.Memory()
	return experiment.Host{Cores: cmp.Or(t.Cores, runtime.NumCPU()), Memory: int64(memory)}
}
