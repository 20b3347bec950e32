package filewise

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Code classifies an error; cmd/filewise turns it into an exit code.
type Code string

// The codes of errors.
const (
	CodeUsage     Code = "usage"     // a flag, argument or file is wrong
	CodePreflight Code = "preflight" // space, rights, versions do not suffice
	CodeBusy      Code = "busy"      // another measuring run holds this host
	CodeStore     Code = "store"     // the store cannot be read or written
	CodeTrials    Code = "trials"    // a layout could not be measured
	CodeNotFound  Code = "not-found" // no such run
	CodeStopped   Code = "stopped"   // a limit on others' activity, a lost server; resume goes on
	CodeGate      Code = "gate"      // a condition of --fail-if is met
	CodeInternal  Code = "internal"  // anything else
)

// Sentinel errors that layers test for.
var (
	// ErrUnsupported: the engine cannot do it.
	ErrUnsupported = errors.ErrUnsupported
	// ErrCheck: the data is not what the operations should have left.
	ErrCheck = errors.New("the data is not what the operations should have left")
	// ErrSpace: the volume is full. It ends a run: a repeated trial would find no
	// more room, or pass because it happened to be slower.
	ErrSpace = errors.New("the volume is full")
	// ErrConnections: the server takes no more connections, whatever the layout.
	ErrConnections = errors.New("the server takes no more connections")
	// ErrLayout: the build differs from the requested layout.
	ErrLayout = errors.New("the files are not the requested layout")
)

// Error describes what went wrong, and what to do about it. Err holds the text and its cause.
type Error struct {
	Code   Code
	Remedy string
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error of a code; %w wraps the cause.
func Errorf(code Code, remedy, format string, args ...any) *Error {
	return &Error{Code: code, Remedy: remedy, Err: fmt.Errorf(format, args...)}
}

// Unsupported returns the error of what an engine, a server or an account cannot do.
func Unsupported(remedy, format string, args ...any) error {
	return Errorf(CodeUsage, remedy, format+": %w", append(args, ErrUnsupported)...)
}

// TempElsewhere is the remedy of an engine that has no number of temporary files to choose.
const TempElsewhere = "give --engine mariadb or postgres, or --target sqlserver://USER@HOST"

// CodeOf returns the code of the outermost Error in err's chain.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// RemedyOf returns the first remedy in err's chain, or empty.
func RemedyOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Remedy != "" {
			return e.Remedy
		}
		err = e.Err
	}
	return ""
}

// Plain returns an error's text without the sentinel ErrUnsupported, which adds nothing to the text that wraps it.
func Plain(err error) string {
	return strings.ReplaceAll(err.Error(), ": "+ErrUnsupported.Error(), "")
}

// Refusal is a statement that a server refused, as strangers may read it.
type Refusal struct {
	// Statement has ? in the place of literals, and of names that are not in Filewise's own SQL.
	Statement string `json:"statement"`
	Code      string `json:"code"` // the server's, such as 42501; of several errors "3013,3201"
}

type seesRefusals struct{}

// SeeRefusals returns a context under which engines report each statement that their servers refuse.
// see must be safe for concurrent use.
func SeeRefusals(ctx context.Context, see func(Refusal)) context.Context {
	return context.WithValue(ctx, seesRefusals{}, see)
}

// SeesRefusals returns whom engines report refusals to, or nil.
func SeesRefusals(ctx context.Context) func(Refusal) {
	see, _ := ctx.Value(seesRefusals{}).(func(Refusal))
	return see
}

// Class is the kind of failure that an operation of a workload ended in.
type Class string

// The classes of failures.
const (
	ClassDeadlock      Class = "deadlock"      // chosen as the victim; may be tried again
	ClassSerialization Class = "serialization" // could not be ordered with others; may be tried again
	ClassLockTimeout   Class = "lock timeout"
	ClassConnection    Class = "connection" // lost or refused
	ClassConstraint    Class = "constraint"
	ClassDuplicate     Class = "duplicate key" // a unique key has a row already; may be tried again with other values
	ClassSpace         Class = "space"
	// ClassMistake: the SQL itself is wrong, or its account may not do it: it would
	// fail again in the same way.
	ClassMistake Class = "mistake"
	ClassOther   Class = "other"
)

// Passes reports whether a batch that failed with the class may be loaded when it is tried again.
func (c Class) Passes() bool {
	return c == ClassConnection || c == ClassDeadlock || c == ClassSerialization
}

// Classed is an error of an operation with its class.
type Classed struct {
	Class Class
	Err   error
}

func (c *Classed) Error() string { return c.Err.Error() }
func (c *Classed) Unwrap() error { return c.Err }

// Unvaried is the failure of a CustomSQL statement whose values do not vary by chance: tried again, it would violate
// the same constraint again.
type Unvaried struct{ Err error }

func (u *Unvaried) Error() string { return u.Err.Error() }
func (u *Unvaried) Unwrap() error { return u.Err }

// ClassOf returns the class of the outermost Classed in err's chain; ClassSpace for ErrSpace, ClassOther for an error
// without a class.
func ClassOf(err error) Class {
	var c *Classed
	switch {
	case errors.As(err, &c):
		return c.Class
	case errors.Is(err, ErrSpace):
		return ClassSpace
	}
	return ClassOther
}
