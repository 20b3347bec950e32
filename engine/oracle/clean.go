package oracle

import (
	"context"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/internal/marker"
)

// Kinds of leftovers.
const (
	kindTablespace = "tablespace"
	kindProgram    = "program"
)

// Leftovers lists tablespaces that carry the marker or were about to be marked, and programs whose tablespace is gone.
// Tablespaces that belong to other accounts, or contain something of others, are listed as kept.
func (s *server) Leftovers(ctx context.Context) ([]filewise.Leftover, error) {
	return leftovers(ctx, s.markers)
}

func leftovers(ctx context.Context, m markers) ([]filewise.Leftover, error) {
	all, err := external.Leftovers(ctx, m)
	if err != nil {
		return nil, err
	}
	programs, err := rows(ctx, m, 2, "programs", nil, strings.ToUpper(marker.Prefix)+"%")
	if err != nil {
		return nil, err
	}
	known, err := m.Names(ctx)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, n := range known {
		there[n.Name] = true
	}
	for _, r := range programs {
		if build := buildOfProgram(text(r[1])); build != "" && !there[build] {
			all = append(all, filewise.Leftover{Kind: kindProgram, Name: text(r[1]), Owner: m.account,
				Kept: "its tablespace, which had the marker, is gone; if no one needs it: DROP " + text(r[0]) + " \"" + text(r[1]) + "\""})
		}
	}
	return all, nil
}

// Remove drops one leftover, after reading its state from the server again.
func (s *server) Remove(ctx context.Context, l filewise.Leftover) error {
	return external.Remove(ctx, s.markers, l)
}

// Names lists the tablespaces whose names begin as Filewise's do.
func (m markers) Names(ctx context.Context) ([]external.Name, error) {
	there, err := rows(ctx, m, 1, "tablespaces", nil, strings.ToUpper(marker.Prefix)+"%")
	var all []external.Name
	for _, r := range there {
		if name := text(r[0]); name == strings.ToUpper(name) { // otherwise it is a user's, however similar
			all = append(all, external.Name{Kind: kindTablespace, Name: name})
		}
	}
	return all, err
}

// Look asks the server for a tablespace, and for who uses it.
func (m markers) Look(ctx context.Context, n external.Name) (o external.Object, ok bool, err error) {
	if n.Kind != kindTablespace || n.Name != strings.ToUpper(n.Name) {
		return o, false, nil
	}
	sessions, err := announced(ctx, m)
	if err != nil {
		return o, false, err
	}
	s, err := m.look(ctx, n.Name)
	if err != nil || !s.exists {
		return o, false, err
	}
	o = external.Object{Name: n, Empty: s.unmarked}
	for _, a := range sessions {
		if a.action == n.Name || strings.Contains(a.info, n.Name) { // the info names a build's index tablespace
			o.Used = fmt.Sprintf("session %s of Filewise uses it (if its process or host is gone: %s)", a.sid, a.kill(0))
		}
	}
	switch {
	case s.others != "":
		o.Stays = fmt.Sprintf("it holds %s, which is not this account's or not Filewise's", s.others)
	case !s.removable():
		o.Stays = "it does not carry Filewise's marker"
	case s.marked:
		o.Marker = s.marker.Text()
	}
	return o, true, nil
}

// Drop drops the build to which a tablespace belongs.
func (m markers) Drop(ctx context.Context, o external.Object) error {
	return m.dropBuild(ctx, o.Name.Name)
}
