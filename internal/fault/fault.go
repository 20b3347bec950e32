// Package fault lists the errors of the host, and the states of a server, that no layout is to blame for. Whatever they
// ended is measured again by resume.
package fault

import (
	"errors"
	"net"
	"slices"

	"filewise"
)

// Fault describes a fault of the host, or a state of the server.
type Fault struct {
	Code   filewise.Code
	What   string // the end of a sentence about a trial: "a volume is full"
	Remedy string // to be done before resume
	// Passes reports whether the fault may soon be gone: a trial is then tried as often as any other before the run ends.
	Passes bool
}

// The faults to which the systems' errors are mapped.
var (
	full  = Fault{Code: filewise.CodePreflight, What: "a volume is full", Remedy: "free space there, or name another --volume"}
	quota = Fault{Code: filewise.CodePreflight, What: "the quota of a volume is used up",
		Remedy: "free space there, have the quota raised, or name another --volume"}
	unusable = Fault{Code: filewise.CodePreflight, What: "a volume cannot be used",
		Remedy: "let the server's own account write to that directory of its host, or name another --volume"}
	denied = Fault{Code: filewise.CodePreflight, What: "the system denies access",
		Remedy: "give the account that Filewise runs as rights there, or name another --volume"}
	gone = Fault{Code: filewise.CodePreflight, What: "a volume does not answer any more",
		Remedy: "bring the volume back (mount, daemon, network)"}
	readOnly = Fault{Code: filewise.CodePreflight, What: "a volume can be written to no more", Remedy: "bring the volume back, writable"}
	tooLarge = Fault{Code: filewise.CodePreflight, What: "a file may not become that large",
		Remedy: largerFiles + "use a file system with larger files"}
	files = Fault{Code: filewise.CodePreflight, What: "no more files may be opened",
		Remedy: MoreFiles + "use fewer --connections"}
	memory      = Fault{Code: filewise.CodePreflight, What: "memory ran out", Remedy: "end what else takes memory on that machine"}
	connections = Fault{Code: filewise.CodeStopped, What: "the server takes no more connections", Passes: true,
		Remedy: "end other sessions there, or have its limit of connections raised (max_connections, or the account's)"}
)

// Of returns the fault behind an error. ok is false if there is none. A lost network connection is no fault: the server
// may come back, and is waited for.
func Of(err error) (f Fault, ok bool) {
	var network *net.OpError
	switch {
	case err == nil:
		return Fault{}, false
	case errors.Is(err, filewise.ErrConnections):
		return connections, true
	case errors.Is(err, filewise.ErrSpace):
		return full, true
	case errors.Is(err, filewise.ErrVolume):
		return unusable, true
	case errors.As(err, &network), filewise.ClassOf(err) == filewise.ClassConnection:
		// System calls on sockets have the same error numbers as calls on files.
		return Fault{}, false
	}
	for _, row := range host {
		if is(err, row.errors) {
			return row.fault, true
		}
	}
	return Fault{}, false
}

// Remedy returns the remedy of the fault behind an error, or otherwise if there is no fault.
func Remedy(err error, otherwise string) string {
	if f, ok := Of(err); ok {
		return f.Remedy
	}
	return otherwise
}

// row maps errors of the system to one fault.
type row struct {
	fault  Fault
	errors []error
}

// TooManyFiles reports whether this process, or its host, may open no more files or sockets.
func TooManyFiles(err error) bool {
	return slices.ContainsFunc(host, func(r row) bool { return r.fault == files && is(err, r.errors) })
}

// Refused reports whether no process listens at an address.
func Refused(err error) bool { return is(err, refused) }

// NotEmpty reports whether a directory is not empty.
func NotEmpty(err error) bool { return is(err, notEmpty) }

// ClosedPipe reports whether a write failed because the pipe has no reader any more, as in "filewise show | head". If a
// signal ends the process instead, it never does.
func ClosedPipe(err error) bool { return is(err, closedPipe) }

// HeldOpen reports whether another program, such as a virus scanner or a backup, has a file open that therefore cannot
// be removed or replaced now.
func HeldOpen(err error) bool { return is(err, heldOpen) }

func is(err error, any []error) bool {
	return slices.ContainsFunc(any, func(e error) bool { return errors.Is(err, e) })
}
