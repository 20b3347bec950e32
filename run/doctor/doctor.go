// Package doctor checks whether this machine and a server can do an experiment, and gives a remedy for everything that
// it finds.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filewise"
	"filewise/lab/experiment"
	"filewise/run"
	"filewise/run/plan"
	"filewise/run/preview"
)

// Diagnosis holds the findings.
type Diagnosis struct {
	Version   string                         `json:"version"` // of Filewise
	Machine   []filewise.Finding             `json:"machine"`
	Engine    string                         `json:"engine,omitempty"`
	Mode      filewise.Mode                  `json:"mode,omitempty"`
	Server    []filewise.Fact                `json:"server,omitempty"`
	Findings  []filewise.Finding             `json:"findings,omitempty"`
	Offers    map[filewise.Capability]string `json:"offers,omitempty"`
	SelfCheck []filewise.Finding             `json:"self_check,omitempty"`
	// Record holds the parts of a whole self-check that may be sent to others. Nil means there was none.
	Record *Record `json:"record,omitempty"`
	// Notifications holds the results of test messages.
	Notifications []filewise.Finding `json:"notifications,omitempty"`
	Failed        int                `json:"failed"`
	Warnings      int                `json:"warnings"`
	// Resolves lists the differences that can be seen here. Nil means that was not measured.
	Resolves *preview.Power `json:"resolves,omitempty"`

	hosts, users []string // names to leave out of the report
}

// Patient is the target that doctor examines for a plan.
type Patient struct {
	Engine filewise.Engine
	Plan   experiment.Plan
	Login  run.Login
	// Options are the options of the plan. A self-check makes more plans for the target from them.
	Options *plan.Options
	// Agree is called before a self-check writes to an external server. Nil means there is no self-check.
	Agree func() error
	// Whole holds the limits of a whole self-check, which continues after failures and is recorded. Nil means the usual
	// self-check.
	Whole *Limits
	Hide  func(string) string // removes secrets from findings
}

// Examine opens the plan's target and checks whether the plan can be done there. A target that cannot be opened is a
// finding, not an error.
func (d *Diagnosis) Examine(ctx context.Context, p Patient) (err error) {
	t := p.Plan.Target
	d.Engine, d.Mode = t.Engine, t.Mode
	d.addLabels(p.Engine.Describe())
	env, err := run.Prepare(p.Engine, p.Plan)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	if err := env.Look(ctx, p.Login); err != nil {
		if filewise.CodeOf(err) == filewise.CodeUsage || ctx.Err() != nil {
			return err
		}
		d.Findings = append(d.Findings, failed("open", err))
		d.anonymous(t, p.Hide)
		return nil
	}
	if d.Server, err = env.Facts(ctx); err != nil {
		return err
	}
	d.Offers = run.Offers(env.Server)
	d.Findings = append(d.Findings, env.Examine(ctx)...)
	if d.Mode == filewise.External {
		d.Findings = leftOver(ctx, env, d.Findings)
	} else {
		d.Findings = append(d.Findings, d.started(env)...)
	}
	if p.Agree != nil {
		err = d.selfCheck(ctx, env, p)
	}
	d.anonymous(t, p.Hide)
	return err
}

// failed returns a finding about a failed check.
func failed(check string, err error) filewise.Finding {
	return filewise.Finding{Check: check, Status: filewise.StatusFailed, Detail: err.Error(), Remedy: filewise.RemedyOf(err)}
}

func (d *Diagnosis) addLabels(about filewise.Description) {
	for _, l := range []struct{ check, text string }{{"never run against the product", about.Unproven}, {"licence", about.Licence}} {
		if l.text != "" {
			d.Findings = append(d.Findings, filewise.Finding{Check: l.check, Status: filewise.StatusNote, Detail: l.text})
		}
	}
}

// selfCheck runs small trials of every workload on the server.
func (d *Diagnosis) selfCheck(ctx context.Context, env *run.Environment, p Patient) error {
	if err := p.Agree(); err != nil {
		return err
	}
	say := func(f filewise.Finding) { d.SelfCheck = append(d.SelfCheck, f) }
	var err error
	if p.Whole == nil {
		err = SelfCheck(ctx, p, say)
	} else {
		var r Record
		r, err = SelfCheckAll(ctx, p, *p.Whole, say)
		d.Record = &r
	}
	d.SelfCheck = env.HideIn(d.SelfCheck)
	return err
}

// Count counts failures and warnings.
func (d *Diagnosis) Count() {
	for _, list := range d.lists() {
		for _, x := range list {
			switch x.Status {
			case filewise.StatusFailed:
				d.Failed++
			case filewise.StatusWarning:
				d.Warnings++
			}
		}
	}
}

// Modes returns the ways in which Filewise can use an engine's server.
func Modes(d filewise.Description) string {
	if d.Mode == filewise.External || len(d.Schemes) == 0 {
		return string(d.Mode)
	}
	return fmt.Sprintf("%s, %s", d.Mode, filewise.External)
}

// Kinds returns all kinds of layout of an engine. Each appears once.
func Kinds(d filewise.Description) string {
	var out []string
	for _, list := range [][]filewise.Kind{d.Kinds, d.ExternalKinds} {
		for _, k := range list {
			if s := string(k); s != "" && !strings.Contains(" "+strings.Join(out, " ")+" ", " "+s+" ") {
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, " ")
}

// URLForm returns the form of the URL of an engine's existing server.
func URLForm(d filewise.Description, scheme string) string {
	return scheme + "://USER@HOST:" + strconv.Itoa(d.Port) + "/…"
}

// Text returns the findings for people.
func (d *Diagnosis) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "filewise doctor, version %s\n\nThis machine\n", d.Version)
	b.WriteString(preview.Findings(d.Machine))
	if d.Engine != "" {
		fmt.Fprintf(&b, "\n%s, %s\n", d.Engine, d.Mode)
		for _, fact := range d.Server {
			fmt.Fprintf(&b, "  %s: %s\n", fact.Name, preview.Indent(fact.Value, 4))
		}
		fmt.Fprintf(&b, "\nChecks\n")
		b.WriteString(preview.Findings(d.Findings))
		for _, c := range filewise.Capabilities {
			if why, ok := d.Offers[c]; ok && why != "yes" {
				fmt.Fprintf(&b, "  %-8s %s: %s\n", "cannot", c, preview.Indent(why, 11))
			}
		}
	}
	switch {
	case len(d.SelfCheck) > 0:
		fmt.Fprintf(&b, "\nSelf-check: every workload once, in scratch databases\n")
		b.WriteString(preview.Findings(d.SelfCheck))
	case d.Mode == filewise.External:
		fmt.Fprintf(&b, "\nNothing was written. --self-check tries every workload once, in scratch databases that it drops again.\n")
	}
	if d.Record != nil {
		fmt.Fprintf(&b, "\nWhat others may be sent: the file holds this, and nothing else\n%s", d.Record.JSON())
	}
	if len(d.Notifications) > 0 {
		fmt.Fprintf(&b, "\nNotifications\n")
		b.WriteString(preview.Findings(d.Notifications))
	}
	if d.Resolves != nil {
		fmt.Fprintf(&b, "\nWhat can be seen here\n")
		b.WriteString(d.Resolves.Text())
	}
	if d.Failed+d.Warnings == 0 {
		fmt.Fprintf(&b, "\nAll checks passed. Next: filewise plan.\n")
	} else {
		fmt.Fprintf(&b, "\n%s failed, %d warned.\n", filewise.Counted(d.Failed, "check"), d.Warnings)
	}
	if d.Resolves == nil {
		fmt.Fprintf(&b, "How small a difference can this machine detect? filewise doctor --resolve\n")
	}
	return b.String()
}
