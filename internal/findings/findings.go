// Package findings gathers what checks of a server found.
package findings

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
)

// Examination gathers findings about a server before anything is measured on it.
type Examination struct {
	Demand   filewise.Demand
	Findings []filewise.Finding
}

// Add adds a finding.
func (e *Examination) Add(status filewise.Status, check, remedy, format string, args ...any) {
	e.Findings = append(e.Findings, filewise.Finding{Check: check, Status: status, Detail: fmt.Sprintf(format, args...), Remedy: remedy})
}

// OK adds a finding of status OK.
func (e *Examination) OK(check, format string, args ...any) {
	e.Add(filewise.StatusOK, check, "", format, args...)
}

// Note adds a finding of status note.
func (e *Examination) Note(check, remedy, format string, args ...any) {
	e.Add(filewise.StatusNote, check, remedy, format, args...)
}

// Warn adds a finding about something that will distort the result.
func (e *Examination) Warn(check, remedy, format string, args ...any) {
	e.Add(filewise.StatusWarning, check, remedy, format, args...)
}

// Fail adds the reason why the experiment cannot run.
func (e *Examination) Fail(check, remedy, format string, args ...any) {
	e.Add(filewise.StatusFailed, check, remedy, format, args...)
}

// Absent adds the reason why this experiment cannot run with this server or account, although other experiments can.
func (e *Examination) Absent(check, remedy, format string, args ...any) {
	e.Fail(check, remedy, format, args...)
	e.Findings[len(e.Findings)-1].Absent = true
}

// Unseen adds that the server did not report what a check needs.
func (e *Examination) Unseen(check string, err error) {
	e.Note(check, cmp.Or(filewise.RemedyOf(err), "use an account with the right to read it"), "it cannot be read: %v", err)
}

// Right is a privilege that the account may need, and whether the account has it.
type Right struct {
	Check string
	// Name names the right in the list of rights that the account has. If empty, the right is not listed.
	Name string
	Has  bool
	// Grant is the statement or advice that gives the account the right.
	Grant string
	// Lacks describes what the account may not do, and what is missing without the right.
	Lacks string
	// Optional is true if experiments run without the right.
	Optional bool
	// Part is true if this experiment needs the right and other experiments do not.
	Part bool
}

// Rights adds a finding for each right that the account lacks. If no required right is missing, it adds an OK under
// check, with the text has.
func (e *Examination) Rights(check, account, has string, all []Right) {
	lacks := false
	var there []string
	for _, r := range all {
		switch {
		case r.Has:
			if r.Name != "" {
				there = append(there, r.Name)
			}
		case r.Optional:
			e.Note(r.Check, r.Grant, "account %s %s", account, r.Lacks)
		case r.Part:
			lacks = true
			e.Absent(r.Check, r.Grant, "account %s %s", account, r.Lacks)
		default:
			lacks = true
			e.Fail(r.Check, r.Grant, "account %s %s", account, r.Lacks)
		}
	}
	if !lacks {
		e.OK(check, "account %s %s", account, has)
	}
	if len(there) > 0 {
		e.OK("rights that are there", "account %s has %s", account, strings.Join(there, ", "))
	}
}

// Connections compares the needed with the free connections. in describes the server's connections: "of 300 processes
// 50 are in use".
func (e *Examination) Connections(need, free int64, remedy, in string) {
	const check = "connections"
	if free < need {
		e.Fail(check, remedy, "%d are needed, and %s", need, in)
		return
	}
	e.OK(check, "%d are needed, and %s", need, in)
}

// FreeSpace compares the free bytes of a directory with the bytes needed there.
func (e *Examination) FreeSpace(check, place string, need, free int64, remedy string) {
	const text = "%s needed, and %s has %s free"
	if free < need {
		e.Fail(check, remedy, text, size(need), place, size(free))
		return
	}
	e.OK(check, text, size(need), place, size(free))
}

func size(bytes int64) string { return humanize.IBytes(uint64(max(bytes, 0))) }

// Leftovers adds what earlier runs have left, and which of it a clean-up would not remove.
func (e *Examination) Leftovers(ctx context.Context, s filewise.ExternalServer, url string) {
	const check = "leftovers"
	left, err := s.Leftovers(ctx)
	if err != nil {
		e.Unseen(check, err)
		return
	}
	var names []string
	for _, l := range left {
		name := l.Kind + " " + l.Name
		if l.Kept != "" {
			name += " (stays: " + l.Kept + ")"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		e.OK(check, "no run of Filewise has left anything")
		return
	}
	e.Note(check, filewise.CommandLine("filewise", "clean", "--target", url), "of runs of Filewise there are: %s", strings.Join(names, ", "))
}
