package oracle

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
)

// Examine looks whether the server can do what is wanted.
func (s *server) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	return s.examine(ctx, s.control, d)
}

func (s *server) examine(ctx context.Context, c client, d filewise.Demand) []filewise.Finding {
	e := &examination{server: s, client: c, demand: d}
	e.version()
	e.rights()
	e.settings(ctx)
	e.database(ctx)
	e.files(ctx)
	e.places(ctx)
	e.storage(ctx)
	e.connections(ctx)
	return e.found
}

// examination collects findings.
type examination struct {
	server *server
	client client
	demand filewise.Demand
	values map[string]string // parameters; nil: unknown
	found  []filewise.Finding
}

func (e *examination) add(check string, status filewise.Status, remedy, format string, args ...any) {
	e.found = append(e.found, filewise.Finding{Check: check, Status: status, Detail: fmt.Sprintf(format, args...), Remedy: remedy})
}

// ask reads a section; what cannot be read is a note.
func (e *examination) ask(ctx context.Context, check string, columns int, section string, v vars) ([][]any, bool) {
	found, err := rows(ctx, e.client, columns, section, v)
	if err != nil {
		e.add(check, filewise.StatusNote, remedyOr(err, "look at it with an account that may"), "could not be looked at: %v", err)
		return nil, false
	}
	return found, true
}

func remedyOr(err error, other string) string {
	if r := filewise.RemedyOf(err); r != "" {
		return r
	}
	return other
}

func (e *examination) version() {
	a := e.server.about
	where := ""
	if a.container != "" {
		where = ", pluggable database " + a.container
	}
	e.add("version", filewise.StatusOK, "", "Oracle %s%s", a.version, where)
	e.add("adapter", filewise.StatusNote, "run `filewise doctor --target URL` and paste its report into an issue", "%s", Engine{}.Describe().Unproven)
	if host, err := os.Hostname(); err == nil && strings.EqualFold(firstLabel(host), firstLabel(a.host)) {
		e.add("host", filewise.StatusWarning, "run Filewise on another machine near the server", "Filewise and the server share the host %s: Filewise's own work takes from the server's", host)
	}
}

func firstLabel(host string) string { label, _, _ := strings.Cut(host, "."); return label }

func (e *examination) rights() {
	missing, account := e.server.missing, e.server.about.account
	lacks := false
	for _, p := range privileges {
		if missing[p.Name] {
			lacks = true
			e.add("rights", filewise.StatusFailed, "GRANT "+p.Name+" TO "+account, "account %s lacks %s, needed %s", account, p.Name, p.For)
		}
	}
	for _, v := range views {
		switch {
		case !missing[v.Name]:
		case v.Optional == "":
			lacks = true
			e.add("rights", filewise.StatusFailed, grant(v, account), "account %s may not read %s", account, v.Name)
		default:
			e.add("rights", filewise.StatusNote, grant(v, account), "account %s may not read %s: absent is %s", account, v.Name, v.Optional)
		}
	}
	if missing[grantLock] {
		e.add("measuring lock", filewise.StatusNote, "GRANT "+grantLock+" TO "+account, "without DBMS_LOCK, runs of Filewise know of each other by what their sessions announce")
	}
	if !lacks {
		e.add("rights", filewise.StatusOK, "", "account %s has what is needed; CREATE, ALTER and DROP TABLESPACE hold for every tablespace, and Filewise uses them on its own only", account)
	}
}

func (e *examination) settings(ctx context.Context) {
	if e.server.missing["V_$PARAMETER"] {
		return // said among the rights
	}
	values, err := parameters(ctx, e.client)
	if err != nil {
		e.add("settings", filewise.StatusNote, "look at v$parameter", "could not be looked at: %v", err)
		return
	}
	e.values = values
	if strings.EqualFold(values["cluster_database"], "TRUE") {
		e.add("RAC", filewise.StatusWarning, "name a service that runs on one instance", "the database has several instances: sessions on different ones wait for each other's blocks")
	}
	if plan := values["resource_manager_plan"]; plan != "" {
		e.add("resource manager", filewise.StatusWarning, "measure when no plan is active", "plan %s may hold Filewise's sessions back", plan)
	}
}

func (e *examination) database(ctx context.Context) {
	if e.server.missing["V_$DATABASE"] {
		return
	}
	found, ok := e.ask(ctx, "database", 7, "database", nil)
	if !ok || len(found) != 1 {
		return
	}
	r := found[0]
	if mode := text(r[5]); mode != "READ WRITE" {
		e.add("database", filewise.StatusFailed, "name the service of a database that is open for writing", "the database is %s (%s)", mode, text(r[6]))
	}
	windows := strings.Contains(strings.ToUpper(text(r[1])), "WINDOWS")
	for _, v := range e.server.target.Volumes {
		p, err := placeOf(v)
		if err == nil && (p.kind == placeUnix && windows || p.kind == placeWindows && !windows) {
			e.add("volume "+v.Name, filewise.StatusFailed, "give the directory as the server sees it", "%s is no path of the server's operating system, %s", v.Dir, text(r[1]))
		}
	}
	if text(r[2]) == "ARCHIVELOG" {
		e.add("archive log", filewise.StatusWarning, "see that its destination has room for several times the work", "ARCHIVELOG: all work is written to archived logs too; when their destination is full, the whole database stops")
	}
}

// files compares the number of files with DB_FILES, which is the instance's.
func (e *examination) files(ctx context.Context) {
	limit, ok := number(e.values["db_files"])
	if !ok || e.server.missing["DBA_DATA_FILES"] {
		return
	}
	found, read := e.ask(ctx, "DB_FILES", 1, "files-of-all", nil)
	have, counted := number(only(found))
	if !read || !counted {
		return
	}
	need := int64(0)
	for _, l := range e.demand.Layouts {
		n := int64(l.Data.Files)
		if l.Indexes == filewise.IndexesApart {
			n++
		}
		need = max(need, n)
	}
	if have+need > limit {
		e.add("DB_FILES", filewise.StatusFailed, fmt.Sprintf("use up to %d files, or have the DBA raise DB_FILES, which takes a restart", max(limit-have, 0)),
			"DB_FILES is %d, %d datafiles are there, and the largest layout has %d more", limit, have, need)
		return
	}
	e.add("DB_FILES", filewise.StatusOK, "", "%d of %d datafiles with the largest layout (files of other containers, which also count, cannot be seen)", have+need, limit)
}

// places looks for room where the server can tell: in disk groups. Oracle does not
// know how full a file system is.
func (e *examination) places(ctx context.Context) {
	destination := e.values["db_create_file_dest"]
	for _, v := range e.server.target.Volumes {
		check := "free space of " + v.Name
		p, err := placeOf(v)
		if err != nil {
			e.add(check, filewise.StatusFailed, filewise.RemedyOf(err), "%v", err)
			continue
		}
		if p.kind == placeOMF {
			if e.values == nil {
				e.add(check, filewise.StatusNote, grant(view{Name: "V_$PARAMETER"}, e.server.about.account), "whether the server has a default place (db_create_file_dest) is not known")
				continue
			}
			if destination == "" {
				e.add(check, filewise.StatusFailed, "name a directory of the server or a disk group: --volume NAME=DIR, --volume NAME=+DATA",
					"the server has no default place for datafiles: db_create_file_dest is not set")
				continue
			}
			if p, err = placeOf(filewise.Volume{Name: v.Name, Dir: destination}); err != nil {
				p = place{kind: placeUnix, dir: destination}
			}
		}
		if p.kind != placeASM {
			e.add(check, filewise.StatusNote, "look on the server, with df or in its Explorer",
				"%s is needed in %s; Oracle cannot tell how full a file system is", humanize.IBytes(uint64(max(e.demand.Space[v.Name], 0))), p.dir)
			continue
		}
		e.diskGroup(ctx, check, p.dir, e.demand.Space[v.Name])
	}
}

func (e *examination) diskGroup(ctx context.Context, check, group string, need int64) {
	if e.server.missing["V_$ASM_DISKGROUP"] {
		e.add(check, filewise.StatusNote, grant(view{Name: "V_$ASM_DISKGROUP"}, e.server.about.account), "free space of disk group %s is not known", group)
		return
	}
	found, ok := e.ask(ctx, check, 2, "disk-groups", nil)
	if !ok {
		return
	}
	for _, r := range found {
		if !strings.EqualFold("+"+text(r[0]), group) {
			continue
		}
		free, _ := number(r[1])
		free *= mib
		if free < need {
			e.add(check, filewise.StatusFailed, "use a smaller --size or --work, or another disk group", "%s has %s usable, %s are needed", group, humanize.IBytes(uint64(max(free, 0))), humanize.IBytes(uint64(need)))
			return
		}
		e.add(check, filewise.StatusOK, "", "%s has %s usable, %s are needed", group, humanize.IBytes(uint64(max(free, 0))), humanize.IBytes(uint64(max(need, 0))))
		return
	}
	e.add(check, filewise.StatusFailed, "name one that is mounted", "there is no disk group %s", group)
}

// storage compares the space with the limit of a pluggable database.
func (e *examination) storage(ctx context.Context) {
	found, ok := e.ask(ctx, "MAX_PDB_STORAGE", 1, "storage-limit", nil)
	if !ok || len(found) == 0 || e.server.missing["DBA_DATA_FILES"] || e.server.missing["DBA_TABLESPACES"] {
		return
	}
	limit, limited := number(found[0][0])
	if !limited || limit <= 0 { // UNLIMITED
		return
	}
	have, ok := e.ask(ctx, "MAX_PDB_STORAGE", 1, "bytes-of-all", nil)
	used, counted := number(only(have))
	if !ok || !counted {
		return
	}
	need := int64(0)
	for _, n := range e.demand.Space {
		need += n
	}
	status, remedy := filewise.StatusOK, ""
	if used+need > limit {
		status, remedy = filewise.StatusFailed, "use a smaller --size or --work, or have the DBA raise MAX_PDB_STORAGE"
	}
	e.add("MAX_PDB_STORAGE", status, remedy, "the limit is %s, %s are used, %s are needed", humanize.IBytes(uint64(limit)), humanize.IBytes(uint64(max(used, 0))), humanize.IBytes(uint64(max(need, 0))))
}

// connections compares the workload's with the limit of processes.
func (e *examination) connections(ctx context.Context) {
	if e.server.missing["V_$RESOURCE_LIMIT"] {
		return
	}
	found, ok := e.ask(ctx, "connections", 2, "sessions-limit", nil)
	if !ok || len(found) != 1 {
		return
	}
	limit, limited := number(found[0][0])
	used, _ := number(found[0][1])
	need := int64(e.demand.Program.Connections + controls + 2)
	switch {
	case !limited: // UNLIMITED
	case used+need > limit:
		e.add("connections", filewise.StatusFailed, fmt.Sprintf("use up to %d --connections", max(limit-used-controls-2, 0)), "%d of %d processes are in use, and %d more are needed", used, limit, need)
	default:
		e.add("connections", filewise.StatusOK, "", "%d of %d processes are in use, and %d more are needed", used, limit, need)
	}
}
