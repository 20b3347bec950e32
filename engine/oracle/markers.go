package oracle

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/oracle/dialect"
	"filewise/internal/marker"
)

// state describes a tablespace with one of Filewise's names.
type state struct {
	marker   marker.Marker
	marked   bool
	unmarked bool   // about to be marked: empty except for the marker table
	others   string // contents that are not Filewise's; "" if none
	online   bool
	exists   bool
}

// removable reports whether the tablespace can be altered or dropped.
func (s state) removable() bool { return s.exists && s.others == "" && (s.marked || s.unmarked) }

func (s state) why(name string) error {
	remedy := "check what is in it; Filewise leaves it alone"
	switch {
	case !s.exists:
		return filewise.Errorf(filewise.CodeNotFound, "", "there is no tablespace %s", name)
	case s.others != "":
		return filewise.Errorf(filewise.CodePreflight, remedy, "tablespace %s holds something that is not Filewise's: %s", name, s.others)
	}
	return filewise.Errorf(filewise.CodePreflight, remedy, "tablespace %s does not carry Filewise's marker", name)
}

// markers reads the markers on one server and acts on them, as one account.
type markers struct {
	client
	account string
}

// read returns the marker of a tablespace: the comment of the table with the same name in the account's schema.
func (m markers) read(ctx context.Context, name string) (marker.Marker, bool, error) {
	if !marker.IsName(name) || name != strings.ToUpper(name) {
		return marker.Marker{}, false, filewise.Errorf(filewise.CodeInternal, "", "%q is no name of Filewise's", name)
	}
	found, err := rows(ctx, m, 1, "read-mark", nil, name)
	if err != nil || len(found) != 1 {
		return marker.Marker{}, false, err
	}
	k, err := marker.Parse(name, text(found[0][0]))
	return k, err == nil, nil
}

// look reads a tablespace's state from the server.
func (m markers) look(ctx context.Context, name string) (s state, err error) {
	there, err := rows(ctx, m, 3, "tablespace", nil, name)
	if err != nil || len(there) == 0 {
		return s, err
	}
	s.exists, s.online = true, text(there[0][0]) == "ONLINE"
	segments, err := rows(ctx, m, 3, "segments", nil, name)
	if err != nil {
		return s, err
	}
	waiting, err := rows(ctx, m, 2, "tables-without-segment", nil, name)
	if err != nil {
		return s, err
	}
	if s.marker, s.marked, err = m.read(ctx, name); err != nil {
		return s, err
	}
	for _, r := range segments {
		owner, segment := text(r[0]), text(r[1])
		if s.marked && s.marker.Custom && owner == name { // a copy, which belongs to the user with that name
			continue
		}
		if owner != m.account || !hasName(segment) && !s.holds(segment, text(r[2])) {
			s.others = owner + "." + segment
			return s, nil
		}
	}
	for _, r := range waiting {
		owner, table := text(r[0]), text(r[1])
		if (owner != m.account || !hasName(table)) && !(s.marked && s.marker.Custom && owner == name) {
			s.others = owner + "." + table
			return s, nil
		}
	}
	if s.marked && !s.marker.Custom {
		s.others, err = m.changed(ctx, name)
	}
	if s.marked {
		return s, err
	}
	s.unmarked, err = m.empty(ctx, name, s.online, segments, waiting)
	return s, err
}

// sum returns the sum of all definitions in a build, without tables that are created and dropped.
func (m markers) sum(ctx context.Context, name string) (string, error) {
	like := name + "%"
	found, err := rows(ctx, m, 2, "definitions", nil, like, like, like, like, like)
	var all []string
	for _, r := range found {
		if object := text(r[0]); len(object) <= len(name) || !strings.Contains(churnLetters, object[len(name):len(name)+1]) {
			all = append(all, object+" "+text(r[1]))
		}
	}
	slices.Sort(all)
	return marker.Sum(all...), err
}

// changed describes which objects differ from what was created. Builds that are unfinished, being dropped, or made by
// an earlier version have no sum.
func (m markers) changed(ctx context.Context, name string) (string, error) {
	made, err := m.madeSum(ctx, name)
	if err != nil || made == "" {
		return "", err
	}
	is, err := m.sum(ctx, name)
	if err != nil || is == made {
		return "", err
	}
	return "a definition that is not the one that was made", nil
}

func (m markers) madeSum(ctx context.Context, name string) (string, error) {
	found, err := rows(ctx, m, 1, "read-made", nil, name)
	if err != nil || len(found) != 1 {
		return "", err
	}
	return text(found[0][0]), nil
}

// empty reports whether a tablespace without a marker is empty. The marker table without a comment and rows, or its
// remains, do not count.
func (m markers) empty(ctx context.Context, name string, online bool, segments, waiting [][]any) (bool, error) {
	left := func(r []any) bool { return !remains(text(r[1]), text(r[2])) }
	if len(waiting) == 0 && !online && !slices.ContainsFunc(segments, left) {
		return true, nil
	}
	if len(waiting) > 0 || len(segments) > 1 || len(segments) == 1 && text(segments[0][1]) != name {
		return false, nil
	}
	if len(segments) == 0 {
		return true, nil
	}
	comment, err := rows(ctx, m, 1, "read-mark", nil, name)
	if err != nil || len(comment) != 1 || text(comment[0][0]) != "" {
		return false, err
	}
	if !online {
		return true, nil // rows of an offline table cannot be read; they were checked before it was taken offline
	}
	n, ok, err := count(ctx, m, "marker-rows", vars{"Tablespace": name})
	return ok && n == 0, err
}

// alter executes statements on a tablespace, its tables or programs. It reads the marker right before each.
func (m markers) alter(ctx context.Context, name string, all ...statement) error {
	for _, s := range all {
		_, marked, err := m.read(ctx, name)
		if err == nil && !marked {
			err = state{exists: true}.why(name)
		}
		if err != nil {
			return err
		}
		if err := m.exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// alterBy does what alter does, with a section of server.sql.
func (m markers) alterBy(ctx context.Context, name, section string, v vars) error {
	if v == nil {
		v = vars{}
	}
	v["Tablespace"] = name
	all, err := askAll(section, v)
	if err != nil {
		return err
	}
	return m.alter(ctx, name, all...)
}

// dropTablespace drops a tablespace that is Filewise's. It is no error if the tablespace is gone.
func (m markers) dropTablespace(ctx context.Context, name string) error {
	before, err := m.look(ctx, name)
	if err != nil || !before.exists {
		return err
	}
	if !before.removable() {
		return before.why(name)
	}
	v := vars{"Tablespace": name}
	if before.online {
		if err := exec(ctx, m, "offline", v); err != nil {
			return err
		}
	}
	// From here on no one can put anything into the tablespace.
	after, err := m.look(ctx, name)
	if err == nil && (!after.removable() || after.marked != before.marked) {
		err = after.why(name)
	}
	if err != nil {
		if back := exec(context.WithoutCancel(ctx), m, "online", v); back != nil {
			err = fmt.Errorf("%w; and it stays offline: %w", err, back)
		}
		return err
	}
	return exec(ctx, m, "drop", v)
}

// holds reports whether the server named a segment in a tablespace of Filewise's itself. Such segments are indexes and
// LOBs of custom SQL, and remains of dropped tables. Without a marker that counts only while the tablespace is offline,
// so that no one can create anything there. Then a drop was interrupted that had already dropped the marker table.
func (s state) holds(segment, kind string) bool {
	return remains(segment, kind) && (s.marked || !s.online) || s.marked && s.marker.Custom && strings.HasPrefix(segment, "SYS_")
}

// remains reports whether a segment belongs to a dropped or moved table and is not freed yet. Such a segment is
// temporary and named by its place.
func remains(segment, kind string) bool { return kind == "TEMPORARY" && placeName.MatchString(segment) }

var placeName = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)

// hasName reports whether Filewise gives a segment such a name.
func hasName(segment string) bool {
	return len(segment) >= dialect.MaxIdent-3 && segment == strings.ToUpper(segment) && segmentOf(segment[:dialect.MaxIdent-3], segment)
}

// dropBuild drops a build: its programs, its tables, its indexes' tablespaces, and last its own tablespace with the
// marker. others are further tablespaces that are known to be the build's. If the server refuses, a DBA may have to act.
func (m markers) dropBuild(ctx context.Context, name string, others ...string) error {
	err := m.dropAll(ctx, name, others...)
	if codeOf(err) == 0 {
		return err
	}
	var all []string
	if there, lost := rows(ctx, m, 1, "copy-users", nil, name); lost == nil && len(there) > 0 {
		all = append(all, `DROP USER "`+name+`" CASCADE`)
	}
	for _, n := range append(slices.Clone(others), name) {
		if text := `DROP TABLESPACE "` + n + `" INCLUDING CONTENTS AND DATAFILES`; n != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	remedy := "clean again, or have the DBA execute: " + strings.Join(all, "; ")
	if first := filewise.RemedyOf(err); first != "" {
		remedy = first + "; then " + remedy
	}
	return filewise.Errorf(filewise.CodeTrials, remedy, "%w", err)
}

func (m markers) dropAll(ctx context.Context, name string, others ...string) error {
	s, err := m.look(ctx, name)
	if err != nil {
		return err
	}
	if s.exists && !s.removable() {
		return s.why(name)
	}
	if s.marked {
		if of, err := m.indexed(ctx, name); err != nil || of != "" {
			if err == nil {
				err = m.dropAll(ctx, of, name)
			}
			return err
		}
		found, err := m.homes(ctx, name)
		if err != nil {
			return err
		}
		others = append(others, found...)
		if err := m.bringOnline(ctx, append([]string{name}, others...)); err != nil {
			return err
		}
		if s.marker.Custom {
			if err := m.dropCopy(ctx, name); err != nil {
				return err
			}
		} else if err := m.unmade(ctx, name); err != nil {
			return err
		}
		if err := m.dropContents(ctx, name); err != nil {
			return err
		}
	}
	for _, other := range others {
		if other == name {
			continue
		}
		if err := m.dropTablespace(ctx, other); err != nil {
			return err
		}
	}
	return m.dropTablespace(ctx, name)
}

// unmade removes the sum of the definitions, before the objects are dropped one by one.
func (m markers) unmade(ctx context.Context, name string) error {
	made, err := m.madeSum(ctx, name)
	if err != nil || made == "" {
		return err
	}
	return m.alterBy(ctx, name, "made", vars{"Sum": ""})
}

// bringOnline brings tablespaces online that a killed run has left offline. A table that is dropped while offline
// leaves its space as a temporary segment.
func (m markers) bringOnline(ctx context.Context, names []string) error {
	for _, name := range names {
		there, err := rows(ctx, m, 3, "tablespace", nil, name)
		if err != nil {
			return err
		}
		if len(there) == 0 || text(there[0][0]) == "ONLINE" {
			continue
		}
		if err := m.alterBy(ctx, name, "online", nil); err != nil {
			return err
		}
	}
	return nil
}

// homes returns Filewise's other tablespaces in which segments of a build lie.
func (m markers) homes(ctx context.Context, name string) ([]string, error) {
	found, err := rows(ctx, m, 1, "homes", nil, name+"%", name+"%")
	var all []string
	for _, r := range found {
		if home := text(r[0]); home != name && marker.IsName(home) {
			all = append(all, home)
		}
	}
	return all, err
}

// indexed returns the build whose indexes lie in a tablespace with another name, or "" if there is none. An index that
// serves a key can be dropped only with its table (ORA-02429).
func (m markers) indexed(ctx context.Context, name string) (string, error) {
	found, err := rows(ctx, m, 1, "indexed", nil, name)
	for _, r := range found {
		if table := text(r[0]); hasName(table) && table[:dialect.MaxIdent-3] != name {
			return table[:dialect.MaxIdent-3], err
		}
	}
	return "", err
}

// dropContents drops the programs and tables of a build, except the marker table. It drops the last created first, so
// that the plan shows the order of the drop.
func (m markers) dropContents(ctx context.Context, name string) error {
	programs, err := rows(ctx, m, 2, "programs", nil, name+"%")
	if err != nil {
		return err
	}
	for _, r := range programs {
		kind, program := text(r[0]), text(r[1])
		if buildOfProgram(program) != name {
			continue
		}
		if err := m.alterBy(ctx, name, "drop-program", vars{"Type": kind, "Name": program}); err != nil {
			return err
		}
	}
	keys, err := rows(ctx, m, 2, "foreign-keys", nil, name+"%")
	if err != nil {
		return err
	}
	for _, r := range keys {
		if t := text(r[0]); segmentOf(name, t) {
			if err := m.alterBy(ctx, name, "drop-key", vars{"Name": t, "Key": text(r[1])}); err != nil {
				return err
			}
		}
	}
	tables, err := rows(ctx, m, 1, "tables-of", nil, name+"%")
	if err != nil {
		return err
	}
	slices.SortFunc(tables, func(a, b []any) int { return strings.Compare(text(b[0]), text(a[0])) })
	for _, r := range tables {
		if t := text(r[0]); t != name && segmentOf(name, t) {
			if err := m.alterBy(ctx, name, "drop-table", vars{"Name": t}); err != nil {
				return err
			}
		}
	}
	return nil
}
