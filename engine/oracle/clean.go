package oracle

import (
	"context"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/internal/mark"
	"filewise/internal/process"
)

// The kinds of leftovers.
const (
	kindTablespace = "tablespace"
	kindProgram    = "program"
)

// Leftovers lists the tablespaces that carry the mark or were about to be marked,
// those of other accounts and those with something foreign in them as kept, and
// programs whose tablespace is gone.
func (s *server) Leftovers(ctx context.Context) ([]filewise.Leftover, error) {
	return leftovers(ctx, s.marks)
}

func leftovers(ctx context.Context, m marks) ([]filewise.Leftover, error) {
	sessions, err := announced(ctx, m)
	if err != nil {
		return nil, err
	}
	there, err := rows(ctx, m, 1, "tablespaces", nil, strings.ToUpper(mark.Prefix)+"%")
	if err != nil {
		return nil, err
	}
	var all []filewise.Leftover
	known := map[string]bool{}
	for _, r := range there {
		name := text(r[0])
		if !mark.IsName(name) || name != strings.ToUpper(name) {
			continue // a user's, however much it looks like ours
		}
		known[name] = true
		l, err := m.leftover(ctx, name, sessions)
		if err != nil {
			return nil, err
		}
		if l.Name != "" {
			all = append(all, l)
		}
	}
	programs, err := rows(ctx, m, 2, "programs", nil, strings.ToUpper(mark.Prefix)+"%")
	if err != nil {
		return nil, err
	}
	for _, r := range programs {
		if build := buildOfProgram(text(r[1])); build != "" && !known[build] {
			all = append(all, filewise.Leftover{Kind: kindProgram, Name: text(r[1]), Owner: m.account,
				Kept: "its tablespace, which had the mark, is gone; if nobody needs it: DROP " + text(r[0]) + " \"" + text(r[1]) + "\""})
		}
	}
	return all, nil
}

// leftover is what a tablespace is to the user; no name: it is gone meanwhile.
func (m marks) leftover(ctx context.Context, name string, sessions []announcement) (filewise.Leftover, error) {
	s, err := m.look(ctx, name)
	if err != nil || !s.exists {
		return filewise.Leftover{}, err
	}
	l := filewise.Leftover{Kind: kindTablespace, Name: name, Unmarked: s.unmarked}
	if s.marked {
		l.Owner, l.Created = s.mark.Owner(), s.mark.Created
	}
	l.Kept = s.kept(name, sessions)
	return l, nil
}

// kept is why a tablespace stays; empty: it may go.
func (s state) kept(name string, sessions []announcement) string {
	for _, a := range sessions {
		if a.action == name || strings.Contains(a.info, name) { // the index tablespace of a build is in the info
			return fmt.Sprintf("session %s of Filewise uses it", a.sid)
		}
	}
	switch {
	case s.foreign != "":
		return fmt.Sprintf("it holds %s, which is not this account's or not Filewise's", s.foreign)
	case !s.ours():
		return "it does not carry Filewise's mark"
	case s.marked && s.mark.Life() == process.Alive:
		return "the run that made it, " + s.mark.Owner() + ", is going on"
	}
	return ""
}

// Remove drops one leftover. What it is is asked of the server again before.
func (s *server) Remove(ctx context.Context, l filewise.Leftover) error {
	return remove(ctx, s.marks, l)
}

func remove(ctx context.Context, m marks, l filewise.Leftover) error {
	if l.Kind != kindTablespace || !mark.IsName(l.Name) {
		return filewise.Errorf(filewise.CodePreflight, "", "%s %s is not for Filewise to remove", l.Kind, l.Name)
	}
	sessions, err := announced(ctx, m)
	if err != nil {
		return err
	}
	s, err := m.look(ctx, l.Name)
	if err != nil {
		return err
	}
	if !s.exists {
		return s.why(l.Name)
	}
	if why := s.kept(l.Name, sessions); why != "" {
		return filewise.Errorf(filewise.CodePreflight, "look at what is in it; Filewise leaves it alone", "tablespace %s stays: %s", l.Name, why)
	}
	return m.dropBuild(ctx, l.Name)
}
