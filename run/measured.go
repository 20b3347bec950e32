package run

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filewise"
	"filewise/archive"
	"filewise/hostlock"
	"filewise/internal/process"
	"filewise/store"
)

// Measured is a run with the process that measures it.
type Measured struct {
	Run   int64 // 0: of another store
	Owner process.Identity
}

func (m Measured) String() string {
	if m.Run == 0 {
		return fmt.Sprintf("the run of process %d", m.Owner.PID)
	}
	return fmt.Sprintf("run %d (process %d)", m.Run, m.Owner.PID)
}

// Measuring finds the run that is being measured: the one that ref names, the one of the
// store that runs, or the one that holds this host's measuring lock.
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
		return Measured{s.ID, s.Owner}, nil
	}
	holder, held, err := hostlock.Current(ctx)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return Measured{}, err
	}
	running, err := running(ctx, path)
	if err != nil {
		return Measured{}, err
	}
	for _, r := range running {
		if len(running) == 1 || held && r.Owner.PID == holder.PID {
			return r, nil
		}
	}
	switch {
	case len(running) > 1:
		names := filewise.Each(running, func(m Measured) string { return fmt.Sprint(m.Run) })
		return Measured{}, filewise.Errorf(filewise.CodeUsage, "name one: "+strings.Join(names, ", "), "%d runs are being measured", len(running))
	case !held:
		return Measured{}, filewise.Errorf(filewise.CodeNotFound, "filewise list shows the runs", "nothing is being measured on this host")
	}
	id, err := process.Of(holder.PID)
	if err != nil {
		return Measured{}, filewise.Errorf(filewise.CodeNotFound, "try again", "process %d, which measured, cannot be found: %w", holder.PID, err)
	}
	// The number may just have been given to another process.
	if again, held, err := hostlock.Current(ctx); err != nil || !held || again.PID != holder.PID {
		return Measured{}, errors.Join(filewise.Errorf(filewise.CodeNotFound, "filewise list shows the runs", "the run has just ended"), err)
	}
	return Measured{0, id}, nil
}

// running are the runs of the store that are being measured.
func running(ctx context.Context, path string) (out []Measured, err error) {
	infos, err := archive.List(ctx, path)
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		if info.State != store.Running {
			continue
		}
		s, err := archive.Load(ctx, path, strconv.FormatInt(info.ID, 10))
		if err != nil {
			return nil, err
		}
		if s.State == store.Running && s.Owner.Status() == process.Alive {
			out = append(out, Measured{info.ID, s.Owner})
		}
	}
	return out, nil
}
