package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/mark"
	"filewise/internal/process"
)

// The objects under names like Filewise's, with their comments, whether the account
// owns them, and how many sessions of others are on them (or databases, on a tablespace).
// Filewise's own come from looking into a database, and end with the look.
const (
	readDatabases = `
SELECT d.datname::text, coalesce(shobj_description(d.oid, 'pg_database'), ''), pg_has_role(current_user, d.datdba, 'USAGE'), pg_get_userbyid(d.datdba)::text,
       (SELECT count(*) FROM pg_stat_activity a WHERE a.datid = d.oid AND a.usesysid IS NOT NULL AND NOT starts_with(a.application_name, $1))
  FROM pg_database d WHERE d.datname LIKE 'filewise\_%' ORDER BY 1`
	readTablespaces = `
SELECT s.spcname::text, coalesce(shobj_description(s.oid, 'pg_tablespace'), ''), pg_has_role(current_user, s.spcowner, 'USAGE'), pg_get_userbyid(s.spcowner)::text,
       (SELECT count(*) FROM pg_tablespace_databases(s.oid))
  FROM pg_tablespace s WHERE s.spcname LIKE 'filewise\_%' ORDER BY 1`
	// readMakers are sessions that create an object of that name, and will mark it.
	readMakers = `SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'filewise ________ creating %' AND application_name LIKE '%' || $1`
)

// Leftovers lists what runs have left: databases first, then tablespaces, which can
// go only after them.
func (s *foreignServer) Leftovers(ctx context.Context) ([]filewise.Leftover, error) {
	var all []filewise.Leftover
	for _, kind := range []string{kindDatabase, kindTablespace} {
		query, args := readDatabases, []any{appName()}
		if kind == kindTablespace {
			query, args = readTablespaces, nil
		}
		rows, err := s.link.rows(ctx, query, args...)
		if err != nil {
			return nil, failed("looking for what is left", err)
		}
		for _, row := range rows {
			l, ours, err := s.leftover(ctx, kind, row)
			if err != nil {
				return nil, failed("looking for what is left", err)
			}
			if ours {
				all = append(all, l)
			}
		}
	}
	return all, nil
}

// leftover judges one object. What has neither the mark nor a name that only
// Filewise gives, or holds something without a mark, is not ours.
func (s *foreignServer) leftover(ctx context.Context, kind string, row []any) (l filewise.Leftover, ours bool, err error) {
	name, comment := text(row[0]), text(row[1])
	may, _ := row[2].(bool)
	users, _ := row[4].(int64)
	l = filewise.Leftover{Kind: kind, Name: name}
	m, parseErr := mark.Parse(name, comment)
	switch {
	case parseErr == nil:
		l.Owner, l.Created = m.Owner(), m.Created
		if m.Life() == process.Alive {
			l.Kept = fmt.Sprintf("%s, which made it, is running", m.Owner())
		}
	case mark.IsName(name) && comment == "":
		l.Unmarked = true
		empty, err := s.unmarked(ctx, kind, name, may, users, &l)
		if err != nil || !empty {
			return l, false, err
		}
	default:
		return l, false, nil
	}
	switch {
	case l.Kept != "":
	case users > 0 && kind == kindDatabase:
		l.Kept = fmt.Sprintf("%d sessions are connected to it", users)
	case users > 0:
		l.Kept = fmt.Sprintf("%d databases lie in it", users)
	case !may:
		l.Kept = fmt.Sprintf("it belongs to %s, and only that role may drop it", text(row[3]))
	case kind == kindDatabase && !l.Unmarked && !m.Custom:
		l.Kept = s.whyFull(ctx, name)
	}
	return l, true, nil
}

// whyFull is why a marked database stays that somebody else has used.
func (s *foreignServer) whyFull(ctx context.Context, name string) string {
	switch what, err := s.strangers(ctx, name, true); {
	case codeOf(err) == codeNoDatabase: // dropped meanwhile
		return ""
	case err != nil:
		return fmt.Sprintf("it cannot be looked into: %v", err)
	case what != "":
		return holds(what)
	}
	return ""
}

// unmarked tells whether an object without a mark is empty. While the run that
// creates it is at it, it is about to be marked.
func (s *foreignServer) unmarked(ctx context.Context, kind, name string, may bool, users int64, l *filewise.Leftover) (empty bool, err error) {
	var makers int64
	if err := s.link.scan(ctx, readMakers, []any{name}, &makers); err != nil {
		return false, err
	}
	if makers > 0 {
		l.Kept = "a run of Filewise creates it at this moment"
	}
	// A run is not at it any more only once it has marked it: so the mark is looked for
	// again, after that.
	var comment string
	if err := s.link.scan(ctx, readMark(kind), []any{name}, &comment); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			return false, nil // dropped meanwhile
		}
		return false, err
	}
	if comment != "" {
		return false, nil
	}
	if kind == kindTablespace {
		return users == 0, nil
	}
	if !may || users > 0 { // nobody looks into what belongs to others, or is in use
		return false, nil
	}
	what, err := s.strangers(ctx, name, false)
	return what == "" && err == nil, err
}

// Remove drops one leftover, after all has been looked at again.
func (s *foreignServer) Remove(ctx context.Context, l filewise.Leftover) error {
	now, err := s.Leftovers(ctx)
	if err != nil {
		return err
	}
	for _, found := range now {
		switch {
		case found.Kind != l.Kind || found.Name != l.Name:
			continue
		case found.Kept != "":
			return filewise.Errorf(filewise.CodePreflight, "try again when that is over", "%s %s stays: %s", l.Kind, l.Name, found.Kept)
		case found.Unmarked && l.Unmarked:
			return s.dropObject(ctx, l.Kind, l.Name, false)
		case found.Unmarked:
			return filewise.Errorf(filewise.CodePreflight, "look at it yourself", "%s %s has lost its mark since it was listed", l.Kind, l.Name)
		}
		return s.dropMarked(ctx, l.Kind, l.Name)
	}
	return filewise.Errorf(filewise.CodePreflight, "list again what there is", "%s %s does not carry Filewise's mark, or is gone: nothing was done", l.Kind, l.Name)
}
