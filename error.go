package filewise

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Code classifies an error. cmd/filewise turns it into an exit code.
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
	// ErrUnsupported means that the engine cannot do it.
	ErrUnsupported = errors.ErrUnsupported
	// ErrCheck means that the data differ from what the operations should have left.
	ErrCheck = errors.New("the data is not what the operations should have left")
	// ErrSpace means that the volume is full. It ends a run: a repeated trial would find no more space, or pass by being
	// slower.
	ErrSpace = errors.New("the volume is full")
	// ErrVolume means that a server cannot use the directory of a volume. It ends a run, as ErrSpace does.
	ErrVolume = errors.New("the server cannot use the directory")
	// ErrConnections means that the server takes no more connections, whatever the layout.
	ErrConnections = errors.New("the server takes no more connections")
	// ErrLayout means that the build differs from the requested layout.
	ErrLayout = errors.New("the files are not the requested layout")
)

// Error describes what went wrong and what to do about it. Err holds the text and the cause.
type Error struct {
	Code   Code
	Remedy string
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error with a code and a remedy. A %w in the format wraps the cause.
func Errorf(code Code, remedy, format string, args ...any) *Error {
	return &Error{Code: code, Remedy: remedy, Err: fmt.Errorf(format, args...)}
}

// Unsupported returns the error for what an engine, a server or an account cannot do.
func Unsupported(remedy, format string, args ...any) error {
	return Errorf(CodeUsage, remedy, format+": %w", append(args, ErrUnsupported)...)
}

// TempElsewhere is the remedy for an engine whose number of temporary files cannot be chosen.
const TempElsewhere = "give --engine mariadb or postgres, or --target sqlserver://USER@HOST"

// CodeOf returns the code of the outermost Error in err's chain.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// RemedyOf returns the first remedy in err's chain, or an empty text.
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

// Plain returns an error's text without the text of ErrUnsupported, which adds nothing.
func Plain(err error) string {
	return strings.ReplaceAll(err.Error(), ": "+ErrUnsupported.Error(), "")
}

// Refusal describes a statement that a server refused, in a form that strangers may read.
type Refusal struct {
	// Statement holds the statement with ? for literals, and for names that are not in Filewise's own SQL.
	Statement string `json:"statement"`
	Code      string `json:"code"` // the server's code, such as 42501, or several: "3013,3201"
}

type seesRefusals struct{}

// SeeRefusals returns a context under which engines pass to see each statement that their servers refuse. see must be
// safe for concurrent use.
func SeeRefusals(ctx context.Context, see func(Refusal)) context.Context {
	return context.WithValue(ctx, seesRefusals{}, see)
}

// SeesRefusals returns the function that engines pass refusals to, or nil.
func SeesRefusals(ctx context.Context) func(Refusal) {
	see, _ := ctx.Value(seesRefusals{}).(func(Refusal))
	return see
}

// Class classifies the failure of a workload's operation.
type Class string

// The classes of failures.
const (
	ClassDeadlock      Class = "deadlock"      // chosen as the victim; may be tried again
	ClassSerialization Class = "serialization" // could not be ordered with others; may be tried again
	ClassLockTimeout   Class = "lock timeout"
	ClassConnection    Class = "connection" // lost or refused
	ClassConstraint    Class = "constraint"
	ClassDuplicate     Class = "duplicate key" // a row with this unique key exists; may be tried again with other values
	ClassSpace         Class = "space"
	// ClassMistake means that the SQL itself is wrong, or its account may not execute it. It would fail again in the same
	// way.
	ClassMistake Class = "mistake"
	ClassOther   Class = "other"
)

// Passes reports whether a batch that failed with this class may succeed if it is loaded again.
func (c Class) Passes() bool {
	return c == ClassConnection || c == ClassDeadlock || c == ClassSerialization
}

// Classed is an operation's error with its class.
type Classed struct {
	Class Class
	Err   error
}

func (c *Classed) Error() string { return c.Err.Error() }
func (c *Classed) Unwrap() error { return c.Err }

// Unvaried is the failure of a CustomSQL statement without values drawn by chance: tried again, it would violate the
// same constraint.
type Unvaried struct{ Err error }

func (u *Unvaried) Error() string { return u.Err.Error() }
func (u *Unvaried) Unwrap() error { return u.Err }

// ClassOf returns the class of the outermost Classed in err's chain. Without one, it returns ClassSpace for ErrSpace,
// and ClassOther otherwise.
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
