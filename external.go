package filewise

import (
	"context"
	"slices"
	"time"
)

// ExternalServer is an existing server, which others use too. Opening it has changed nothing yet.
type ExternalServer interface {
	Server
	// Examine checks whether the server can run the experiment, and what will distort the result. It only reads, and never
	// fails: a check that was not possible is a finding too.
	Examine(context.Context, Demand) []Finding
	// Lock takes the server's measuring lock, which lets one run measure at a time. If another run holds it, the error has
	// CodeBusy and names the holder.
	Lock(context.Context, Holder) (Lock, error)
	// Activity returns gauges of the moment, without Filewise's own sessions: "active" and "sessions", and others by
	// engine. A gauge that cannot be read is absent.
	Activity(context.Context) ([]Gauge, error)
	// Leftovers lists the objects that carry the marker, or were about to be marked. Objects that a living run uses are
	// listed with Kept set.
	Leftovers(context.Context) ([]Leftover, error)
	// Remove drops a leftover. It reads the marker again first, and refuses if the marker is gone or the object is in use.
	Remove(context.Context, Leftover) error
}

// Demand holds what an experiment requires of a server.
type Demand struct {
	Layouts []Layout
	Program Program
	// Space holds the bytes needed on each volume, by volume name.
	Space map[string]int64
}

// Status is a check's result.
type Status string

// The statuses of a finding, best first.
const (
	StatusOK      Status = "ok"
	StatusNote    Status = "note"    // could not be checked, or is only worth knowing
	StatusWarning Status = "warning" // will distort the result
	StatusFailed  Status = "failed"  // the experiment cannot run
)

// Finding is the outcome of one check.
type Finding struct {
	Check  string `json:"check"` // "rights", "free space of fast", "version"
	Status Status `json:"status"`
	Detail string `json:"detail"`
	// Remedy is the action to take, such as the exact GRANT. It is empty for StatusOK.
	Remedy string `json:"remedy,omitempty"`
	// Consent names the effect that a user can accept with --allow. It is empty if the effect cannot be accepted.
	Consent string `json:"consent,omitempty"`
	// Absent is set if a failed check concerns a part that this server or account does not offer. Other experiments run.
	Absent bool `json:"-"`
}

// Holder identifies the process that holds a server's measuring lock.
type Holder struct {
	Who string // text for others
	// Host names the host's measuring lock, which the run holds, uniquely among all hosts. A session on the server with
	// the same lock but another process belongs to a dead process. Host is empty if no lock is held, or the host cannot
	// distinguish it from other hosts' locks.
	Host string
}

// Lock is a measuring lock that was taken. The server releases the lock when its connection ends, for any reason, so
// the holder checks it with Held. It is not safe for concurrent use.
type Lock interface {
	// Held checks with the server that the lock is still held. The error reports why it is not, or why that is not known.
	// If the context ends, the lock's connection may end.
	Held(context.Context) error
	// Release releases the lock. The error may report that the lock had been lost.
	Release() error
}

// Gauge is a value at one moment.
type Gauge struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
}

// Leftover is an object on a server that a run of Filewise created.
type Leftover struct {
	Kind    string    `json:"kind"` // "database", "tablespace"
	Name    string    `json:"name"`
	Owner   string    `json:"owner,omitempty"`  // who created it, from the marker
	Created time.Time `json:"created,omitzero"` // from the marker
	// Unmarked is set if the run was killed between creating and marking the object. The object has a name that only
	// Filewise gives, and is empty.
	Unmarked bool `json:"unmarked,omitempty"`
	// Offline is set if a run ended while the object was offline. Its marker is read once it is online, before it is
	// dropped.
	Offline bool   `json:"offline,omitempty"`
	Kept    string `json:"kept,omitempty"` // why it must stay. Empty means it may go
}

// Sharer is a server on which several processes (drivers) can work on one build.
type Sharer interface {
	// Join finds a build that another process has made, by that process's Database.Shared. The returned function ends what
	// belongs to the Connector. To the server, its sessions belong to the other process: they end at the latest when that
	// drops the build.
	Join(ctx context.Context, l Layout, p Program, shared string) (Connector, func(), error)
	// Now returns the time of the server's clock, which all processes can read.
	Now(context.Context) (time.Time, error)
}

// Need describes a right that an account needs on an external server.
type Need struct {
	Right string `json:"right"`
	Grant string `json:"grant"` // the statement that gives the right to account filewise
	// Commands lists the commands that do not work without the right. "run NAME" means scenario NAME alone.
	Commands []string `json:"commands,omitempty"`
	// Parts lists further commands that need the right for a part of their work. Without it they work, except for what
	// Without names.
	Parts    []string `json:"parts,omitempty"`
	Without  string   `json:"without,omitempty"`
	Versions string   `json:"versions,omitempty"` // releases that have the right, in words. Empty means all
	// From and Until are the first and the last major version that have the right. If 0, there is no such bound.
	From  int `json:"from,omitempty"`
	Until int `json:"until,omitempty"`
}

// Grants returns the statements that grant the needed rights, each once.
func Grants(needs []Need) (all []string) {
	for _, n := range needs {
		if !slices.Contains(all, n.Grant) {
			all = append(all, n.Grant)
		}
	}
	return all
}
