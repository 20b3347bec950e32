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

// The events of a run. A run ends with done, decided or failed, or with attention if resume can continue it.
const (
	Started   Event = "started"   // before the set-up; also tests the address
	Done      Event = "done"      // ended with its budget or its blocks used up
	Decided   Event = "decided"   // ended early, because a decision was reached
	Failed    Event = "failed"    // ended without a result
	Attention Event = "attention" // a person should look
	Test      Event = "test"      // a test message; nothing has happened
)

// Events lists the events that users can choose.
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

// Message holds a message's contents. A webhook gets the JSON form, which begins with Format and Schema.
// docs/notifications.md describes every field.
type Message struct {
	Event   Event     `json:"event"`
	Time    time.Time `json:"time"`
	Title   string    `json:"title"` // one line
	Text    string    `json:"text"`  // some lines
	Host    string    `json:"host"`
	Version string    `json:"version"` // of Filewise
	Run     *Run      `json:"run"`     // null if the message is about no run
	// Details is the whole result as text. Only mail contains it.
	Details string `json:"-"`
	// Report is attached to mail under the name ReportName. Nil means there is no report.
	Report     []byte `json:"-"`
	ReportName string `json:"-"`
}

// Run holds the facts about a run in a message.
type Run struct {
	ID       int64      `json:"id,omitempty"` // missing if not stored yet
	State    string     `json:"state,omitempty"`
	Scenario string     `json:"scenario"`
	Engine   string     `json:"engine"`
	Mode     string     `json:"mode"`
	Layouts  []string   `json:"layouts"`
	Started  *time.Time `json:"started,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
	Trials   int        `json:"trials"` // finished, without pilots
	Failed   int        `json:"failed"` // failed trials, without pilots
	Ending   string     `json:"ending,omitempty"`
	Why      string     `json:"why,omitempty"`
	Verdict  string     `json:"verdict,omitempty"` // in one line
	// Decisions holds the run's decisions, one for each operation. It is missing before the run's end.
	Decisions []Decision `json:"decisions,omitempty"`
}

// Decision is the decision on a operation.
type Decision struct {
	Operation string `json:"family,omitempty"` // missing if there is only one
	Decision  string `json:"decision"`         // use, keep, more, open or none
	Layout    string `json:"layout,omitempty"` // the layout to use or to keep
	// BoundPercent is the most that any tested layout can gain over the baseline. MarginPercent is the difference that it
	// is compared with. Null means not known.
	BoundPercent  *float64 `json:"bound_percent"`
	MarginPercent float64  `json:"margin_percent"`
}

// Format and Schema head the JSON that a webhook gets. The schema's number grows if a field changes its meaning or is
// removed. New fields do not change it.
const (
	Format = "filewise-event"
	Schema = 1
)

// Document is the JSON document that a webhook gets.
type Document struct {
	Format string `json:"format"`
	Schema int    `json:"schema"`
	Message
}

func (m Message) json() ([]byte, error) { return json.Marshal(Document{Format, Schema, m}) }

// urgent reports whether a person must do something.
func (m Message) urgent() bool { return m.Event == Failed || m.Event == Attention }
