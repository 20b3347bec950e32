package run

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/host/hostlock"
	"filewise/host/scratch"
	"filewise/internal/process"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/watch/web"
)

// Measured is a run in progress, with the process that measures it.
type Measured struct {
	Run   int64 // 0 if not stored yet, or stored in another store
	Owner process.Identity
	// Prove returns nil if the kernel confirms that process pid measures the run.
	Prove func(pid int) error
}

func (m Measured) String() string {
	if m.Run == 0 {
		return fmt.Sprintf("the run of %v", m.Owner)
	}
	return fmt.Sprintf("run %d (%v)", m.Run, m.Owner)
}

// Stop asks the run to end cleanly, and waits until its process has ended. Its error comes from process.Identity.Ask.
func (m Measured) Stop(ctx context.Context, patience time.Duration) error {
	return m.Owner.Ask(ctx, patience, m.Prove, func(ctx context.Context) error {
		state, err := scratch.StateDir()
		if err != nil {
			return err
		}
		return web.Ask(ctx, Sockets(state), m.Owner.PID, web.ActionStop)
	})
}

// stored returns the measurement of a run in the store at path.
func stored(path string, id int64, owner process.Identity) Measured {
	return Measured{id, owner, func(pid int) error { return store.RunBy(path, id, pid) }}
}

// Measuring finds the named run in progress. If ref is empty, it finds the run in progress of this store. A run of another store or user
// is refused, and the error names it.
func Measuring(ctx context.Context, path, ref string) (Measured, error) {
	if ref != "" {
		s, err := archive.Load(ctx, path, ref)
		if err != nil {
			return Measured{}, err
		}
		if s.State != store.Running {
			return Measured{}, filewise.Errorf(filewise.CodeNotFound, "filewise list shows the runs", "run %d is not being measured: it is %s",
				s.ID, s.State)
		}
		return stored(path, s.ID, s.Owner), nil
	}
	holder, held, err := hostlock.Current(ctx)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return Measured{}, err
	}
	running, elsewhere, err := running(ctx, path)
	if err != nil {
		return Measured{}, err
	}
	for _, r := range running {
		if len(running) == 1 || held && r.Owner.PID == holder.PID {
			return r, nil
		}
	}
	switch {
	case len(running) == 0 && (!held || holder.PID <= 0) && len(elsewhere) > 0:
		return elsewhere[0], nil // it cannot be stopped from here, as its error states
	case held && holder.PID <= 0: // the kernel cannot confirm the number here
		return Measured{}, filewise.Errorf(filewise.CodeBusy, "stop it there", "what is measured on this host is measured in another container")
	case len(running) > 1:
		names := filewise.Each(running, func(m Measured) string { return fmt.Sprint(m.Run) })
		return Measured{}, filewise.Errorf(filewise.CodeUsage, "name one: "+strings.Join(names, ", "), "%d runs are being measured", len(running))
	case !held:
		return Measured{}, filewise.Errorf(filewise.CodeNotFound, "filewise list shows the runs", "nothing is being measured on this host")
	case !ours(holder, whole(path)):
		return Measured{}, filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("if you mean that one: filewise stop --pid %d", holder.PID),
			"what is measured on this host is not of this store (%s): %v%s", whole(path), holder, in(holder))
	}
	return Holding(ctx, holder.PID)
}

// ours reports whether the holder is this user and stores into this file. Its run may not be stored yet.
func ours(h hostlock.Holder, path string) bool {
	u, err := user.Current()
	return err == nil && h.User == u.Username && h.Store != "" && h.Store == path
}

func in(h hostlock.Holder) string {
	if h.Store == "" {
		return ""
	}
	return ", in " + filewise.Printable(h.Store)
}

// Holding returns the measurement of process pid, which may be any user's.
func Holding(ctx context.Context, pid int) (Measured, error) {
	holder, held, err := hostlock.Current(ctx)
	if err != nil {
		return Measured{}, err
	}
	id, err := process.Of(pid)
	if !held || holder.PID != pid || err != nil {
		remedy := "filewise list shows the runs"
		if held {
			remedy = fmt.Sprintf("%v measures", holder)
		}
		return Measured{}, filewise.Errorf(filewise.CodeNotFound, remedy, "process %d measures nothing on this host", pid)
	}
	return Measured{0, id, hostlock.Holds}, nil
}

// whole returns the full path of a store. It is empty if there is no place for a store.
func whole(path string) string {
	full, err := store.FullPath(path)
	if err != nil {
		return ""
	}
	return full
}

// running returns the store's runs in progress in here, and in elsewhere the runs whose processes cannot be seen from
// this machine or container.
func running(ctx context.Context, path string) (here, elsewhere []Measured, err error) {
	infos, err := archive.List(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	for _, info := range infos {
		if info.State != store.Running {
			continue
		}
		s, err := archive.Load(ctx, path, strconv.FormatInt(info.ID, 10))
		if err != nil {
			return nil, nil, err
		}
		switch m := stored(path, info.ID, s.Owner); {
		case s.State != store.Running:
		case s.Owner.Status() == process.Alive:
			here = append(here, m)
		default:
			elsewhere = append(elsewhere, m)
		}
	}
	return here, elsewhere, nil
}
