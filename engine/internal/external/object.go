package external

import (
	"filewise"
	"filewise/internal/marker"
	"filewise/internal/process"
)

// Name is the name of an object on a server, and its kind, one of the engine's such as "database".
type Name struct{ Kind, Name string }

// Object describes the object behind a name that only Filewise gives, as the server reports it now.
type Object struct {
	Name
	// Marker is the text at the place of Filewise's marker. If empty, the object has no marker.
	Marker string
	// Empty is true if the object holds nothing at all. Without a marker, this shows that a run was killed before marking
	// it.
	Empty bool
	// Others names contents that Filewise has not made. If empty, there are none.
	Others string
	// Used describes who uses the object: "2 sessions are connected to it". If empty, no one does.
	Used string
	// Young explains why a run may still be making the object. It counts unless the marker shows that the run has ended.
	Young string
	// Offline is true if the object must be brought online before its marker can be read. Until then all that is known is
	// that it is Filewise's.
	Offline bool
	// Stays explains why the object must stay although its marker, or what others have in it, cannot be read. If empty, the
	// marker decides.
	Stays string
}

// verdict holds what a clean-up may do with an object.
type verdict struct {
	leftover filewise.Leftover
	marked   bool // it has the marker, or was about to be marked: it is Filewise's
	busy     bool // the object stays as long as it is used
}

// judge returns the verdict on an object from what the server has just reported.
func (o Object) judge() verdict {
	v := verdict{leftover: filewise.Leftover{Kind: o.Kind, Name: o.Name.Name}}
	life := process.Unknown
	m, err := marker.Parse(o.Name.Name, o.Marker)
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
	} else if v.leftover.Unmarked = o.Marker == "" && o.Empty; !v.leftover.Unmarked {
		return v
	}
	v.marked = true
	v.leftover.Kept, v.busy = o.kept(v.leftover.Owner, life)
	return v
}

// kept returns why the object must stay, or "" if it can go. busy is true if it can go later.
func (o Object) kept(owner string, life process.Status) (why string, busy bool) {
	switch {
	case o.Others != "":
		return "it contains objects that Filewise did not make: " + o.Others, false
	case life == process.Alive:
		return owner + ", which made it, still runs", true
	case o.Used != "":
		return o.Used, true
	case life != process.Dead && o.Young != "":
		return o.Young, true
	}
	return "", false
}
