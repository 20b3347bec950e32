package doctor

import (
	"fmt"
	"strings"

	"filewise"
	"filewise/preview"
)

// Text is what was found for people.
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
	if len(d.Notifications) > 0 {
		fmt.Fprintf(&b, "\nNotifications\n")
		b.WriteString(preview.Findings(d.Notifications))
	}
	if d.Resolves != nil {
		fmt.Fprintf(&b, "\nWhat can be seen here\n")
		b.WriteString(d.Resolves.Text())
	} else {
		fmt.Fprintf(&b, "\nWhich differences can be seen here, and in which time: filewise doctor --resolve measures it.\n")
	}
	fmt.Fprintf(&b, "\n%s failed, %d warned.\n", filewise.Counted(d.Failed, "check"), d.Warnings)
	return b.String()
}
