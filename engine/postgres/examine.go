package postgres

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/internal/filesystem"
	"filewise/internal/findings"
)

// examination examines an external server.
type examination struct {
	findings.Examination
	server *externalServer
}

// Examine reports whether the server can do what the experiment needs, and what will distort the result.
func (s *externalServer) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	e := &examination{findings.Examination{Demand: d}, s}
	e.OK("version", "%s", s.about.banner)
	e.rights()
	e.place()
	e.connections(ctx)
	e.settings(ctx)
	s.ExamineActivity(ctx, &e.Examination)
	if err := s.checkTablespaces(ctx); err != nil {
		e.Fail("tablespaces", filewise.RemedyOf(err), "%v", err)
	}
	e.Leftovers(ctx, s, s.target.Address.String())
	e.space()
	return e.Findings
}

func (e *examination) rights() {
	a := e.server.about
	e.Rights("rights", a.user, "may create databases", []findings.Right{
		{Check: "rights", Has: a.createdb, Grant: "as a superuser: ALTER ROLE " + dialect.Ident(a.user) + " CREATEDB",
			Lacks: "may not create databases"},
		{Check: "right to look", Has: a.monitor, Optional: true, Grant: "as a superuser: GRANT pg_monitor TO " + dialect.Ident(a.user),
			Lacks: "does not see what sessions of other roles do: they are counted, not divided into busy and idle, so that no limit on busy " +
				"ones holds"},
	})
	const lost = "a trial begins with what the last one left to write, and the time until all is in the data files is not measured"
	switch {
	case a.checkpoint:
	case a.version >= 150000:
		e.Warn("right to checkpoint", "as a superuser: GRANT pg_checkpoint TO "+dialect.Ident(a.user), "%s may not ask for a checkpoint: %s",
			a.user, lost)
	default:
		e.Warn("right to checkpoint", "use an account that is a superuser, or accept it",
			"before PostgreSQL 15 only superusers may ask for a checkpoint: %s", lost)
	}
}

func (e *examination) place() {
	if e.server.about.local {
		e.Warn("client and server", "run Filewise on another machine, near the server", "both are on one host, and share its CPU")
		return
	}
	e.OK("client and server", "they are on different hosts")
}

func (e *examination) connections(ctx context.Context) {
	var most, reserved, used, limit, mine int64
	if err := e.server.link.Scan(ctx, queries.Text("connections"), nil, &most, &reserved, &used, &limit, &mine); err != nil {
		e.Unseen("connections", err)
		return
	}
	free := most - reserved - used
	if limit >= 0 {
		free = min(free, limit-mine)
	}
	remedy := "end other sessions, or have max_connections (or the role's CONNECTION LIMIT) raised"
	if n := free - client.Besides; n > 0 {
		remedy = fmt.Sprintf("use --connections %d or fewer, or ", n) + remedy[len("end other sessions, or "):]
	}
	e.Connections(int64(e.Demand.Program.Connections()+client.Besides), free, remedy,
		fmt.Sprintf("%d are free (max_connections %d, %d reserved, %d in use, limit of the role %d)", max(free, 0), most, reserved, used, limit))
}

func (e *examination) settings(ctx context.Context) {
	const check = "settings"
	values, err := settingsOf(ctx, e.server.link, "fsync", "full_page_writes", "synchronous_standby_names", "autovacuum", "wal_level",
		"archive_mode")
	if err != nil {
		e.Unseen(check, err)
		return
	}
	before := len(e.Findings)
	if values["fsync"] == "off" {
		e.Warn(check, "measure a server with fsync=on", "fsync=off: nothing waits for the storage, and a power cut destroys the databases")
	}
	if values["full_page_writes"] == "off" {
		e.Warn(check, "measure a server with full_page_writes=on", "full_page_writes=off: fewer bytes are written than on a server that is safe")
	}
	if names := values["synchronous_standby_names"]; names != "" && e.server.target.Durability != filewise.DurabilityNormal {
		e.Warn(check, "read results as server plus network", "synchronous_standby_names=%s: every commit waits for a standby", names)
	}
	e.sizes(ctx)
	if len(e.Findings) == before {
		e.OK(check, "nothing that distorts the result")
	}
	if values["autovacuum"] == "on" {
		e.Note(check, "", "autovacuum is on, as it should be: it may work on the tables while they are measured")
	}
}

// sizes compares the server's buffers and WAL with the data.
func (e *examination) sizes(ctx context.Context) {
	const check = "settings"
	var wal, buffers int64
	const sizes = "SELECT pg_size_bytes(current_setting('max_wal_size')), pg_size_bytes(current_setting('shared_buffers'))"
	if err := e.server.link.Scan(ctx, sizes, nil, &wal, &buffers); err != nil {
		e.Unseen(check, err)
		return
	}
	fits := func(l filewise.Layout) bool { return l.Data.Bytes > 0 && l.Data.Bytes < buffers }
	if i := slices.IndexFunc(e.Demand.Layouts, fits); i >= 0 {
		e.Warn(check, "make --size larger", "shared_buffers (%s) holds all data (%s): the data files are written by checkpoints only, and "+
			"never read",
			humanize.IBytes(uint64(buffers)), humanize.IBytes(uint64(e.Demand.Layouts[i].Data.Bytes)))
	}
	if wal < 256*mib {
		e.Warn(check, "measure longer than several checkpoints take", "max_wal_size is %s: checkpoints come often while it is measured",
			humanize.IBytes(uint64(wal)))
	}
}

// ExamineActivity adds a finding on the sessions of others.
func (s *externalServer) ExamineActivity(ctx context.Context, e *findings.Examination) {
	gauges, err := s.Activity(ctx)
	if err != nil {
		e.Unseen("activity", err)
	}
	for _, g := range gauges {
		if g.Name == "sessions" && g.Value > 0 {
			e.Note("activity", "measure when no other clients work on the server", "%.0f sessions of others are connected", g.Value)
		}
	}
}

// space compares the needed with the free space. PostgreSQL does not report free space, so this works only on this
// host.
func (e *examination) space() {
	for _, v := range e.server.target.Volumes {
		need, wanted := e.Demand.Space[v.Name]
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
			e.Note(check, "check the free space yourself: df on the server",
				"PostgreSQL does not report a tablespace's free space; %s are needed", humanize.IBytes(uint64(need)))
			continue
		}
		e.FreeSpace(check, dir, need, free, "free some space, or use a smaller --size")
	}
}

// dirOf returns a volume's directory on this host, or "" if it is elsewhere or unknown. What lies
// above a directory that cannot be entered can be on another device.
func (e *examination) dirOf(v filewise.Volume) string {
	a := e.server.about
	if !a.local {
		return ""
	}
	name, existing := strings.CutPrefix(v.Dir, dialect.TablespacePrefix)
	switch {
	case path.IsAbs(v.Dir):
		return v.Dir
	case existing && name != "pg_default":
		var dir string
		const location = "SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname = $1"
		if err := e.server.link.Scan(context.Background(), location, []any{name}, &dir); err == nil && dir != "" {
			return dir
		}
		return ""
	case a.dataDir != "":
		return filepath.Join(a.dataDir, "base")
	}
	return ""
}
