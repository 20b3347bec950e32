package notify

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/internal/nearest"
)

// Event is a kind of message.
type Event string

// The events of a run. A run ends with one of done, decided and failed, or with
// attention when resume goes on with it.
const (
	Started   Event = "started"   // is about to be set up; this also tries the address
	Done      Event = "done"      // ended with its budget or its blocks spent
	Decided   Event = "decided"   // ended early, because it is decided
	Failed    Event = "failed"    // ended without a result
	Attention Event = "attention" // needs a person's look
	Test      Event = "test"      // nothing has happened
)

// Events are the events that can be chosen.
var Events = []Event{Started, Done, Decided, Failed, Attention}

// ParseEvents reads a list such as "done,failed". Errors have CodeUsage.
func ParseEvents(text string) ([]Event, error) {
	var out []Event
	for name := range strings.SplitSeq(text, ",") {
		e := Event(strings.TrimSpace(name))
		if !slices.Contains(Events, e) {
			known := filewise.Each(Events, func(k Event) string { return string(k) })
			return nil, filewise.Errorf(filewise.CodeUsage, nearest.Remedy(string(e), known), "--notify-on: unknown event %q", string(e))
		}
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out, nil
}

// Message holds a message's contents. A webhook gets its JSON, headed by Format and Schema;
// docs/notifications.md describes every field.
type Message struct {
	Event   Event     `json:"event"`
	Time    time.Time `json:"time"`
	Title   string    `json:"title"` // one line
	Text    string    `json:"text"`  // some lines
	Host    string    `json:"host"`
	Version string    `json:"version"` // of Filewise
	Run     *Run      `json:"run"`     // null: it is about none
	// Details are for mail alone: the whole result as text.
	Details string `json:"-"`
	// Report is attached to mail under the name ReportName. Nil means there is none.
	Report     []byte `json:"-"`
	ReportName string `json:"-"`
}

// Run holds a message's facts of a run.
type Run struct {
	ID       int64      `json:"id,omitempty"` // missing: it is not stored yet
	State    string     `json:"state,omitempty"`
	Scenario string     `json:"scenario"`
	Engine   string     `json:"engine"`
	Mode     string     `json:"mode"`
	Layouts  []string   `json:"layouts"`
	Started  *time.Time `json:"started,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
	Trials   int        `json:"trials"` // done, without pilots
	Failed   int        `json:"failed"` // of trials, without pilots
	Ending   string     `json:"ending,omitempty"`
	Why      string     `json:"why,omitempty"`
	Verdict  string     `json:"verdict,omitempty"` // in one line
	// Decisions are the run's decisions, one for each family; missing before its end.
	Decisions []Decision `json:"decisions,omitempty"`
}

// Decision is the decision on a family of operations.
type Decision struct {
	Family   string `json:"family,omitempty"` // missing if there is one
	Decision string `json:"decision"`         // use, keep, more, open or none
	Layout   string `json:"layout,omitempty"` // to use, or to keep
	// BoundPercent is the most that any tested layout can gain over the baseline, and MarginPercent
	// what it is counted against; null is not known.
	BoundPercent  *float64 `json:"bound_percent"`
	MarginPercent float64  `json:"margin_percent"`
}

// Format and Schema head what a webhook gets. The schema's number grows when a
// field changes its meaning or goes; new fields may come without.
const (
	Format = "filewise-event"
	Schema = 1
)

// Document is the content for a webhook.
type Document struct {
	Format string `json:"format"`
	Schema int    `json:"schema"`
	Message
}

func (m Message) json() ([]byte, error) { return json.Marshal(Document{Format, Schema, m}) }

// urgent reports whether a person has to do something.
func (m Message) urgent() bool { return m.Event == Failed || m.Event == Attention }
