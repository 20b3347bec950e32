package sqlserver

import (
	"context"
	"database/sql"
	"fmt"

	"filewise"
	"filewise/engine/internal/mark"
	"filewise/internal/process"
)

// young is an age in minutes below which a database may still be being made: it
// is marked in the batch that creates it, but its keeper's lock comes later.
const young = 10

// Leftovers lists the databases that carry the mark, and those that were about to
// get it. Everything else that has a name of ours is left alone, and not listed.
func (s *externalServer) Leftovers(ctx context.Context) ([]filewise.Leftover, error) {
	text, err := fixed("leftovers", nil)
	if err != nil {
		return nil, err
	}
	rows, err := query(ctx, s.control, text)
	if err != nil {
		return nil, s.login.explain(fmt.Errorf("leftovers: %w", err))
	}
	var all []filewise.Leftover
	for _, r := range rows {
		if !mark.IsName(r.text("name")) {
			continue
		}
		if l, _, ours := s.look(ctx, r); ours {
			all = append(all, l)
		}
	}
	return all, nil
}

// look examines one database; ours is false when it is not Filewise's to remove.
// The text is the mark that it carries.
func (s *externalServer) look(ctx context.Context, r row) (l filewise.Leftover, text string, ours bool) {
	name := r.text("name")
	l = filewise.Leftover{Kind: "database", Name: name}
	switch {
	case r.text("state") != "ONLINE":
		l.Kept = fmt.Sprintf("it is %s, so its mark cannot be read; if no restore is under way: DROP DATABASE %s", r.text("state"), ident(name))
		return l, "", true
	case !r.yes("access"):
		l.Kept = "this account cannot open it: use the one that made it"
		return l, "", true
	}
	var found row
	err := s.within(name, func(db *sql.DB) (err error) {
		found, err = ask(ctx, db, "look", nil)
		return err
	})
	if err != nil {
		l.Kept = fmt.Sprintf("it cannot be looked at: %v", s.login.explain(err))
		return l, "", true
	}
	return judge(l, found)
}

// judge decides by what stands in the database.
func judge(l filewise.Leftover, found row) (_ filewise.Leftover, text string, ours bool) {
	text = found.text("mark")
	life := process.Unknown
	if text == "" {
		objects, ok := found.number("objects")
		if !ok || objects != 0 {
			return l, "", false
		}
		l.Unmarked = true
	} else {
		m, err := mark.Parse(l.Name, text)
		if err != nil {
			return l, "", false
		}
		l.Owner, l.Created = m.Owner(), m.Created
		life = m.Life()
	}
	sessions, _ := found.number("sessions")
	result, locked := found.number("result")
	age, aged := found.number("age")
	strangers, counted := found.number("strangers")
	switch {
	case !counted || strangers > 0:
		l.Kept = "it holds what Filewise has not made"
		if strangers > 0 {
			l.Kept += fmt.Sprintf(": %s, %d in all", found.text("stranger"), strangers)
		}
	case life == process.Alive:
		l.Kept = l.Owner + " still runs"
	case !locked || result < 0:
		l.Kept = "a run keeps it"
	case sessions > 0:
		l.Kept = fmt.Sprintf("%d sessions are connected to it", sessions)
	case life != process.Dead && (!aged || age < young):
		l.Kept = fmt.Sprintf("it is less than %d minutes old: a run may be making it", young)
	}
	return l, text, true
}

// Remove drops a leftover, after looking at it again. The batch that drops it
// reads the mark once more.
func (s *externalServer) Remove(ctx context.Context, l filewise.Leftover) error {
	refuse := func(why string) error {
		return filewise.Errorf(filewise.CodePreflight, "list what is left again", "database %s is not removed: %s", l.Name, why)
	}
	if l.Kind != "database" || !mark.IsName(l.Name) {
		return refuse("Filewise does not make such names")
	}
	now, text, ours := s.look(ctx, row{"name": l.Name, "state": "ONLINE", "access": int64(1)})
	switch {
	case !ours:
		return refuse("it does not carry Filewise's mark")
	case now.Kept != "":
		return refuse(now.Kept)
	case now.Unmarked != l.Unmarked:
		return refuse("its mark has changed since it was listed")
	}
	return s.drop(ctx, l.Name, text)
}
