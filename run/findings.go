package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// Examine checks whether the opened server can do the plan.
func (env *Environment) Examine(ctx context.Context) []filewise.Finding {
	server, ok := env.Server.(filewise.ExternalServer)
	if !ok {
		return nil
	}
	demand := filewise.Demand{Layouts: env.Plan.Layouts, Program: env.Plan.Program(env.Workload), Space: map[string]int64{}}
	for _, n := range env.needs() {
		demand.Space[n.Volume.Name] = n.Need
	}
	found, err := Ask(ctx, env.Target, "whether the plan can be carried out there", func(ctx context.Context) ([]filewise.Finding, error) {
		return server.Examine(ctx, demand), nil
	}, nil)
	if err != nil {
		found = []filewise.Finding{{Check: "answers", Status: filewise.StatusFailed, Detail: err.Error(), Remedy: filewise.RemedyOf(err)}}
	}
	found = append(found, env.backupCost(ctx)...)
	return env.HideIn(accept(found, env.Plan.Target.Allowed))
}

// accept turns failures that the user has accepted into warnings. To the remedies of the others it adds how to accept
// them.
func accept(findings []filewise.Finding, allowed []string) []filewise.Finding {
	for i := range findings {
		f := &findings[i]
		switch {
		case f.Consent == "" || f.Status != filewise.StatusFailed:
		case slices.Contains(allowed, f.Consent):
			f.Status, f.Detail = filewise.StatusWarning, f.Detail+" (accepted by --allow "+f.Consent+")"
		default:
			f.Remedy += "; or accept that by --allow " + f.Consent
		}
	}
	return findings
}

// Secrets returns the secrets in the opened server's address.
func (env *Environment) Secrets() []filewise.Secret {
	if env.Target.Address == nil {
		return nil
	}
	return env.Target.Address.Hidden()
}

// HideIn hides the address's secrets in findings.
func (env *Environment) HideIn(findings []filewise.Finding) []filewise.Finding {
	secrets := env.Secrets()
	for i := range findings {
		f := &findings[i]
		f.Detail, f.Remedy = filewise.Hide(f.Detail, secrets...), filewise.Hide(f.Remedy, secrets...)
	}
	return findings
}

// Refused returns an error if the plan cannot run on a server. The error lists every failed check with its remedy. It
// wraps filewise.ErrUnsupported if other experiments can run there.
func Refused(t filewise.Target, findings []filewise.Finding) error {
	var what, remedies []string
	absent := true
	for _, f := range findings {
		if f.Status == filewise.StatusFailed {
			absent = absent && f.Absent
			what = append(what, f.Check+": "+f.Detail)
			if f.Remedy != "" {
				remedies = append(remedies, f.Remedy)
			}
		}
	}
	switch {
	case len(what) == 0:
		return nil
	case absent:
		return filewise.Errorf(filewise.CodePreflight, strings.Join(remedies, "\n  → "), "%s on %s: %s: %w", t.Engine, t.Address,
			strings.Join(what, "; "), filewise.ErrUnsupported)
	case len(what) == 1:
		return filewise.Errorf(filewise.CodePreflight, strings.Join(remedies, "\n  → "), "%s on %s: %s", t.Engine, t.Address, what[0])
	}
	return filewise.Errorf(filewise.CodePreflight, strings.Join(remedies, "\n  → "), "%s on %s: %d checks failed\n  · %s", t.Engine,
		t.Address, len(what), strings.Join(what, "\n  · "))
}

// findingWarnings returns the findings of status warning as warnings for a report.
func findingWarnings(findings []filewise.Finding) []filewise.Warning {
	var out []filewise.Warning
	for _, f := range findings {
		if f.Status == filewise.StatusWarning {
			out = append(out, filewise.Warning{Code: "server", Message: fmt.Sprintf("%s: %s.", f.Check, strings.TrimSuffix(f.Detail, ".")),
				Remedy: f.Remedy})
		}
	}
	return out
}

// labelWarnings returns the warnings that hold for any result on the engine.
func labelWarnings(t filewise.Target, about filewise.Description) []filewise.Warning {
	var out []filewise.Warning
	add := func(code, text, remedy string) {
		text = strings.TrimSuffix(text, ".") + "."
		out = append(out, filewise.Warning{Code: code, Message: strings.ToUpper(text[:1]) + text[1:], Remedy: remedy})
	}
	if about.Note != "" && t.Mode != filewise.Embedded && t.Database == "" {
		add("engine-scope", about.Note, "Test on the engine you use.")
	}
	if about.Unproven != "" {
		add("unproven", "Unproven adapter of "+t.Engine+": "+about.Unproven,
			"Run \"filewise doctor --target URL --self-check --all\" first, and send what it writes.")
	}
	if about.Licence != "" {
		add("licence", about.Licence, "Keep the results to yourself, or ask the vendor.")
	}
	return out
}

// Offers returns "yes" for each capability of an opened server, or the reason why it is missing.
func Offers(s filewise.Server) map[filewise.Capability]string {
	out := make(map[filewise.Capability]string)
	for c, why := range s.Offers() {
		out[c] = "yes"
		if why != nil {
			out[c] = filewise.Plain(why)
		}
		if remedy := filewise.RemedyOf(why); strings.HasPrefix(remedy, "GRANT ") {
			out[c] += ": " + remedy
		}
	}
	return out
}
