package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/run"
	"filewise/watch/notify"
)

// leftOver adds a finding about what earlier runs have left on a server, unless the engine has reported it.
func leftOver(ctx context.Context, env *run.Environment, findings []filewise.Finding) []filewise.Finding {
	reported := slices.ContainsFunc(findings, func(f filewise.Finding) bool { return strings.Contains(f.Check, "leftover") })
	if _, ok := env.Server.(filewise.ExternalServer); !ok || reported {
		return findings
	}
	found := filewise.Finding{Check: "leftovers", Status: filewise.StatusNote}
	left, err := env.Leftovers(ctx)
	if err != nil {
		found.Detail, found.Remedy = err.Error(), filewise.RemedyOf(err)
		return append(findings, env.HideIn([]filewise.Finding{found})...)
	}
	var names []string
	for _, l := range left {
		if l.Kept == "" {
			names = append(names, l.Kind+" "+l.Name)
		}
	}
	switch {
	case len(names) > 0:
		found.Detail = fmt.Sprintf("of earlier runs there are on the server: %s", strings.Join(names, ", "))
		found.Remedy = filewise.CommandLine("filewise", "clean", "--target", env.Target.Address.String())
	case len(left) > 0:
		found.Status, found.Detail = filewise.StatusOK, "none but what is in use"
	default:
		found.Status, found.Detail = filewise.StatusOK, "none"
	}
	return append(findings, found)
}

// started returns findings about an engine that Filewise has started or that is built in: that it answers, the size of
// its usual experiment, and its capabilities.
func (d *Diagnosis) started(env *run.Environment) []filewise.Finding {
	how := "a managed server was started and answers"
	if d.Mode == filewise.Embedded {
		how = "it is built in, and answers"
	}
	for _, f := range d.Server {
		if f.Name == "version" {
			how += ": version " + f.Value
		}
	}
	names, can := filewise.LayoutNames(env.Plan.Layouts), []string(nil)
	for _, c := range filewise.Capabilities {
		if d.Offers[c] == "yes" {
			can = append(can, string(c))
		}
	}
	out := []filewise.Finding{
		{Check: "start", Status: filewise.StatusOK, Detail: how},
		{Check: "layouts", Status: filewise.StatusOK, Detail: "filewise run's layouts can be built: " + strings.Join(names, ", ")},
	}
	space := filewise.Finding{Check: "space", Status: filewise.StatusOK, Detail: "enough is free for filewise run"}
	if err := env.Preflight(); err != nil {
		space = failed(space.Check, err)
	}
	out = append(out, space)
	for _, w := range env.ScriptWarnings() {
		out = append(out, filewise.Finding{Check: w.Code, Status: filewise.StatusNote, Detail: w.Message, Remedy: w.Remedy})
	}
	return append(out, filewise.Finding{Check: "can", Status: filewise.StatusOK, Detail: strings.Join(can, ", ")})
}

// Notify sends a test message to every address.
func (d *Diagnosis) Notify(ctx context.Context, addresses []notify.Address, hide func(string) string) {
	host, _ := os.Hostname()
	for _, address := range addresses {
		found := filewise.Finding{Check: "notification", Status: filewise.StatusOK, Detail: address.String() + " has taken a test message"}
		err := address.Send(ctx, notify.Message{
			Event: notify.Test, Time: time.Now().UTC().Truncate(time.Second), Host: host, Version: d.Version,
			Title: "Filewise: a test message from " + host, Text: "This address works: filewise doctor --notify has tried it.",
		})
		if err != nil {
			found.Status, found.Detail = filewise.StatusFailed, address.String()+": "+hide(err.Error())
			found.Remedy = "correct the URL, or ask the server's administrator"
		}
		d.Notifications = append(d.Notifications, found)
	}
}
