package external

import (
	"context"
	"errors"
	"fmt"

	"filewise"
	"filewise/engine/internal/mark"
	"filewise/internal/process"
)

const kindDatabase = "database"

// Leftovers lists the databases that carry the mark, or that a run was killed
// before marking.
func (s *server) Leftovers(ctx context.Context) ([]filewise.Leftover, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE ? ORDER BY SCHEMA_NAME", escapeLike(mark.Prefix)+"%")
	if err != nil {
		return nil, s.explain(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, s.explain(err)
		}
		if mark.IsName(name) {
			names = append(names, name)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, s.explain(err)
	}
	var all []filewise.Leftover
	for _, name := range names {
		st, err := s.look(ctx, s.db, name)
		if err != nil {
			return nil, s.explain(err)
		}
		if !st.marked && !st.unmarked(s.dialect) {
			continue // not ours, whatever its name is
		}
		l := filewise.Leftover{Kind: kindDatabase, Name: name, Unmarked: !st.marked}
		if st.marked {
			l.Owner, l.Created = st.mark.Owner(), st.mark.Created
		}
		if l.Kept, err = s.kept(ctx, name, st); err != nil {
			return nil, s.explain(err)
		}
		all = append(all, l)
	}
	return all, nil
}

// kept says why a database must stay: its run lives, on whatever host, or a
// session works in it. A living run holds the lock of the database's name from
// before its creation until after its drop.
func (s *server) kept(ctx context.Context, name string, st state) (string, error) {
	var used int
	if err := s.db.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?) IS NOT NULL", name).Scan(&used); err != nil {
		return "", err
	}
	if used != 0 {
		return "its run is connected to the server", nil
	}
	return s.keptBesides(ctx, name, st)
}

// keptBesides is kept without the lock.
func (s *server) keptBesides(ctx context.Context, name string, st state) (string, error) {
	if st.marked && st.mark.Life() == process.Alive {
		return "its run, " + st.mark.Owner() + ", lives", nil
	}
	if strangers := st.strangers(); len(strangers) > 0 {
		return "it holds what Filewise has not made: " + strangers[0], nil
	}
	var sessions int
	if err := s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = ?", name).Scan(&sessions); err != nil {
		return "", err
	}
	if sessions > 0 {
		return fmt.Sprintf("%d sessions use it", sessions), nil
	}
	return "", nil
}

// Remove drops a leftover, once nothing uses it and its mark is read again.
func (s *server) Remove(ctx context.Context, l filewise.Leftover) error {
	if l.Kind != kindDatabase || !mark.IsName(l.Name) {
		return filewise.Errorf(filewise.CodeInternal, "", "%s %q is no leftover of Filewise on %s", l.Kind, l.Name, s.dialect.Product)
	}
	inUse := func(why string) error {
		return filewise.Errorf(filewise.CodeBusy, "end what uses it first", "database %s stays: %s", l.Name, why)
	}
	h, err := s.hold(ctx, l.Name)
	if errors.Is(err, errTaken) {
		return inUse("its run is connected to the server")
	}
	if err != nil {
		return s.explain(err)
	}
	// From here on no run can be connected to it; the lock is this connection's.
	defer func() { _ = h.release() }() // one that is lost was the server's to release
	st, err := s.look(ctx, s.db, l.Name)
	if err != nil {
		return s.explain(err)
	}
	why, err := s.keptBesides(ctx, l.Name, st)
	if err != nil {
		return s.explain(err)
	}
	if why != "" {
		return inUse(why)
	}
	return s.remove(ctx, l.Name)
}
