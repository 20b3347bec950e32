package run

import (
	"strings"

	"filewise"
	"filewise/probe"
)

// probes are those of this machine. Where the server is another one they say nothing
// about it, and are named for that.
func probes(t filewise.Target) []filewise.Probe {
	if t.Mode != filewise.External {
		return probe.System(t.Volumes)
	}
	all := probe.System(t.VolumesHere())
	if t.Address.Here() {
		return all
	}
	for i, p := range all {
		all[i] = clientProbe{p}
	}
	return all
}

// clientPrefix begins the names of probes that do not look at the server.
const clientPrefix = "client "

type clientProbe struct{ filewise.Probe }

// Name tells that it is not the server's.
func (p clientProbe) Name() string { return clientPrefix + p.Probe.Name() }

// clientWarnings are those about processors, of a client that is not the server.
func clientWarnings(t filewise.Trial) []filewise.Warning {
	var out []filewise.Warning
	for _, m := range t.Measures {
		var ofClient []filewise.Delta
		for _, d := range m.Deltas {
			if name, ok := strings.CutPrefix(d.Probe, clientPrefix); ok {
				d.Probe = name
				ofClient = append(ofClient, d)
			}
		}
		for _, w := range probe.Warnings(ofClient) {
			w.Code, w.Message = "client-"+w.Code, "On the client, which is not the server: "+w.Message
			out = append(out, w)
		}
	}
	return out
}
