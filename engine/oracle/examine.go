package oracle

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/oracle/dialect"
	"filewise/internal/findings"
)

// Examine reports whether the server can do what the experiment needs.
func (s *server) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	e := findings.Examination{Findings: s.examine(ctx, s.control, d)}
	e.Leftovers(ctx, s, s.target.Address.String())
	return e.Findings
}

func (s *server) examine(ctx context.Context, c client, d filewise.Demand) []filewise.Finding {
	e := &examination{Examination: findings.Examination{Demand: d}, server: s, client: c}
	s.ExamineVersion(&e.Examination)
	e.edition()
	e.rights()
	e.settings(ctx)
	e.database(ctx)
	e.files(ctx)
	e.places(ctx)
	e.storage(ctx)
	e.connections(ctx)
	e.profile(ctx)
	e.rman(ctx)
	e.use(ctx)
	e.sharedPool()
	e.dump(ctx)
	return e.Findings
}

type examination struct {
	findings.Examination
	server *server
	client client
	values map[string]string // parameters; nil if unknown
}

// ask reads a section. If it cannot be read, ask adds a note.
func (e *examination) ask(ctx context.Context, check string, columns int, section string) ([][]any, bool) {
	found, err := rows(ctx, e.client, columns, section, nil)
	if err != nil {
		e.Unseen(check, err)
	}
	return found, err == nil
}

// ExamineVersion adds findings on the version, the adapter and the host.
func (s *server) ExamineVersion(e *findings.Examination) {
	a := s.about
	where := ""
	if a.container != "" {
		where = ", pluggable database " + a.container
	}
	e.OK("version", "Oracle %s%s", a.version, where)
	e.Note("adapter", "run `filewise doctor --target URL --self-check --all` and send what it writes", "%s", Engine{}.Describe().Unproven)
	if host, err := os.Hostname(); err == nil && strings.EqualFold(firstLabel(host), firstLabel(a.host)) {
		e.Warn("host", "run Filewise on another machine near the server",
			"Filewise and the server share the host %s: Filewise's own work takes from the server's", host)
	}
}

// editions lists editions that limit what can be measured (Oracle Database Licensing Information User Manual).
var editions = []struct {
	name, limit string
	most        int64 // bytes of data; 0 means no limit
}{
	{"Free", "2 cores, 2 GB of memory and 12 GB of data", 12 << 30},
	{"Express Edition", "2 threads, 2 GB of memory and 12 GB of data", 12 << 30},
	{"Standard Edition", "16 threads of processors", 0}, // of 12.2 on it is Standard Edition 2, which 12.2 calls so
}

func (e *examination) edition() {
	const check = "edition"
	need := e.need()
	for _, x := range editions {
		switch {
		case !strings.Contains(e.server.about.product, x.name):
		case x.most > 0 && need > x.most:
			e.Fail(check, freeFull, "%s holds %s at most, and %s are needed", e.server.about.product, humanize.IBytes(uint64(x.most)),
				humanize.IBytes(uint64(need)))
		default:
			e.Warn(check, "draw conclusions for this edition only", "%s uses %s at most: the effect of more is not measured",
				e.server.about.product, x.limit)
		}
	}
}

func firstLabel(host string) string { label, _, _ := strings.Cut(host, "."); return label }

func (e *examination) rights() {
	missing, account := e.server.missing, e.server.about.account
	var all []findings.Right
	for _, p := range privileges {
		all = append(all, findings.Right{Check: "rights", Name: p.Name, Has: !missing[p.Name], Grant: "GRANT " + p.Name + " TO " +
			account, Lacks: "lacks " + p.Name + ", needed " + p.For, Part: p.Name == createProcedure,
			Optional: p.Name == createProcedure && !loops(e.Demand.Program)})
	}
	for _, p := range customPrivileges {
		if c := e.Demand.Program.Custom; p.Name != createProcedure && c != nil && userSQL(planNames(false), c).Creates(p.kind) {
			all = append(all, findings.Right{Check: "rights", Has: !missing[p.Name], Grant: "GRANT " + p.Name + " TO " + account,
				Lacks: "lacks " + p.Name + ", needed for what the set-up creates (IDENTITY columns are sequences)"})
		}
	}
	for _, v := range views {
		right := findings.Right{Check: "rights", Name: "SELECT ON " + v.Name, Has: !missing[v.Name], Grant: grant(v, account),
			Lacks: "may not read " + v.Name, Optional: v.Optional != ""}
		if right.Optional {
			right.Lacks += ": absent is " + v.Optional
		}
		all = append(all, right)
	}
	all = append(all, findings.Right{Check: "measuring lock", Name: grantLock, Has: !missing[grantLock],
		Grant: "GRANT " + grantLock + " TO " + account, Optional: true,
		Lacks: "may not use DBMS_LOCK: runs of Filewise see each other by what their sessions announce"})
	e.Rights("rights", account, "has what is needed; CREATE, ALTER and DROP TABLESPACE hold for every tablespace, and Filewise uses them on "+
		"its own only", all)
}

func (e *examination) settings(ctx context.Context) {
	if e.server.missing["V_$PARAMETER"] {
		return // reported with the rights
	}
	values, err := parameters(ctx, e.client)
	if err != nil {
		e.Unseen("settings", err)
		return
	}
	e.values = values
	if strings.EqualFold(values["cluster_database"], "TRUE") {
		e.Warn("RAC", "name a service that runs on one instance",
			"the database has several instances: all connections go to %s, and waits, sessions and I/O of this one alone are counted",
			e.server.about.instanceName)
	}
	if e.server.about.container != "" || e.server.about.instance != 0 {
		e.Note("activity", "watch the host as well", "--abort-if sees the sessions of this pluggable database on this instance; other sessions "+
			"load the same host, log and cache unseen")
	}
	e.cache()
	e.standby(ctx)
	if plan := values["resource_manager_plan"]; plan != "" {
		e.Warn("resource manager", "measure when no plan is active", "plan %s may hold Filewise's sessions back", plan)
	}
}

// cache warns if reads come from the server's memory, whatever the client's is.
func (e *examination) cache() {
	data := e.need()
	for _, name := range []string{"sga_target", "memory_target", "db_cache_size"} {
		n, ok := number(e.values[name])
		if ok && n > data && e.Demand.Program.Queries() {
			e.Warn("cache", "use a --size of several times that, or conclude of reading from memory alone",
				"%s is %s, and the data are %s at most: they are read from memory", name, humanize.IBytes(uint64(n)), humanize.IBytes(uint64(data)))
			return
		}
	}
}

// need returns the space for data on all volumes together.
func (e *examination) need() (all int64) {
	for _, n := range e.Demand.Space {
		all += max(n, 0)
	}
	return all
}

// consentStandby is the consent that new datafiles stop standbys.
const consentStandby = "standby"

// standby refuses experiments that would stop a physical standby. Without STANDBY_FILE_MANAGEMENT=AUTO a standby cannot
// apply the addition of a datafile, and its recovery ends there (Data Guard Concepts and Administration, "Adding a
// Datafile or Creating a Tablespace").
func (e *examination) standby(ctx context.Context) {
	const check = "standby"
	found, ok := e.ask(ctx, check, 2, "standby")
	if !ok || len(found) == 0 {
		return
	}
	to := fmt.Sprintf("the database sends its redo to others (%s)", text(found[0][0]))
	if !strings.EqualFold(e.values["standby_file_management"], "AUTO") {
		e.Fail(check, "use a database without a standby, or have the DBA set STANDBY_FILE_MANAGEMENT=AUTO here and on every standby",
			"%s, and STANDBY_FILE_MANAGEMENT is MANUAL: each new datafile stops a standby's recovery until its DBA has made the file there", to)
		e.Findings[len(e.Findings)-1].Consent = consentStandby
		return
	}
	e.Warn(check, "see that STANDBY_FILE_MANAGEMENT is AUTO on every standby too, and that it has the same space",
		"%s: a standby creates every file that Filewise creates, and receives all of its work", to)
}

func (e *examination) database(ctx context.Context) {
	if e.server.missing["V_$DATABASE"] {
		return
	}
	found, ok := e.ask(ctx, "database", 8, "database")
	if !ok || len(found) != 1 {
		return
	}
	r := found[0]
	if mode := text(r[5]); mode != "READ WRITE" {
		e.Fail("database", "name the service of a database that is open for writing", "the database is %s (%s)", mode, text(r[6]))
	}
	switch flashback := text(r[7]); flashback {
	case "", "NO":
	case "RESTORE POINT ONLY":
		e.Fail("flashback", remedies[errRestorePoint], "the database has a guaranteed restore point: no tablespace can be dropped")
	default:
		e.Warn("flashback", "measure where flashback is off, or compare with such runs alone",
			"flashback is on: changed blocks are written to its logs too; with a guaranteed restore point a first small tablespace would show")
	}
	windows := strings.Contains(strings.ToUpper(text(r[1])), "WINDOWS")
	for _, v := range e.server.target.Volumes {
		p, err := dialect.PlaceOf(v)
		if err == nil && (p.Kind == dialect.PlaceUnix && windows || p.Kind == dialect.PlaceWindows && !windows) {
			e.Fail("volume "+v.Name, "give the directory as the server sees it", "%s is no path of the server's operating system, %s", v.Dir,
				text(r[1]))
		}
	}
	if text(r[2]) == "ARCHIVELOG" {
		e.Warn("archive log", "see that its destination has space for several times the work",
			"ARCHIVELOG: all work is written to archived logs too; when their destination is full, the whole database stops")
	}
}

func (e *examination) profile(ctx context.Context) {
	found, ok := e.ask(ctx, "profile", 1, "profile")
	limit, limited := number(only(found))
	if !ok || !limited || strings.EqualFold(e.values["resource_limit"], "FALSE") { // UNLIMITED, or not enforced
		return
	}
	need := int64(e.Demand.Program.Connections() + controls + 2)
	if limit < need {
		e.Fail("profile", fewer(limit-controls-2, fmt.Sprintf("have the DBA give account %s a profile with more SESSIONS_PER_USER",
			e.server.about.account)), "%d sessions are needed, and the account's profile allows %d (SESSIONS_PER_USER)",
			need, limit)
		return
	}
	e.OK("profile", "%d sessions are needed, and the account's profile allows %d", need, limit)
}

// fewer returns advice to use at most so many connections, or otherwise if none are possible.
func fewer(possible int64, otherwise string) string {
	if possible < 1 {
		return otherwise
	}
	return fmt.Sprintf("use --connections %d or fewer, or %s", possible, otherwise)
}

// connections compares the workload's connections with the limit on processes.
func (e *examination) connections(ctx context.Context) {
	if e.server.missing["V_$RESOURCE_LIMIT"] {
		return
	}
	found, ok := e.ask(ctx, "connections", 2, "sessions-limit")
	if limit, known := number(e.values["processes"]); ok && len(found) == 0 && known { // a pluggable database does not show them
		e.Connections(int64(e.Demand.Program.Connections()+controls+2), limit, fewer(limit-controls-2, "have PROCESSES raised"),
			fmt.Sprintf("the instance takes %d processes (how many are in use is not seen here)", limit))
		return
	}
	if !ok || len(found) != 1 {
		return
	}
	limit, limited := number(found[0][0])
	used, _ := number(found[0][1])
	if !limited { // UNLIMITED
		return
	}
	e.Connections(int64(e.Demand.Program.Connections()+controls+2), limit-used,
		fewer(limit-used-controls-2, "end other sessions, or have PROCESSES raised"),
		fmt.Sprintf("%d of %d processes are in use", used, limit))
}

// rman warns about backup jobs that list datafiles and read them later. They fail if a run drops files meanwhile.
func (e *examination) rman(ctx context.Context) {
	if e.server.missing["V_$SESSION"] {
		return
	}
	found, ok := e.ask(ctx, "RMAN", 1, "rman")
	if n, counted := number(only(found)); ok && counted && n > 0 {
		e.Warn("RMAN", "measure when no backup runs", "%d sessions of RMAN are there: a run creates and drops datafiles, and a job that has "+
			"listed one which goes fails (RMAN-06169; sessions in the root of a container database are not seen)", n)
	}
}

// use measures once how long reading DBA_FREE_SPACE takes.
func (e *examination) use(ctx context.Context) {
	const check = "use of files"
	if _, err := e.server.freeBlocks(ctx, e.client, "SYSTEM"); err != nil {
		e.Unseen(check, err)
	} else if e.server.slowFree.Load() {
		e.Note(check, "have the DBA check how much SELECT COUNT(*) FROM DBA_RECYCLEBIN finds",
			"DBA_FREE_SPACE takes longer than %v, as it does if recycle bins are full: how much of each file is used is left out", freePatience)
	}
}

// sharedPool warns about what the published select leaves in the shared pool.
func (e *examination) sharedPool() {
	p := e.Demand.Program
	published, _ := p.Vars()["Published"].(bool)
	i := slices.IndexFunc(p.Phases, func(p filewise.Phase) bool { return p.Section == "select" && !p.Client })
	if !published || p.SQL() != "dml" || i < 0 {
		return
	}
	e.Warn("shared pool", "measure on a server for tests, or use a smaller --scale", "as published, one process parses a select of its own "+
		"for each of %d keys: they drive other users' statements out of the shared pool", min(p.Phases[i].Ops, p.Tables[0].Rows))
}
