package postgres

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/filesystem"
)

// examination collects findings.
type examination struct {
	server *foreignServer
	demand filewise.Demand
	all    []filewise.Finding
}

func (e *examination) add(check string, status filewise.Status, remedy, format string, args ...any) {
	e.all = append(e.all, filewise.Finding{Check: check, Status: status, Detail: fmt.Sprintf(format, args...), Remedy: remedy})
}

// Examine looks whether the server can do what is wanted, and what will distort it.
func (s *foreignServer) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	e := &examination{server: s, demand: d}
	e.add("version", filewise.StatusOK, "", "%s", s.about.banner)
	e.rights()
	e.place()
	for _, look := range []struct {
		check string
		do    func(context.Context) error
	}{{"connections", e.connections}, {"settings", e.settings}, {"activity", e.activity}, {"tablespaces", s.checkTablespaces}, {"leftovers", e.leftovers}} {
		if err := look.do(ctx); err != nil {
			status := filewise.StatusNote
			if look.check == "tablespaces" {
				status = filewise.StatusFailed
			}
			e.add(look.check, status, filewise.RemedyOf(err), "%v", err)
		}
	}
	e.space()
	return e.all
}

func (e *examination) rights() {
	a := e.server.about
	if a.createdb {
		e.add("rights", filewise.StatusOK, "", "%s may create databases", a.user)
	} else {
		e.add("rights", filewise.StatusFailed, "as a superuser: ALTER ROLE "+ident(a.user)+" CREATEDB", "%s may not create databases", a.user)
	}
	if !a.monitor {
		e.add("right to look", filewise.StatusNote, "as a superuser: GRANT pg_monitor TO "+ident(a.user),
			"%s does not see what sessions of other roles do: they are counted, not told apart into busy and idle, so that no limit on busy ones holds", a.user)
	}
	switch {
	case a.checkpoint:
	case a.version >= 150000:
		e.add("right to checkpoint", filewise.StatusWarning, "as a superuser: GRANT pg_checkpoint TO "+ident(a.user),
			"%s may not ask for a checkpoint: a trial begins with what the last one left to write, and the time until all is in the data files is not measured", a.user)
	default:
		e.add("right to checkpoint", filewise.StatusWarning, "use an account that is a superuser, or accept it",
			"before PostgreSQL 15 only superusers may ask for a checkpoint: a trial begins with what the last one left to write, and the time until all is in the data files is not measured")
	}
}

func (e *examination) place() {
	if e.server.about.local {
		e.add("client and server", filewise.StatusWarning, "run Filewise on another machine, near the server", "both are on one host, and share its processors")
		return
	}
	e.add("client and server", filewise.StatusOK, "", "they are on different hosts")
}

// leftovers says what earlier runs have left, and what of it would stay.
func (e *examination) leftovers(ctx context.Context) error {
	left, err := e.server.Leftovers(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, l := range left {
		name := l.Kind + " " + l.Name
		if l.Kept != "" {
			name += " (stays: " + l.Kept + ")"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		e.add("leftovers", filewise.StatusOK, "", "no run of Filewise has left anything")
		return nil
	}
	e.add("leftovers", filewise.StatusNote, "filewise clean --target "+e.server.target.Address.String(), "of runs of Filewise there are: %s", strings.Join(names, ", "))
	return nil
}

// readConnections are the limits, of which −1 is none, and what is taken.
const readConnections = `
SELECT current_setting('max_connections')::bigint, current_setting('superuser_reserved_connections')::bigint + coalesce(current_setting('reserved_connections', true), '0')::bigint,
       (SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL AND usesysid IS NOT NULL), r.rolconnlimit::bigint,
       (SELECT count(*) FROM pg_stat_activity WHERE usesysid = r.oid)
  FROM pg_roles r WHERE r.rolname = current_user`

func (e *examination) connections(ctx context.Context) error {
	var most, reserved, used, limit, own int64
	if err := e.server.link.scan(ctx, readConnections, nil, &most, &reserved, &used, &limit, &own); err != nil {
		return err
	}
	need, free := int64(e.demand.Program.Connections+besides), most-reserved-used
	if limit >= 0 {
		free = min(free, limit-own)
	}
	if free < need {
		e.add("connections", filewise.StatusFailed, fmt.Sprintf("use --connections %d or fewer, or have max_connections (or the role's CONNECTION LIMIT) raised", max(free-besides, 0)),
			"%d are free (max_connections %d, %d reserved, %d in use, limit of the role %d), and %d are needed", max(free, 0), most, reserved, used, limit, need)
		return nil
	}
	e.add("connections", filewise.StatusOK, "", "%d are free, %d are needed", free, need)
	return nil
}

func (e *examination) settings(ctx context.Context) error {
	values, err := settingsOf(ctx, e.server.link, "fsync", "full_page_writes", "synchronous_standby_names", "autovacuum", "wal_level", "archive_mode")
	if err != nil {
		return err
	}
	found := false
	warn := func(remedy, format string, args ...any) {
		found = true
		e.add("settings", filewise.StatusWarning, remedy, format, args...)
	}
	if values["fsync"] == "off" {
		warn("measure a server with fsync=on", "fsync=off: nothing waits for the storage, and a power cut destroys the databases")
	}
	if values["full_page_writes"] == "off" {
		warn("measure a server with full_page_writes=on", "full_page_writes=off: fewer bytes are written than on a server that is safe")
	}
	if names := values["synchronous_standby_names"]; names != "" && e.server.target.Durability != filewise.DurabilityNormal {
		warn("know that the network is measured as well", "synchronous_standby_names=%s: every commit waits for a standby", names)
	}
	if values["autovacuum"] == "on" {
		e.add("settings", filewise.StatusNote, "", "autovacuum is on, as it should be: it may work on the tables while they are measured")
	}
	var wal, buffers int64
	const sizes = "SELECT pg_size_bytes(current_setting('max_wal_size')), pg_size_bytes(current_setting('shared_buffers'))"
	if err := e.server.link.scan(ctx, sizes, nil, &wal, &buffers); err != nil {
		return err
	}
	for _, l := range e.demand.Layouts {
		if b := l.Data.Bytes; b > 0 && b < buffers {
			warn("make --size larger", "shared_buffers (%s) holds all data (%s): the data files are written by checkpoints only, and never read", humanize.IBytes(uint64(buffers)), humanize.IBytes(uint64(b)))
			break
		}
	}
	if wal < 256*mib {
		warn("measure longer than several checkpoints take", "max_wal_size is %s: checkpoints come often while it is measured", humanize.IBytes(uint64(wal)))
	}
	if !found {
		e.add("settings", filewise.StatusOK, "", "nothing that distorts the result")
	}
	return nil
}

func (e *examination) activity(ctx context.Context) error {
	gauges, err := e.server.Activity(ctx)
	if err != nil {
		return err
	}
	for _, g := range gauges {
		if g.Name == "sessions" && g.Value > 0 {
			e.add("activity", filewise.StatusNote, "measure when nobody else works on the server", "%.0f sessions of others are connected", g.Value)
		}
	}
	return nil
}

// space compares the room that is needed with what there is, which PostgreSQL
// itself does not tell: only on this host it can be looked at.
func (e *examination) space() {
	for _, v := range e.server.target.Volumes {
		need, wanted := e.demand.Space[v.Name]
		if !wanted {
			continue
		}
		check := "free space of " + v.Name
		dir := e.dirOf(v)
		free, err := int64(0), errors.ErrUnsupported
		if dir != "" {
			free, err = filesystem.Free(dir)
		}
		if err != nil {
			e.add(check, filewise.StatusNote, "look yourself whether there is room: df on the server", "PostgreSQL does not tell how much room a tablespace has; %s are needed", humanize.IBytes(uint64(need)))
			continue
		}
		if free < need {
			e.add(check, filewise.StatusFailed, "make room, or use a smaller --size", "%s are free on %s, %s are needed", humanize.IBytes(uint64(free)), dir, humanize.IBytes(uint64(need)))
			continue
		}
		e.add(check, filewise.StatusOK, "", "%s are free on %s, %s are needed", humanize.IBytes(uint64(free)), dir, humanize.IBytes(uint64(need)))
	}
}

// dirOf is a volume's directory on this host; empty: it is not here, or unknown.
// What lies above a directory that cannot be entered may be on another device.
func (e *examination) dirOf(v filewise.Volume) string {
	a := e.server.about
	if !a.local {
		return ""
	}
	name, existing := strings.CutPrefix(v.Dir, tablespacePrefix)
	switch {
	case path.IsAbs(v.Dir):
		return v.Dir
	case existing && name != "pg_default":
		var dir string
		const location = "SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname = $1"
		if err := e.server.link.scan(context.Background(), location, []any{name}, &dir); err == nil && dir != "" {
			return dir
		}
		return ""
	case a.dataDir != "":
		return filepath.Join(a.dataDir, "base")
	}
	return ""
}

// selfCheckRows is what the self-check inserts on each connection.
const selfCheckRows = 20

func selfCheckName(n int) string { return "statement " + strconv.Itoa(n) }
