package sqlserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise/engine/sqlserver/internal/serverpath"
)

// space compares the room that is needed with what the server sees on the
// volumes: those that hold a database's file, and, from 2017 on, fixed drives.
func (e *examination) space(ctx context.Context) {
	mounts, err := e.server.mounts(ctx)
	names := map[string]serverpath.Dir{}
	for _, v := range e.server.target.Volumes {
		dir, perr := serverpath.ParseDir(v.Dir)
		if v.Dir == "" {
			dir, perr = e.server.identity.data, nil
		}
		if perr == nil {
			names[v.Name] = dir
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Demand.Space)) {
		check, need := "free space of "+name, e.Demand.Space[name]
		free, mount, ok := freeAt(mounts, names[name])
		switch {
		case ok && (mounts[mount].drive && free < need || free == 0):
			e.Note(check, "look there yourself", "%s needed; %s has %s free, and %s may be a mount point with room of its own",
				humanize.IBytes(uint64(need)), mount, humanize.IBytes(uint64(free)), names[name])
		case !ok && err != nil:
			e.Note(check, grantTo(grantView, e.server.identity.login), "%s needed; the account may not look: %v", humanize.IBytes(uint64(need)),
				e.server.login.explain(err))
		case !ok:
			e.Note(check, "", "%s needed; the server does not tell the free space of %s", humanize.IBytes(uint64(need)), names[name])
		default:
			e.Room(check, mount, need, free, "use a smaller --size, or another --volume")
		}
	}
}

// room is the free bytes of a mount point; of one that is known as a drive only, another
// may lie below.
type room struct {
	free  int64
	drive bool
}

// mounts are the free bytes by mount point, as far as the account may look.
func (s *externalServer) mounts(ctx context.Context) (map[string]room, error) {
	all := map[string]room{}
	names := []string{"volumes"}
	if s.identity.version.major >= 14 {
		names = append(names, "drives")
	}
	var failed error
	for _, section := range names {
		rows, err := askAll(ctx, s.control, section, nil)
		if err != nil {
			failed = fmt.Errorf("%s: %w", section, err)
			continue
		}
		for _, r := range rows {
			_, known := all[r.Text("mount")]
			if n, ok := r.Number("available"); ok && r.Text("mount") != "" && !known {
				all[r.Text("mount")] = room{n, section == "drives"}
			}
		}
	}
	return all, failed
}

// freeAt is the room at the longest mount point above a directory.
func freeAt(mounts map[string]room, dir serverpath.Dir) (free int64, mount string, ok bool) {
	for m, r := range mounts {
		if dir.Within(m) && len(m) > len(mount) {
			free, mount, ok = r.free, m, true
		}
	}
	return free, mount, ok
}

// grantTo is a GRANT for the account that is logged in.
func grantTo(grant, login string) string {
	if login == "" {
		return grant
	}
	return strings.ReplaceAll(grant, "[filewise]", ident(login))
}
