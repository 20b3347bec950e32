package main

import (
	"context"
	"fmt"
	"strings"

	"filewise"
	"filewise/experiment"
)

// examine looks whether the opened server can do the plan.
func (r *rig) examine(ctx context.Context, p experiment.Plan) []filewise.Finding {
	examiner, ok := r.server.(filewise.Examiner)
	if !ok {
		return nil
	}
	demand := filewise.Demand{Layouts: p.Layouts, Program: p.Program(r.workload), Space: map[string]int64{}}
	for _, n := range needsOf(p, r.scripts) {
		demand.Space[n.Volume.Name] = n.Need
	}
	return r.hide(examiner.Examine(ctx, demand))
}

// secrets are those of the opened server's address.
func (r *rig) secrets() []filewise.Secret {
	if r.target.Address == nil {
		return nil
	}
	return r.target.Address.Hidden()
}

// hide keeps the secrets of the address out of findings.
func (r *rig) hide(findings []filewise.Finding) []filewise.Finding {
	secrets := r.secrets()
	for i := range findings {
		f := &findings[i]
		f.Detail, f.Remedy = filewise.Hide(f.Detail, secrets...), filewise.Hide(f.Remedy, secrets...)
	}
	return findings
}

// failedFindings refuses a server on which the plan cannot run: one error with
// every check that failed and what to do about each.
func failedFindings(t filewise.Target, findings []filewise.Finding) error {
	var what, remedies []string
	for _, f := range findings {
		if f.Status == filewise.StatusFailed {
			what = append(what, f.Check+": "+f.Detail)
			if f.Remedy != "" {
				remedies = append(remedies, f.Remedy)
			}
		}
	}
	switch len(what) {
	case 0:
		return nil
	case 1:
		return filewise.Errorf(filewise.CodePreflight, strings.Join(remedies, "\n  → "), "%s on %s: %s", t.Engine, t.Address, what[0])
	}
	return filewise.Errorf(filewise.CodePreflight, strings.Join(remedies, "\n  → "), "%s on %s: %d checks failed\n  · %s", t.Engine, t.Address, len(what), strings.Join(what, "\n  · "))
}

// findingWarnings are what a report has to say of the server.
func findingWarnings(findings []filewise.Finding) []filewise.Warning {
	var out []filewise.Warning
	for _, f := range findings {
		if f.Status == filewise.StatusWarning {
			out = append(out, filewise.Warning{Code: "server", Message: fmt.Sprintf("%s: %s.", f.Check, strings.TrimSuffix(f.Detail, ".")), Remedy: f.Remedy})
		}
	}
	return out
}

// printFindings lists findings with what to do about each.
func printFindings(w *lineWriter, findings []filewise.Finding) {
	for _, f := range findings {
		w.printf("  %-8s %s: %s\n", f.Status, f.Check, indent(f.Detail, 11))
		if f.Remedy != "" {
			w.printf("           → %s\n", indent(f.Remedy, 13))
		}
	}
}

// indent puts further lines of a text below its first.
func indent(text string, by int) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+strings.Repeat(" ", by))
}

// labelWarnings are what a report has to say of any result on the engine.
func labelWarnings(t filewise.Target, about filewise.Description) []filewise.Warning {
	var out []filewise.Warning
	add := func(code, text, remedy string) {
		text = strings.TrimSuffix(text, ".") + "."
		out = append(out, filewise.Warning{Code: code, Message: strings.ToUpper(text[:1]) + text[1:], Remedy: remedy})
	}
	if about.Note != "" && t.Mode != filewise.Embedded {
		add("engine-scope", about.Note, "Measure the engine that you want to know about.")
	}
	if about.Unproven != "" {
		add("unproven", "Unproven adapter of "+t.Engine+": "+about.Unproven, "Run \"filewise doctor --target URL --self-check\" first, and report what it says.")
	}
	if about.Licence != "" {
		add("licence", about.Licence, "Keep the results to yourself, or ask the vendor.")
	}
	return out
}
