package run

import (
	"filewise"
	"filewise/internal/process"
)

// stopped returns a function that reports whether a process of the server is stopped. It returns nil if the processes
// cannot be seen from here.
func (env *Environment) stopped() func() bool {
	switch t := env.Target; {
	case t.Mode == filewise.Managed:
		return process.ChildStopped
	case t.Mode == filewise.External && t.Address != nil && t.Address.Here() && t.Address.Port != 0:
		return func() bool { return process.StoppedAt(t.Address.Port) }
	}
	return nil
}
