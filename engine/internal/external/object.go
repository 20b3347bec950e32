package external

import (
	"filewise"
	"filewise/internal/mark"
	"filewise/internal/process"
)

// Name is a name on a server, of one of the engine's kinds: "database".
type Name struct{ Kind, Name string }

// Object holds what stands under a name that only Filewise gives, as the server reports it
// at this moment.
type Object struct {
	Name
	// Mark is the text in the mark's place. If empty, there is none.
	Mark string
	// Empty: it holds nothing at all. Without a mark, a run was killed before marking it.
	Empty bool
	// Others names what it holds that Filewise has not made. Empty means nothing.
	Others string
	// Used reports by whom it is used: "2 sessions are connected to it". Empty means by no one.
	Used string
	// Young states that a run may be making it; it counts if the mark does not report
	// that the run has ended.
	Young string
	// Offline: it has to be brought back before its mark can be read, and all that can be reported until then
	// states that it is Filewise's.
	Offline bool
	// Stays explains why it must stay although its mark, or what others have in it, cannot be
	// read. Empty means the mark reports whose it is.
	Stays string
}

// verdict holds what becomes of an object.
type verdict struct {
	leftover filewise.Leftover
	marked   bool // or about to be marked: Filewise's
	busy     bool // it is kept for as long as it is used
}

// judge decides by what the server has just stated.
func (o Object) judge() verdict {
	v := verdict{leftover: filewise.Leftover{Kind: o.Kind, Name: o.Name.Name}}
	life := process.Unknown
	m, err := mark.Parse(o.Name.Name, o.Mark)
	if err == nil {
		v.leftover.Owner, v.leftover.Created, life = m.Owner(), m.Created, m.Life()
	}
	if v.leftover.Offline = o.Offline; o.Offline {
		v.marked = true
		return v
	}
	if o.Stays != "" {
		v.leftover.Kept, v.marked = o.Stays, true
		return v
	}
	if err == nil {
		v.marked = true
	} else if v.leftover.Unmarked = o.Mark == "" && o.Empty; !v.leftover.Unmarked {
		return v
	}
	v.marked = true
	v.leftover.Kept, v.busy = o.kept(v.leftover.Owner, life)
	return v
}

// kept returns why it must stay. If empty, it can go.
func (o Object) kept(owner string, life process.Status) (why string, busy bool) {
	switch {
	case o.Others != "":
		return "it holds what Filewise has not made: " + o.Others, false
	case life == process.Alive:
		return owner + ", which made it, still runs", true
	case o.Used != "":
		return o.Used, true
	case life != process.Dead && o.Young != "":
		return o.Young, true
	}
	return "", false
}
