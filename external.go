package filewise

import (
	"context"
	"slices"
	"strings"
	"time"
)

// What an external server offers in addition to Build. A Server implements these if it can; opening it has changed
// nothing yet.

// OptionChecker refuses options of a server's URL that nothing would read, by their
// names alone: nothing is connected to, and no file looked at.
type OptionChecker interface {
	CheckOptions(Address) error
}

// Examiner checks whether a server can run the experiment, and what will distort the result. It reads only.
type Examiner interface {
	// Examine never fails: what could not be looked at is a finding too.
	Examine(context.Context, Demand) []Finding
}

// Demand holds an experiment's requirements of a server.
type Demand struct {
	Layouts []Layout
	Program Program
	// Space is the room needed on each volume, in bytes, by volume name.
	Space map[string]int64
}

// Status is a check's result.
type Status string

// The statuses of a finding, best first.
const (
	StatusOK      Status = "ok"
	StatusNote    Status = "note"    // could not be looked at, or only worth knowing
	StatusWarning Status = "warning" // will distort the result
	StatusFailed  Status = "failed"  // the experiment cannot run
)

// Finding is the outcome of one check.
type Finding struct {
	Check  string `json:"check"` // "rights", "free space of fast", "version"
	Status Status `json:"status"`
	Detail string `json:"detail"`
	// Remedy gives the action, such as the exact GRANT; empty for StatusOK.
	Remedy string `json:"remedy,omitempty"`
	// Consent is the name of what the check would prevent, for what a user may accept (--allow). Empty means that
	// cannot be accepted.
	Consent string `json:"consent,omitempty"`
	// Absent: a failed check is about a part that this server or account does not offer. Other experiments run.
	Absent bool `json:"-"`
}

// Locker lets one run measure on a server at a time.
type Locker interface {
	// Lock takes the server's measuring lock; the error has CodeBusy and names its holder.
	Lock(context.Context, Holder) (Lock, error)
}

// Holder identifies the taker of a server's measuring lock.
type Holder struct {
	Who string // for others
	// Host names the host's measuring lock, which the run holds, among the locks of all hosts: a session on the
	// server with the same lock but of another process belongs to a dead one. Empty means no lock is held, or the host
	// cannot distinguish it from others'.
	Host string
}

// Lock is a measuring lock that was taken. The server releases it when its
// connection ends, for whatever reason: so it is looked at while it is needed. It
// is not for several goroutines at once.
type Lock interface {
	// Held checks with the server that the lock is still held; the error reports why it is not, or why that is not known. A context
	// that ends may end the lock's connection.
	Held(context.Context) error
	// Release gives it back. The error may report that it had been lost.
	Release() error
}

// Monitor reads how busy others keep the server.
type Monitor interface {
	// Activity are gauges of the moment, Filewise's own sessions not counted:
	// "active" and "sessions", others by engine. What cannot be read is absent.
	Activity(context.Context) ([]Gauge, error)
}

// Gauge is a value of the moment.
type Gauge struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
}

// Cleaner finds and removes what runs have left on an external server.
type Cleaner interface {
	// Leftovers lists what carries the mark, or was about to be marked; that which
	// a living run uses is among them with Kept set.
	Leftovers(context.Context) ([]Leftover, error)
	// Remove drops one of them. The mark is read again right before; what has lost
	// it, or is in use, is refused.
	Remove(context.Context, Leftover) error
}

// Leftover is an object on a server that a run of Filewise has created.
type Leftover struct {
	Kind    string    `json:"kind"` // "database", "tablespace"
	Name    string    `json:"name"`
	Owner   string    `json:"owner,omitempty"`  // who created it, from the mark
	Created time.Time `json:"created,omitzero"` // from the mark
	// Unmarked: the run was killed between creating and marking it. It has a name
	// that only Filewise gives, and is empty.
	Unmarked bool `json:"unmarked,omitempty"`
	// Offline: a run ended while it was; its mark is read when it is back, before it is dropped.
	Offline bool   `json:"offline,omitempty"`
	Kept    string `json:"kept,omitempty"` // why it must stay. Empty means it may go
}

// Sharer is a server on which sessions of several processes may work on one build: drivers.
type Sharer interface {
	// Join finds a build that another process has made, by Database.Shared of there. The other value it returns ends
	// what belongs to it. To the server its sessions belong to that process, so that they end, at the latest, when
	// that drops the build.
	Join(ctx context.Context, l Layout, p Program, shared string) (Connector, func(), error)
	// Now is the time of the server's clock, which all processes can ask for.
	Now(context.Context) (time.Time, error)
}

// Need is a right that an account needs on an external server.
type Need struct {
	Right string `json:"right"`
	Grant string `json:"grant"` // the statement that gives it to account filewise
	// Commands do not work without it; "run NAME" is scenario NAME alone.
	Commands []string `json:"commands,omitempty"`
	// Parts are further commands that send data which needs them. They work without it, apart from what Without
	// names.
	Parts    []string `json:"parts,omitempty"`
	Without  string   `json:"without,omitempty"`
	Versions string   `json:"versions,omitempty"` // that have it. Empty means all
}

// Grants are the statements that give an account what is needed, once each.
func Grants(needs []Need) (all []string) {
	for _, n := range needs {
		if !slices.Contains(all, n.Grant) {
			all = append(all, n.Grant)
		}
	}
	return all
}

func NeedsOf(needs []Need, command string) (all []Need) {
	for _, n := range needs {
		if slices.Contains(n.Commands, command) || slices.Contains(n.Parts, command) {
			all = append(all, n)
		}
	}
	return all
}

// NeedsTable is a Markdown table of needs, a row each.
func NeedsTable(needs []Need) string {
	var b strings.Builder
	b.WriteString("| right | do not work without it | have less without it | what they lack | versions |\n|---|---|---|---|---|\n")
	for _, n := range needs {
		versions := n.Versions
		if versions == "" {
			versions = "all"
		}
		b.WriteString("| " + strings.Join([]string{n.Right, strings.Join(n.Commands, ", "), strings.Join(n.Parts, ", "), n.Without, versions},
			" | ") + " |\n")
	}
	return b.String()
}
