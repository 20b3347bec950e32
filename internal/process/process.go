// Package process knows a process again after its PID may have been given to
// another one: by PID, start time and the boot they belong to.
package process

import "fmt"

// Identity is one process for good. The zero value is no process.
type Identity struct {
	PID int `json:"pid"`
	// Start is the start time in clock ticks since boot (field 22 of
	// /proc/PID/stat); 0 where the system does not say it.
	Start uint64 `json:"start,omitempty"`
	// Boot is the kernel's random id of this boot.
	Boot string `json:"boot,omitempty"`
	// Host and Space tell apart what shares a home directory or a boot: other
	// machines, and containers with PIDs of their own.
	Host  string `json:"host,omitempty"`
	Space string `json:"space,omitempty"`
}

// Status says whether a process still runs.
type Status string

// The statuses. Unknown: it ran on another host or in another container, or
// this system cannot tell; it has to be taken for alive.
const (
	Alive   Status = "alive"
	Dead    Status = "dead"
	Unknown Status = "unknown"
)

// String names the process for a message.
func (id Identity) String() string {
	if id.PID == 0 {
		return "no process"
	}
	return fmt.Sprintf("process %d", id.PID)
}
