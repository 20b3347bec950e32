package sqlserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise/engine/sqlserver/dialect"
)

// space compares the needed space with what the server sees on the volumes. It sees volumes that hold a database's
// file, and from 2017 on also fixed drives.
func (e *examination) space(ctx context.Context) {
	mounts, err := e.server.mounts(ctx)
	names := map[string]serverDir{}
	for _, v := range e.server.target.Volumes {
		dir, perr := parseDir(v.Dir)
		if v.Dir == "" {
			dir, perr = e.server.identity.data, nil
		}
		if perr == nil {
			names[v.Name] = dir
		}
	}
	logs := e.logSpace(mounts)
	for _, name := range slices.Sorted(maps.Keys(e.Demand.Space)) {
		e.placeOf("free space of "+name, names[name], e.Demand.Space[name]-logs[name], mounts, err)
		if logs[name] > 0 {
			e.placeOf("free space of "+name+" for logs", e.server.identity.log, logs[name], mounts, err)
		}
	}
}

// placeOf compares the free space of a directory with the needed space. failed explains why mounts are not known.
func (e *examination) placeOf(check string, dir serverDir, need int64, mounts map[string]mountSpace, failed error) {
	free, mount, ok := freeAt(mounts, dir)
	switch {
	case ok && (mounts[mount].drive && free < need || free == 0):
		e.Note(check, "check it yourself", "%s needed; %s has %s free, and %s may be a mount point with its own space",
			humanize.IBytes(uint64(need)), mount, humanize.IBytes(uint64(free)), dir)
	case !ok && denied(failed):
		e.Note(check, e.server.identity.grantSeeing(), "%s needed; the account lacks the right to read the free space: %v",
			humanize.IBytes(uint64(need)),
			e.server.login.explain(failed))
	case !ok && failed != nil:
		e.Note(check, "", "%s needed; the free space cannot be read: %v", humanize.IBytes(uint64(need)), e.server.login.explain(failed))
	case !ok:
		e.Note(check, "", "%s needed; the server does not report the free space of %s", humanize.IBytes(uint64(need)), dir)
	default:
		e.FreeSpace(check, mount, need, free, "use a smaller --size, or another --volume")
	}
}

// logSpace returns the space for logs that a volume's space includes. By default the server keeps logs on another mount
// point. Builds of all layouts exist at once, so shared space must hold all of their logs.
func (e *examination) logSpace(mounts map[string]mountSpace) map[string]int64 {
	s := e.server
	_, data, _ := freeAt(mounts, s.identity.data)
	if _, log, ok := freeAt(mounts, s.identity.log); !ok || log == data {
		return nil
	}
	largest, logs, all := map[string]int64{}, map[string]int64{}, map[string]int64{}
	for _, l := range e.Demand.Layouts {
		d, err := newDesign(s.target, l, e.Demand.Program, s.at(exampleName, ""))
		if err != nil {
			continue // it has its own finding
		}
		for name, bytes := range d.space() {
			all[name] += bytes
		}
		for _, f := range d.log {
			if f.volume == d.defaultVolume() {
				bytes := f.KB * kib
				if e.Demand.Program.BacksUp() && !l.Discard { // plus the restored database's log
					bytes *= 2
				}
				largest[f.volume], logs[f.volume] = max(largest[f.volume], bytes), logs[f.volume]+bytes
			}
		}
	}
	for name, bytes := range largest {
		if e.Demand.Space[name] < all[name] { // builds exist one after the other
			logs[name] = bytes
		}
		logs[name] = min(logs[name], e.Demand.Space[name])
	}
	return logs
}

// defaultVolume returns the volume whose directories are the server's defaults, or "" if there is none.
func (d *design) defaultVolume() string {
	for _, v := range d.target.Volumes {
		if v.Dir == "" {
			return v.Name
		}
	}
	return ""
}

// mountSpace is the free bytes of a mount point. If the mount point is only a drive, another one can lie below it.
type mountSpace struct {
	free  int64
	drive bool
}

// mounts returns the free bytes by mount point, as far as the account can see them.
func (s *externalServer) mounts(ctx context.Context) (map[string]mountSpace, error) {
	all := map[string]mountSpace{}
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
				all[r.Text("mount")] = mountSpace{n, section == "drives"}
			}
		}
	}
	return all, failed
}

// freeAt returns the free bytes at the longest mount point above a directory.
func freeAt(mounts map[string]mountSpace, dir serverDir) (free int64, mount string, ok bool) {
	for m, r := range mounts {
		if dir.Within(m) && len(m) > len(mount) {
			free, mount, ok = r.free, m, true
		}
	}
	return free, mount, ok
}

// grantTo returns a GRANT for the account that is logged in.
func grantTo(grant, login string) string {
	if login == "" {
		return grant
	}
	return strings.ReplaceAll(grant, "[filewise]", dialect.Ident(login))
}
