// Package hostlock holds a host's measuring lock. Two runs that measure on one machine at the same time would measure
// each other, so the second one is refused.
//
// The lock belongs to its process: when the holder ends, in whatever way, the system releases the lock. FILEWISE_LOCK
// names another lock, for tests that run in parallel and measure nothing.
package hostlock

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"
	"unicode"

	"filewise"
)

// Holder describes the process that measures.
type Holder struct {
	PID   int       `json:"pid"`
	User  string    `json:"user,omitempty"`
	Run   string    `json:"run,omitempty"` // as in "filewise show RUN"; empty if not known yet
	What  string    `json:"what,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Store is the file in which the run is stored. It is empty if the run is not stored.
	Store string `json:"store,omitempty"`
}

// complete fills in fields about this process that the caller left empty.
func (h Holder) complete() Holder {
	if h.PID == 0 {
		h.PID = os.Getpid()
	}
	if h.User == "" {
		if u, err := user.Current(); err == nil {
			h.User = u.Username
		}
	}
	if h.Since.IsZero() {
		h.Since = time.Now()
	}
	return h
}

// String describes the holder: "process 4711 of user ada, run 12 (inserts on
// sqlite), since 2026-03-01 14:05:09".
func (h Holder) String() string {
	who := "another process"
	if h.PID > 0 {
		who = "process " + strconv.Itoa(h.PID)
	}
	if h.User != "" {
		who += " of user " + plain(h.User)
	}
	if h.Run != "" {
		who += ", run " + plain(h.Run)
	}
	if h.What != "" {
		who += " (" + plain(h.What) + ")"
	}
	if !h.Since.IsZero() {
		who += ", since " + h.Since.Local().Format(time.DateTime)
	}
	return who
}

// plain removes from another process's text what would garble the terminal.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return s
}

// busy returns the error for a lock that another process holds.
func busy(h Holder, cause error) error {
	remedy := "wait for it, or end it"
	if h.PID > 0 {
		remedy = fmt.Sprintf("wait for it, or end it: filewise stop --pid %d", h.PID)
	}
	if cause == nil {
		return filewise.Errorf(filewise.CodeBusy, remedy, "another run is measuring on this host: %v", h)
	}
	return filewise.Errorf(filewise.CodeBusy, remedy, "another run is measuring on this host: %v; its lock has no details: %w", h, cause)
}

// name returns the lock's name.
func name() string {
	if n := os.Getenv("FILEWISE_LOCK"); n != "" {
		return n
	}
	return "filewise-measuring"
}
