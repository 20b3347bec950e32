package filewise

import "errors"

// Class states what kind of failure an operation of a workload ended in.
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

// Unvaried is the failure of a statement of CustomSQL in whose values there is no chance: a
// constraint that it violates it would violate again.
type Unvaried struct{ Err error }

func (u *Unvaried) Error() string { return u.Err.Error() }
func (u *Unvaried) Unwrap() error { return u.Err }

// ClassOf is the class of the outermost Classed in err's chain; ClassSpace for
// ErrSpace, ClassOther for what has none.
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
