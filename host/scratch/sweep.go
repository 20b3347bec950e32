package scratch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"time"

	"filewise/internal/filesystem"
	"filewise/internal/process"
)

// patience limits the time that an orphaned server may take to end after SIGTERM, and after SIGKILL. The server holds nothing
// worth keeping, so it need not end cleanly.
const patience = 2 * time.Second

// Leftover describes files that a dead Filewise has left, or a registration that cannot be acted on.
type Leftover struct {
	ID      string    `json:"id"`
	Path    string    `json:"path,omitempty"` // of the directory. Empty if the registration is unreadable
	Label   string    `json:"label,omitempty"`
	Created time.Time `json:"created,omitzero"`
	Owner   int       `json:"owner,omitempty"` // PID of the owner
	// Processes lists the PIDs of the directory's servers that run, or that Sweep has ended.
	Processes []int `json:"processes,omitempty"`
	// Removed is set if Sweep removed the registration, and the directory if it existed.
	Removed bool `json:"removed"`
	// Kept is the reason why the leftover stays, and what to do. It is empty if the leftover is removed or removable.
	Kept string `json:"kept,omitempty"`
}

// Leftovers lists what a sweep would remove, and what it would keep and why. It alters nothing. Directories of running
// Filewise processes are not listed.
func (r *Registry) Leftovers(ctx context.Context) ([]Leftover, error) {
	ids, _, err := r.ids()
	if err != nil {
		return nil, err
	}
	return r.each(ctx, ids, func(l *Leftover, e entry) error {
		o, err := open(e)
		if o != nil {
			o.close()
		}
		return err
	})
}

// Sweep ends the orphaned servers of dead owners, and removes the owners' directories and registrations. What it keeps
// is listed with the reason, and is no error. Several sweeps may run at once.
func (r *Registry) Sweep(ctx context.Context) ([]Leftover, error) {
	ids, rests, err := r.ids()
	if err != nil {
		return nil, err
	}
	for _, rest := range rests {
		_ = os.Remove(rest) // nothing depends on the file; the next sweep tries again
	}
	return r.each(ctx, ids, func(l *Leftover, e entry) error {
		here, err := process.Self()
		if err != nil {
			return err
		}
		for _, server := range e.Processes {
			// The kernel ends servers with their owner, which is dead. So a server of another container, which cannot be seen
			// from here, has ended too.
			if server.Space != here.Space {
				continue
			}
			if err := server.End(ctx, e.path(), patience); err != nil {
				return err
			}
		}
		if err := removeMarked(e); err != nil {
			return err
		}
		if err := r.forget(e.ID); err != nil {
			return err
		}
		l.Removed = true
		return nil
	})
}

// each calls act for every ID whose owner is dead. act returns the reason to keep the directory, if there is one.
func (r *Registry) each(ctx context.Context, ids []string, act func(*Leftover, entry) error) ([]Leftover, error) {
	var all []Leftover
	silent := r.silent(ids)
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		if e, ok := silent[id]; ok {
			all = append(all, Leftover{ID: id, Path: e.path(), Label: e.Label, Created: e.Created, Owner: e.Owner.PID,
				Kept: fmt.Sprintf("its volume, %s, does not answer: once it does, or is unmounted, run \"filewise clean\"", e.Volume)})
			continue
		}
		if l, ok := r.one(id, act); ok {
			all = append(all, l)
		}
	}
	return all, nil
}

// look reads a registration's directory, which hangs if the volume does not answer.
func look(e entry) {
	if o, _ := open(e); o != nil {
		o.close()
	}
}

// silent returns the registrations of volumes that do not answer.
func (r *Registry) silent(ids []string) map[string]entry {
	ask := r.ask
	if ask == nil {
		ask = look
	}
	of := make(map[string]entry)
	volumes := make(map[string]func())
	for _, id := range ids {
		e, err := r.read(id)
		if err != nil {
			continue
		}
		of[id] = e
		if volumes[e.Volume] == nil {
			volumes[e.Volume] = func() { ask(e) }
		}
	}
	left := filesystem.Silent(volumes)
	maps.DeleteFunc(of, func(_ string, e entry) bool { return !left[e.Volume] })
	return of
}

// one handles one registration. It returns false if the registration is not to be handled.
func (r *Registry) one(id string, act func(*Leftover, entry) error) (Leftover, bool) {
	e, err := r.read(id)
	switch {
	case errors.Is(err, fs.ErrNotExist): // its owner or another sweep removed it
		return Leftover{}, false
	case err != nil:
		return Leftover{ID: id, Kept: fmt.Sprintf("its registration is not usable: %v; look at %s, and delete that file", err, r.file(id))}, true
	}
	l := Leftover{ID: id, Path: e.path(), Label: e.Label, Created: e.Created, Owner: e.Owner.PID}
	switch e.life() {
	case process.Alive:
		return Leftover{}, false
	case process.Unknown:
		err = fmt.Errorf("%v may still run, on another machine or in another container; if not, delete the directory and %s", e.Owner,
			r.file(id))
	case process.Dead:
		for _, p := range running(e.Processes) {
			l.Processes = append(l.Processes, p.PID)
		}
		err = act(&l, e)
	}
	if err != nil {
		l.Kept = err.Error()
	}
	return l, true
}

// read reads a registration, and refuses one that this user did not write.
func (r *Registry) read(id string) (entry, error) {
	f, err := filesystem.OpenItself(r.file(id))
	if err != nil {
		return entry{}, err
	}
	defer f.Close()
	who, err := filesystem.Stranger(f)
	if err != nil {
		return entry{}, err
	}
	if who != "" {
		return entry{}, fmt.Errorf("it belongs to another user (%s)", who)
	}
	b, err := readRegular(f)
	if err != nil {
		return entry{}, err
	}
	return parseEntry(b, id)
}
