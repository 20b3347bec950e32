package run

import (
	"fmt"

	"filewise"
	"filewise/host/scratch"
	"filewise/lab/experiment"
	"filewise/results/archive"
)

// A store is a file like any other: another user may have written it, or added a run to it. So the addresses of a run
// that this user measures on this host are sealed. Filewise connects again only to sealed addresses, unless the user
// names them.

// Imported refuses to connect to the addresses in an imported run.
func Imported(r archive.Run) error {
	return filewise.Errorf(filewise.CodeUsage,
		fmt.Sprintf("repeat it here, on a server that you name: filewise show %d has the command", r.ID),
		"run %d was measured by %s and imported: Filewise connects to no address that a bundle names", r.ID, r.Origin.Where())
}

// MayConnect refuses to connect to a run's stored addresses unless this user has stored them on this host. If named is
// set, the user has named the server, which suffices unless the run was imported.
func MayConnect(r archive.Run, named bool) error {
	switch t := r.Plan.Target; {
	case r.Origin != nil:
		return Imported(r)
	case t.Mode != filewise.External && r.Plan.Origin() == nil || named || Sealed(r):
		return nil
	case r.Plan.Origin() != nil:
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("start it again: filewise show %d has the command", r.ID),
			"run %d copies %s, an address that this user has not stored on this host", r.ID, r.Plan.Origin())
	default:
		return filewise.Errorf(filewise.CodeUsage, "if that is your server, name it: --target "+t.Address.String(),
			"run %d is on %s, an address that this user has not stored on this host", r.ID, t.Address)
	}
}

// Sealed reports whether this user has stored the run's addresses on this host.
func Sealed(r archive.Run) bool {
	key, err := userKey()
	return err == nil && key.Is(r.Seal, addresses(r.Plan)...)
}

// sealOf returns the seal of a plan's addresses. It is empty if the plan has none, or if no key can be stored.
// Such a run must be given its server again.
func sealOf(p experiment.Plan) string {
	if p.Target.Mode != filewise.External && p.Origin() == nil && len(p.Notify) == 0 {
		return ""
	}
	key, err := userKey()
	if err != nil {
		return ""
	}
	s, _ := key.Of(addresses(p)...)
	return s
}

func userKey() (sealKey, error) {
	dir, err := scratch.StateDir()
	return sealKeyIn(dir), err
}

// addresses returns everything that a plan connects to.
func addresses(p experiment.Plan) []any {
	out := []any{"addresses", p.Target.Engine, string(p.Target.Mode), p.Target.Database}
	for _, a := range []*filewise.Address{p.Target.Address, p.Origin()} {
		text := ""
		if a != nil {
			text = a.String()
		}
		out = append(out, text)
	}
	for _, url := range p.Notify {
		out = append(out, url)
	}
	return out
}
