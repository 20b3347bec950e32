// Package inspecting asks a server questions one after the other: what one does not
// answer is a gap, and the rest goes on.
package inspecting

import (
	"context"
	"errors"
	"time"

	"filewise"
	"filewise/engine/internal/mark"
)

// Patience bounds each question; what a lock blocks does not hang the look.
const Patience = 4 * time.Second

// Asker gathers an inspection.
type Asker struct {
	*filewise.Inspection
	// Remedy returns what to do about a question that failed: the GRANT, a setting.
	Remedy func(question string, err error) string
}

// New begins an inspection.
func New(remedy func(question string, err error) string) *Asker {
	return &Asker{&filewise.Inspection{Figures: map[string]float64{}, Settings: map[string]string{}}, remedy}
}

// Ask sends one question, and bounds its time.
func (a *Asker) Ask(ctx context.Context, question string, do func(context.Context) error) {
	limited, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	err := do(limited)
	if err == nil {
		return
	}
	why, remedy := err.Error(), a.Remedy(question, err)
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		why, remedy = "no answer within "+Patience.String()+", so it was given up: "+why, "ask again when nobody changes the catalogue"
	}
	a.Lack(question, why, remedy)
}

// Lack notes a question without an answer.
func (a *Asker) Lack(question, why, remedy string) {
	a.Gaps = append(a.Gaps, filewise.Gap{Question: question, Why: why, Remedy: remedy})
}

// At is where a file stands: its group's place, and its own within that.
type At struct{ group, file int }

// Add adds a file to its group, which its name shows; of the first file the group is added, too.
func (a *Asker) Add(g filewise.FileGroup, f filewise.FileInspect) At {
	n := len(a.Groups) - 1
	for n >= 0 && a.Groups[n].Name != g.Name { // mostly it is the last one
		n--
	}
	if n < 0 {
		n = len(a.Groups)
		a.Groups = append(a.Groups, g)
	}
	of := &a.Groups[n]
	of.Files = append(of.Files, f)
	return At{n, len(of.Files) - 1}
}

// Group returns the group of a file that was added.
func (a *Asker) Group(at At) *filewise.FileGroup { return &a.Groups[at.group] }

// File returns a file that was added.
func (a *Asker) File(at At) *filewise.FileInspect { return &a.Groups[at.group].Files[at.file] }

// Own reports whether a database or tablespace has a name that only Filewise gives.
func Own(name string) bool { return mark.IsName(name) }
