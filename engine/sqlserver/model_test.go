package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// model holds the tests' server's part of SQL Server's catalogue: databases with
// files and markers, locks of sessions, tables of rows. It reads the adapter's own
// statements, whose arithmetic it evaluates; that the product means the same by
// them is not proven by it.
type model struct {
	mu        sync.Mutex
	databases map[string]*modelDatabase
	locks     map[string]*Session // by database and resource
	counting  map[*Session]bool   // SET NOCOUNT OFF
	planning  map[*Session]bool   // SET SHOWPLAN_XML ON

	// What the server is like; set before it is used.
	password      string
	version       string
	instance      string
	engine        int
	edition       string
	data, log     string
	view, create  bool
	alterAny      bool // ALTER ANY DATABASE, which the documented account lacks
	performance   bool // VIEW SERVER PERFORMANCE STATE, of 2022 on
	security      bool // VIEW SERVER SECURITY STATE, of 2022 on
	noInstant     bool
	modelPages    int
	slow          time.Duration // a row takes
	percent       func(int)     // gets how far a backup or restore has come. If nil, no one is
	client        string
	others        int // sessions of others
	workers       int64
	largeMemory   int64
	available     int64
	mount         string
	drivesOnly    bool // no database has a file on a volume
	unconfirmed   bool // cancels are not confirmed
	backupsFailed bool
	damaged       bool             // restored databases are
	bulkLoses     bool             // a row of each bulk load
	uncounted     bool             // sessions begin with NOCOUNT
	inModel       []string         // what every new database has
	modelShut     bool             // this login may not look there
	waits         []modelWait      // of sessions
	latches       map[string]int   // waited for now, by kind of page
	temporary     []modelFile      // of tempdb
	startupKB     map[string]int64 // of those that have grown, by name
	logRoom       int64            // bytes that are free on drive L. If 0, no one has a file there
	cpus          int64
	refuses       Numbered                   // every login, if it has a number
	signedIn      func(*Session)             // is notified of each login. If nil, no one is
	threads       chan struct{}              // the server's workers, one for each request and login. Nil means enough of them
	connected     func(database string) bool // whether anybody is
	copied        *modelTables               // of the database that was backed up last
	// fault is called before a statement is executed: it can answer instead.
	fault func(context.Context, Request, *Reply) (handled bool, err error)
	// exact is the number by which a batch is refused for lack of a right, or 0. If nil, the account has all.
	exact func(Request) int32
}

type modelDatabase struct {
	name       string
	properties map[string]string
	files      []modelFile
	objects    int
	strange    []string // what others have put in
	definition string   // of all that is in it, which others may change
	sessions   int      // of others
	options    []string
	rows       map[string]map[int64]string // by table
	procedures map[string]*procedure
	draws      map[string]bool // tables whose keys the server draws
	pool       string
	tables     modelTables
	age        int
	state      string
	access     bool
	foreign    bool // of another owner
}

// ours: this account owns it, and all its files have its name.
func (d *modelDatabase) ours() bool {
	return !d.foreign && len(d.files) > 0 &&
		!slices.ContainsFunc(d.files, func(f modelFile) bool { return !strings.Contains(f.path, d.name+"_") })
}

type modelWait struct {
	session    int
	name       string
	ms, number int
}

type modelFile struct {
	logical, path, kind, group string
	kb, growthKB               int64
}

func newModel() *model {
	return &model{databases: map[string]*modelDatabase{}, locks: map[string]*Session{}, counting: map[*Session]bool{},
		planning: map[*Session]bool{}, password: "s3cret'; --",
		version: "16.0.4085.2", engine: 3,
		edition: "Developer Edition (64-bit)", data: `C:\Program Files\MSSQL\DATA\`, log: `L:\LOG\`, view: true, create: true, modelPages: 1024,
		client: "10.0.0.7", workers: 576, cpus: 8,
		temporary: []modelFile{{"tempdev", `T:\tempdb.mdf`, "ROWS", "PRIMARY", 8192, 65536}}, largeMemory: 4096, available: 1 << 40, mount: `C:\`}
}

// worker waits for one of the server's. If false, the request was cancelled before it had one.
func (m *model) worker(ctx context.Context) (free func(), had bool) {
	if m.threads == nil {
		return func() {}, true
	}
	select {
	case m.threads <- struct{}{}:
		return func() { <-m.threads }, true
	case <-ctx.Done():
		return func() {}, false
	}
}

func (m *model) Login(s *Session) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	free, had := m.worker(ctx)
	defer free()
	if !had {
		return errors.New("there is no worker")
	}
	if m.refuses.Number != 0 {
		return m.refuses
	}
	if s.Login.User != "filewise" || s.Login.Password != m.password {
		return fmt.Errorf("Login failed for user '%s'.", s.Login.User)
	}
	if m.signedIn != nil {
		m.signedIn(s)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := s.Login.Database; d != "master" && (m.databases[d] == nil || m.databases[d].state != "ONLINE") {
		return Numbered{Number: errCannotOpen, Message: "Cannot open database \"" + d + "\" requested by the login. The login failed."}
	}
	return nil
}

// Closed releases the session's locks, as the server does.
func (m *model) Closed(s *Session) {
	if l, ok := s.Data.(*loading); ok && l.tx != nil {
		_ = l.tx.Rollback()
	}
	m.release(s)
}

func (m *model) release(s *Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.counting, s)
	delete(m.planning, s)
	for key, holder := range m.locks {
		if holder == s {
			delete(m.locks, key)
		}
	}
}

// affected reports to the client how many rows there were, unless the server is set not to.
func (m *model) affected(q Request, r *Reply, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.uncounted || m.counting[q.Session] {
		r.Affected(n)
	}
}

func (m *model) Handle(ctx context.Context, q Request, r *Reply) error {
	if q.Reset {
		m.release(q.Session)
	}
	free, had := m.worker(ctx)
	defer free()
	if !had {
		return nil
	}
	if q.Kind == Bulk {
		return m.bulkRows(q, r)
	}
	if m.exact != nil {
		if number := m.exact(q); number != 0 {
			r.Error(number, 14, "permission was denied")
			return nil
		}
	}
	if m.fault != nil {
		if handled, err := m.fault(ctx, q, r); handled || err != nil {
			return err
		}
	}
	return m.execute(ctx, q, r)
}

// execute executes a batch, or the beginning of one.
func (m *model) execute(ctx context.Context, q Request, r *Reply) error {
	m.mu.Lock()
	planning := m.planning[q.Session]
	m.mu.Unlock()
	if planning {
		r.Result(str("Microsoft SQL Server 2005 XML Showplan")).Row(showplan(q.SQL))
		return nil
	}
	for _, h := range handlers {
		if groups := h.pattern.FindStringSubmatch(q.SQL); groups != nil {
			return h.handle(&asked{m, ctx, q, groups[1:]}, r)
		}
	}
	r.Error(102, 15, "the model does not know: "+q.SQL)
	return nil
}

// asked is a statement that matched a handler.
type asked struct {
	*model
	ctx    context.Context
	q      Request
	groups []string
}

func (a *asked) database() *modelDatabase { return a.databases[a.q.Session.Login.Database] }

// denied answers as the server does to an account without VIEW SERVER STATE, or from 2022 on VIEW SERVER PERFORMANCE STATE.
func (a *asked) denied(r *Reply) bool { return a.lacks(r, a.performance, "PERFORMANCE ") }

func (a *asked) lacks(r *Reply, part bool, kind string) bool {
	if a.view || part && a.version >= "16" {
		return false
	}
	if a.version < "16" {
		kind = ""
	}
	r.Error(errDeniedState, 14, "VIEW SERVER "+kind+"STATE permission was denied on object 'server', database 'master'.")
	return true
}

const identPattern = `\[((?:[^\]]|\]\])*)\]`

type handler struct {
	pattern *regexp.Regexp
	handle  func(*asked, *Reply) error
}

var handlers []handler

func init() {
	add := func(pattern string, handle func(*asked, *Reply) error) {
		handlers = append(handlers, handler{regexp.MustCompile(`(?s)` + pattern), handle})
	}
	add(`SERVERPROPERTY\(N'ProductVersion'\)`, modelIdentity)
	add(`HAS_PERMS_BY_NAME`, modelRights)
	add(`FROM sys\.configurations`, modelConfiguration)
	add(`FROM sys\.dm_os_sys_info`, modelMachine)
	add(`FROM sys\.databases WHERE name = N'model'`, func(a *asked, r *Reply) error {
		r.Result(num("compatibility"), str("collation"), num("statistics_made"), num("forced_parameters"), num("encrypted"),
			num("recovery")).Row(160, "Latin1_General_CI_AS", 1, 0, 0, strings.Contains(a.q.SQL, "is_accelerated_database_recovery_on"))
		return nil
	})
	add(`DBCC TRACESTATUS`, func(_ *asked, r *Reply) error {
		r.Result(num("TraceFlag"), num("Status"), num("Global"), num("Session")).Row(3226, 1, 1, 0).Row(8649, 1, 0, 1).Row(1117, 1, 1, 0)
		return nil
	})
	add(`FROM model\.sys\.objects`, func(a *asked, r *Reply) error {
		switch {
		case a.modelShut:
			r.Error(errNoAccess, 14, "The server principal is not able to access the database \"model\" under the current security context.")
		case len(a.inModel) > 0:
			r.Result(str("other")).Row(a.inModel[0])
		default:
			r.Result(str("other")).Row(nil)
		}
		return nil
	})
	add(`FROM sys\.master_files WHERE database_id = 3`, func(a *asked, r *Reply) error {
		r.Result(big("pages")).Row(a.modelPages)
		return nil
	})
	add(`dm_os_volume_stats|dm_os_enumerate_fixed_drives`, func(a *asked, r *Reply) error {
		if drives := strings.Contains(a.q.SQL, "fixed_drives"); a.drivesOnly && !drives {
			r.Result(str("mount"), big("available"))
		} else if !a.denied(r) {
			r.Result(str("mount"), big("available")).Row(a.mount, a.available)
			if a.logRoom > 0 {
				r.Row(`L:\`, a.logRoom)
			}
		}
		return nil
	})
	add(`FROM tempdb\.sys\.database_files`, func(a *asked, r *Reply) error {
		r.Result(str("logical"), str("path"), big("pages"), big("startup"), big("growth"), num("percent_growth"))
		for _, f := range a.temporary {
			startup := any(f.kb / 8)
			if n, has := a.startupKB[f.logical]; has {
				startup = n / 8
			}
			r.Row(f.logical, f.path, f.kb/8, startup, f.growthKB/8, false)
		}
		return nil
	})
	add(`instant_file_initialization_enabled`, func(a *asked, r *Reply) error {
		if a.lacks(r, a.security, "SECURITY ") {
			return nil
		}
		r.Result(str("enabled")).Row(map[bool]string{true: "N", false: "Y"}[a.noInstant])
		return nil
	})
	add(`CREATE DATABASE `+identPattern, modelCreate)
	add(`RESTORE (?:HEADERONLY|FILELISTONLY).*?DISK.*DISK`, func(_ *asked, r *Reply) error { // documented of one device
		r.Error(3132, 16, "The media set has 2 media families but only 1 are provided.").Error(3013, 16,
			"RESTORE HEADERONLY is terminating abnormally.")
		return nil
	})
	add(`RESTORE FILELISTONLY`, func(_ *asked, r *Reply) error {
		const gib = "1073741824"
		r.Result(str("LogicalName"), str("PhysicalName"), str("Type"), str("Size")).Row("users", `D:\users.mdf`, "D", gib).Row("users_log",
			`D:\users.ldf`, "L", gib).Row("fs", `D:\fs`, "S", gib)
		return nil
	})
	add(`RESTORE HEADERONLY`, func(_ *asked, r *Reply) error {
		r.Result(str("BackupSize"), str("CompressedBackupSize")).Row("4000000", "1000000")
		return nil
	})
	add(`\nDBCC CHECKDB`, func(a *asked, r *Reply) error {
		if a.damaged {
			r.Error(8928, 16, "Object ID 1: Page (1:77) could not be processed.").Error(8990, 10, "CHECKDB found 1 consistency errors.")
		}
		return nil
	})
	add(`RESTORE DATABASE `+identPattern, modelRestore)
	add(`BACKUP DATABASE `+identPattern, modelBackup)
	add(`THROW 50003.*DROP DATABASE `+identPattern, modelDropRestoring)
	add(`DECLARE @found .*DROP DATABASE `+identPattern, modelFromModel)
	add(`DROP DATABASE `+identPattern, modelDrop)
	add(`THROW 50007.*ALTER DATABASE `+identPattern+` SET ONLINE`, func(a *asked, r *Reply) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !a.alterAny {
			notOnline(r, a.groups[0])
		} else if d := a.databases[a.groups[0]]; d == nil || d.state != "OFFLINE" || !d.ours() {
			r.Error(50007, 16, "it is not offline, or not Filewise's by its owner and its files")
		} else {
			d.state = "ONLINE"
		}
		return nil
	})
	add(`ALTER DATABASE `+identPattern, modelAlter)
	add(`AS mark,`, modelLook)
	add(`@name = N'filewise made'`, func(a *asked, _ *Reply) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		d := a.database()
		d.properties["filewise made"] = d.definition
		return nil
	})
	add(`sp_getapplock @Resource = N'([^']*)'.*@LockTimeout = (\d+)`, modelLock)
	add(`APPLOCK_MODE\(N'public', N'([^']*)', N'Session'\)`, func(a *asked, r *Reply) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		mode := "NoLock"
		if a.locks[a.q.Session.Login.Database+"/"+a.groups[0]] == a.q.Session {
			mode = "Exclusive"
		}
		r.Result(str("mode")).Row(mode)
		return nil
	})
	add(`^EXEC sys\.sp_releaseapplock`, func(a *asked, _ *Reply) error { a.release(a.q.Session); return nil })
	add(`^(--[^\n]*\n)*SET NOCOUNT OFF;?$`, func(a *asked, _ *Reply) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.counting[a.q.Session] = true
		return nil
	})
	add(`^SET SHOWPLAN_XML ON$`, func(a *asked, _ *Reply) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.planning[a.q.Session] = true
		return nil
	})
	add(`FROM sys\.databases AS d\s+WHERE d\.name LIKE`, modelLeftovers)
	add(`FROM sys\.dm_tran_locks`, modelHolder)
	add(`dm_exec_requests`, func(a *asked, r *Reply) error {
		if !a.denied(r) {
			r.Result(big("sessions"), big("active")).Row(a.others, a.others/2)
		}
		return nil
	})
	add(`dm_io_virtual_file_stats`, modelFileIO)
	add(`dm_exec_session_wait_stats`, modelWaits)
	add(`dm_os_waiting_tasks`, modelLatches)
	add(`dm_os_performance_counters`, func(_ *asked, r *Reply) error {
		r.Result(str("name"), big("value")).Row("Checkpoint pages/sec", 77).Row("Something else/sec", 1)
		return nil
	})
	add(`FROM sys\.database_files`, modelFiles)
	add(`^CREATE TABLE dbo\.(?:`+identPattern+`|fw_pool)`, modelTable)
	add(`^INSERT INTO dbo\.fw_pool`, modelPool)
	add(`^CREATE PROCEDURE dbo\.`+identPattern, modelProcedure)
	add(`^EXEC dbo\.`+identPattern, modelCall)
	add(`ROLLBACK TRANSACTION`, func(a *asked, _ *Reply) error {
		if l, ok := a.q.Session.Data.(*loading); ok && l.tx != nil {
			_ = l.tx.Rollback()
			l.tx = nil
		}
		return nil
	})
	add(`SELECT COUNT_BIG\(\*\) AS found FROM dbo\.`+identPattern, modelCommitted)
	add(`^SELECT (?:row_id AS )?id, payload FROM dbo\.`+identPattern, modelRows)
	add(`^ALTER TABLE dbo\.`+identPattern+` REBUILD`, func(*asked, *Reply) error { return nil })
	add(`^(?:EXEC sys\.sp_flush_log;\s*)?CHECKPOINT`, func(*asked, *Reply) error { return nil })
}

// showplan returns a statement's plan, as the schema of plans has it. It is parallel if all of a table is read.
func showplan(statement string) string {
	parallel := strings.Count(statement, "WHERE val4")
	return fmt.Sprintf(`<ShowPlanXML xmlns="http://schemas.microsoft.com/sqlserver/2004/07/showplan" Version="1.564" Build="16.0.4085.2">`+
		`<BatchSequence><Batch><Statements><StmtSimple StatementText="%s" StatementId="1" StatementType="SELECT"><QueryPlan>`+
		`<OptimizerHardwareDependentProperties EstimatedAvailableMemoryGrant="52428" EstimatedPagesCached="26214" `+
		`EstimatedAvailableDegreeOfParallelism="4"/><RelOp NodeId="0" PhysicalOp="Stream Aggregate" Parallel="0"><RelOp NodeId="1" `+
		`PhysicalOp="Clustered Index Scan" Parallel="%d"/></RelOp></QueryPlan></StmtSimple></Statements></Batch></BatchSequence></ShowPlanXML>`,
		html.EscapeString(statement), parallel)
}

func str(name string) Column { return Column{Name: name, Type: Text} }
func big(name string) Column { return Column{Name: name, Type: BigInt} }
func num(name string) Column { return Column{Name: name, Type: Int} }

func modelIdentity(a *asked, r *Reply) error {
	r.Result(str("version"), str("level"), str("edition"), num("engine_edition"), str("machine"), str("instance"),
		str("server_name"), str("data_path"), str("log_path"),
		str("client_address"), str("server_address"), num("max_connections"), str("login_name")).
		Row(a.version, "RTM", a.edition, a.engine, "DBHOST", a.instance, "DBHOST"+strings.TrimSuffix(`\`+a.instance, `\`), a.data, a.log,
			a.client, "10.0.0.9", 32767, "filewise")
	return nil
}

func modelRights(a *asked, r *Reply) error {
	r.Result(num("create_any"), num("alter_any"), num("create_in_master"), num("view_state"), num("view_performance"), num("view_security")).
		Row(a.create, a.alterAny, false, a.view, a.performance, a.security)
	return nil
}

func modelConfiguration(a *asked, r *Reply) error {
	r.Result(str("name"), big("value")).Row("max degree of parallelism", 4).Row("max server memory (MB)",
		a.largeMemory).Row("priority boost", 0)
	return nil
}

func modelMachine(a *asked, r *Reply) error {
	if !a.denied(r) {
		r.Result(num("cpus"), big("memory_kb"), big("target_kb"), big("workers")).Row(a.cpus, 32<<20, 16<<20, a.workers)
	}
	return nil
}

var (
	fileClause = regexp.MustCompile(`\(NAME = N'((?:[^']|'')*)', FILENAME = N'((?:[^']|'')*)', ` +
		`SIZE = (\d+)KB, MAXSIZE = UNLIMITED, FILEGROWTH = (\d+)KB\)`)
	markerClause = regexp.MustCompile(`sp_addextendedproperty @name = N'filewise', @value = N'((?:[^']|'')*)'`)
	moveClause   = regexp.MustCompile(`MOVE N'((?:[^']|'')*)' TO N'((?:[^']|'')*)'`)
	markerGuard  = regexp.MustCompile(`COLLATE Latin1_General_BIN2 = N'((?:[^']|'')*)'\)`)
)

func unquote(s string) string { return strings.ReplaceAll(s, "''", "'") }

// filesOf reads the files of a part of a statement.
func filesOf(text, kind, group string) []modelFile {
	var all []modelFile
	for _, m := range fileClause.FindAllStringSubmatch(text, -1) {
		kb, _ := strconv.ParseInt(m[3], 10, 64)
		growth, _ := strconv.ParseInt(m[4], 10, 64)
		all = append(all, modelFile{unquote(m[1]), unquote(m[2]), kind, group, kb, growth})
	}
	return all
}

func modelCreate(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := a.groups[0]
	if !a.create {
		r.Error(errDenied, 14, "CREATE DATABASE permission denied in database 'master'.")
		return nil
	}
	if a.databases[name] != nil {
		r.Error(50001, 16, "there is a database of that name")
		return nil
	}
	d := &modelDatabase{name: name, properties: map[string]string{}, rows: map[string]map[int64]string{},
		procedures: map[string]*procedure{}, draws: map[string]bool{}, state: "ONLINE", access: true, strange: slices.Clone(a.inModel)}
	data, rest, _ := strings.Cut(a.q.SQL, "LOG ON")
	primary, index, _ := strings.Cut(data, "FILEGROUP ")
	d.files = append(filesOf(primary, "ROWS", "PRIMARY"), filesOf(index, "ROWS", indexGroup)...)
	d.files = append(d.files, filesOf(rest, "LOG", "")...)
	if d.files[0].kb < int64(a.modelPages)*8 {
		r.Error(errModelLarger, 16, "The CREATE DATABASE statement failed. The primary file must be at least as large as model.")
		return nil
	}
	a.databases[name] = d
	if m := markerClause.FindStringSubmatch(rest); m != nil {
		d.properties["filewise"] = unquote(m[1])
	}
	return nil
}

// guarded executes what follows the guard of sql/guard.sql.
func (a *asked) guarded(r *Reply) *modelDatabase {
	d := a.databases[a.groups[0]]
	if d == nil {
		return nil
	}
	if d.state == "OFFLINE" {
		r.Error(errOffline, 14, "Database '"+d.name+"' cannot be opened because it is offline.")
		return nil
	}
	pass := false
	if m := markerGuard.FindStringSubmatch(a.q.SQL); m != nil {
		pass = d.properties["filewise"] == unquote(m[1]) && m[1] != ""
	} else if strings.Contains(a.q.SQL, "IF EXISTS (SELECT 1 FROM") && strings.Contains(a.q.SQL, "is_ms_shipped = 0") {
		pass = len(d.properties) == 0 && d.objects == 0
	}
	if !pass {
		r.Error(errNotMarked, 16, "the database does not carry Filewise's marker: nothing of it is changed")
		return nil
	}
	return d
}

func modelDrop(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.guarded(r)
	switch {
	case d == nil:
	case len(d.others(a.q.SQL)) > 0 && strings.Contains(a.q.SQL, "THROW 50004"):
		r.Error(errOthers, 16, "the database holds what Filewise has not made: nothing of it is changed")
	case d.sessions > 0 && !strings.Contains(a.q.SQL, "ROLLBACK IMMEDIATE"):
		r.Error(errInUse, 16, "Cannot drop the database because it is currently in use.")
	default:
		delete(a.databases, d.name)
	}
	return nil
}

func modelFromModel(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := a.guarded(r); d != nil && len(d.strange) > 0 {
		delete(a.databases, d.name)
		r.Error(errFromModel, 16, "a new database has from database model: "+slices.Min(d.strange))
	}
	return nil
}

func modelDropRestoring(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch d := a.databases[a.groups[0]]; {
	case d == nil:
	case d.state != "RESTORING" && !d.ours():
		r.Error(50003, 16, "the database is neither being restored nor a copy of this account's")
	default:
		delete(a.databases, d.name)
	}
	return nil
}

func modelAlter(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.guarded(r)
	if d == nil {
		return nil
	}
	if strings.Contains(a.q.SQL, "SET OFFLINE") && (d.sessions > 0 || a.connected(d.name)) {
		r.Error(errOthersIn, 16, "Database state cannot be changed while other users are using the database.").Error(5069, 16,
			"ALTER DATABASE statement failed.")
		d.sessions = max(d.sessions-1, 0) // one of them leaves
		return nil
	}
	if strings.Contains(a.q.SQL, "AS offline_us") && a.alterAny {
		r.Result(big("offline_us"), big("online_us")).Row(1_500_000, 250_000)
	}
	for part := range strings.SplitSeq(a.q.SQL, "ALTER DATABASE ") {
		switch online := strings.Contains(part, "SET ONLINE"); {
		case online && !a.alterAny:
			notOnline(r, d.name)
			return nil
		case online:
			d.state = "ONLINE"
		case strings.Contains(part, "SET OFFLINE"):
			d.state = "OFFLINE"
		}
		if !strings.Contains(part, "ADD FILE") {
			d.options = append(d.options, strings.TrimSpace(part))
			continue
		}
		group := "PRIMARY"
		for _, other := range []string{indexGroup, restoredGroup} {
			if strings.Contains(part, "TO FILEGROUP ["+other) {
				group = other
			}
		}
		d.files = append(d.files, filesOf(part, "ROWS", group)...)
	}
	return nil
}

// notOnline returns how the server refuses SET ONLINE to one who merely owns the database.
func notOnline(r *Reply, name string) {
	r.Error(5011, 14, "User does not have permission to alter database '"+name+"', the database does not exist, or the database is not in a "+
		"state that allows access checks.").Error(5069, 16, "ALTER DATABASE statement failed.")
}

// others returns what is in it that was not made, as far as the statement asks.
func (d *modelDatabase) others(statement string) []string {
	made, known := d.properties["filewise made"]
	const asks = "p.name = N'filewise made' AND CAST(p.value AS nvarchar(100)) <>"
	if known && strings.Contains(statement, asks) && made != d.definition {
		return append(slices.Clone(d.strange), "a definition that is not the one that was made")
	}
	return d.strange
}

func modelLook(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.database()
	if d == nil {
		r.Error(errNoDatabase, 16, "Database does not exist.")
		return nil
	}
	result := 0
	if a.locks[d.name+"/filewise keeps"] != nil {
		result = -1
	}
	var text any
	if t, ok := d.properties["filewise"]; ok {
		text = t
	}
	var other any
	strange := d.others(a.q.SQL)
	if len(strange) > 0 {
		other = slices.Min(strange)
	}
	r.Result(str("mark"), big("objects"), big("sessions"), big("age"), big("others"), str("other"), num("result")).
		Row(text, d.objects+len(d.properties)+len(strange), d.sessions, d.age, len(strange), other, result)
	return nil
}

// modelLock waits for a lock of a session's for the time in the statement.
func modelLock(a *asked, r *Reply) error {
	patience, _ := strconv.Atoi(a.groups[1])
	key := a.q.Session.Login.Database + "/" + a.groups[0]
	deadline := time.Now().Add(time.Duration(patience) * time.Millisecond)
	result := -1
	for {
		a.mu.Lock()
		if holder := a.locks[key]; holder == nil || holder == a.q.Session {
			a.locks[key], result = a.q.Session, 0
		}
		a.mu.Unlock()
		if result == 0 || time.Now().After(deadline) || a.ctx.Err() != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if strings.Contains(a.q.SQL, "sp_releaseapplock") && result == 0 {
		a.mu.Lock()
		delete(a.locks, key)
		a.mu.Unlock()
	}
	r.Result(num("result")).Row(result)
	return nil
}

func modelLeftovers(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Result(str("name"), str("state"), num("access"), num("ours"))
	for name, d := range a.databases {
		if strings.HasPrefix(name, "filewise_") {
			r.Row(name, d.state, d.access, d.ours())
		}
	}
	return nil
}

func modelHolder(a *asked, r *Reply) error {
	if a.denied(r) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Result(str("program"), str("host"), big("process"))
	if s := a.locks["master/filewise measures"]; s != nil {
		r.Row(s.Login.Program, s.Login.Host, s.Login.Process)
	}
	return nil
}

func modelFileIO(a *asked, r *Reply) error {
	if a.denied(r) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.database()
	n := 0
	for _, rows := range d.rows {
		n += len(rows)
	}
	r.Result(str("logical"), str("type"), big("reads"), big("read_bytes"), big("read_stall"), big("writes"), big("written_bytes"),
		big("write_stall"))
	for i, f := range d.files {
		r.Row(f.logical, f.kind, 10, 10*page, 1, n+i, (n+i)*page, 2)
	}
	return nil
}

func modelWaits(a *asked, r *Reply) error {
	if a.denied(r) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Result(num("session"), str("name"), big("time"), big("waits"))
	for _, w := range a.waits {
		r.Row(w.session, w.name, w.ms, w.number)
	}
	return nil
}

func modelLatches(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Result(str("name"), str("kind"), big("waiting"))
	for kind, n := range a.latches {
		r.Row("PAGELATCH_UP", kind, n)
	}
	return nil
}

func modelFiles(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Result(str("logical"), str("path"), str("type"), big("pages"), big("growth"), num("percent_growth"), big("used"), str("filegroup"))
	for _, f := range a.database().files {
		var group, used any = f.group, 100
		if strings.HasSuffix(f.logical, "_2") && f.kind == "ROWS" {
			used = extentPages // nothing but its header
		}
		if f.kind == "LOG" {
			group, used = nil, nil
		}
		r.Row(f.logical, f.path, f.kind, f.kb/8, f.growthKB/8, false, used, group)
	}
	return nil
}

func modelTable(a *asked, _ *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.database()
	d.objects++
	if a.groups[0] != "" {
		d.rows[a.groups[0]], d.draws[a.groups[0]] = map[int64]string{}, strings.Contains(a.q.SQL, "id bigint IDENTITY(1, 1) NOT NULL,")
	}
	return nil
}

func modelPool(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.database().pool, _ = a.q.Args[0].(string)
	r.Affected(1)
	return nil
}

func modelProcedure(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, err := readProcedure(a.q.SQL)
	if err != nil {
		r.Error(102, 15, err.Error())
		return nil
	}
	d := a.database()
	d.procedures[a.groups[0]] = p
	d.objects++
	return nil
}

// modelCall inserts rows as the procedure's text has it, and commits likewise.
func modelCall(a *asked, r *Reply) error {
	a.mu.Lock()
	d := a.database()
	p := d.procedures[a.groups[0]]
	a.mu.Unlock()
	if p.numbers != d.draws[p.table] {
		r.Error(544, 16, "Cannot insert explicit value for identity column; or NULL into another.")
		return nil
	}
	worker, first, amount := a.q.Args[0].(int64), a.q.Args[1].(int64), a.q.Args[2].(int64)
	open := map[int64]string{}
	commit := func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		for id, payload := range open {
			if _, twice := d.rows[p.table][id]; twice {
				r.Error(2627, 14, fmt.Sprintf("Violation of PRIMARY KEY constraint. The duplicate key value is (%d).", id))
				return false
			}
			d.rows[p.table][id] = payload
		}
		clear(open)
		return true
	}
	for i := first; i < first+amount; i++ {
		if a.slow > 0 {
			time.Sleep(a.slow)
		}
		if a.ctx.Err() != nil {
			if a.unconfirmed {
				return ErrUnconfirmed
			}
			return nil // what is open is rolled back
		}
		id, payload := p.row(d.pool, worker, i)
		open[id] = payload
		if int64(len(open)) == p.every && !commit() {
			return nil
		}
	}
	commit()
	return nil
}

func modelCommitted(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, found := a.database().rows[a.groups[0]][a.q.Args[0].(int64)]
	r.Result(big("found")).Row(found)
	return nil
}

func modelRows(a *asked, r *Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Result(big("id"), Column{Name: "payload", Type: VarChar})
	for id, payload := range a.database().rows[a.groups[0]] {
		r.Row(id, payload)
	}
	return nil
}

func modelBackup(a *asked, r *Reply) error {
	a.mu.Lock()
	if d := a.databases[a.groups[0]]; d != nil && strings.Contains(a.q.SQL, "BACKUP") {
		a.copied = &d.tables
	}
	a.mu.Unlock()
	for percent := 5; percent <= 100; percent += 5 {
		r.Info(3211, fmt.Sprintf("%d percent processed.", percent))
		if err := r.Flush(); err != nil {
			return err
		}
		if a.percent != nil {
			a.percent(percent)
		}
		if a.slow > 0 {
			select {
			case <-a.ctx.Done():
				r.Error(3204, 16, "The backup or restore was aborted.").Error(3013, 16, "BACKUP DATABASE is terminating abnormally.")
				return nil
			case <-time.After(a.slow):
			}
		}
		if a.backupsFailed && percent == 50 {
			r.Error(3202, 16, `Write on "E:\b\1.bak" failed: 112(There is not enough space on the disk.)`).Error(3271, 16,
				"A nonrecoverable I/O error occurred.").
				Error(3013, 16, "BACKUP DATABASE is terminating abnormally.")
			return nil
		}
	}
	r.Info(4035, "Processed 330 pages for database 'x', file 'y' on file 1.").Info(3014,
		"BACKUP DATABASE successfully processed 330 pages in 0.1 seconds (25.0 MB/sec).")
	return nil
}

func modelRestore(a *asked, r *Reply) error {
	name := a.groups[0]
	m := markerClause.FindStringSubmatch(a.q.SQL) // none: the batch ends before
	if a.databases[name] != nil {
		return errors.New("a restore over a database")
	}
	d := &modelDatabase{name: name, properties: map[string]string{"owner": "user"}, objects: 7, state: "RESTORING", access: true}
	for _, f := range moveClause.FindAllStringSubmatch(a.q.SQL, -1) {
		d.files = append(d.files, modelFile{unquote(f[1]), unquote(f[2]), "ROWS", "PRIMARY", 8192, 64})
	}
	a.mu.Lock()
	a.databases[name] = d
	a.mu.Unlock()
	// Results in between, which no one asked for, must be read as well.
	r.Result(str("nothing")).Row("x").Row("y").Info(0, "a note").Result(str("more")).Row("z").Info(0, "another")
	before := a.backupsFailed
	if err := modelBackup(a, r); err != nil || before || a.ctx.Err() != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	d.state = "ONLINE"
	if m != nil {
		d.properties["filewise"] = unquote(m[1])
	}
	if a.copied != nil {
		d.tables = *a.copied
	}
	return nil
}

// procedure holds what the model reads of a CREATE PROCEDURE.
type procedure struct {
	table       string
	numbers     bool // it gives the row's number next to the key
	every       int64
	x, y        *expression
	id, from    *expression
	payloadSize int
}

var (
	intoClause = regexp.MustCompile(`INSERT INTO dbo\.` + identPattern +
		` \((?:row_)?id, payload\) VALUES \(\s*([^,]*),\s*SUBSTRING\(@pool, ([^,]*), (\d+)\)\)`)
	setX         = regexp.MustCompile(`SET @x = ([^;]*);`)
	setY         = regexp.MustCompile(`SET @y = ([^;]*);`)
	commitClause = regexp.MustCompile(`IF @open_rows = (\d+)\s+BEGIN\s+COMMIT`)
)

func readProcedure(text string) (*procedure, error) {
	into, x := intoClause.FindStringSubmatch(text), setX.FindStringSubmatch(text)
	if into == nil || x == nil || !strings.Contains(text, "SET XACT_ABORT ON") {
		return nil, fmt.Errorf("the model cannot read the procedure:\n%s", text)
	}
	p := &procedure{table: into[1], numbers: strings.Contains(into[0], "row_id"), every: 1, x: parseExpression(x[1]),
		id: parseExpression(into[2]), from: parseExpression(into[3])}
	p.payloadSize, _ = strconv.Atoi(into[4])
	if y := setY.FindStringSubmatch(text); y != nil {
		p.y = parseExpression(y[1])
	}
	if c := commitClause.FindStringSubmatch(text); c != nil {
		p.every, _ = strconv.ParseInt(c[1], 10, 64)
	}
	return p, nil
}

func (p *procedure) row(pool string, worker, i int64) (id int64, payload string) {
	v := map[string]int64{"@i": i, "@worker": worker}
	v["@x"] = p.x.value(v)
	if p.y != nil {
		v["@y"] = p.y.value(v)
	}
	from := p.from.value(v) - 1
	return p.id.value(v), pool[from : from+int64(p.payloadSize)]
}

// expression is arithmetic of T-SQL: * and % bind equally and before +, all from
// left to right ("Operator Precedence").
type expression struct {
	operator    string
	left, right *expression
	name        string
	number      int64
}

var lexeme = regexp.MustCompile(`@\w+|\d+|[*%+()]`)

func parseExpression(text string) *expression {
	tokens := lexeme.FindAllString(text, -1)
	e := parseLevel(&tokens, []string{"+"}, []string{"*", "%"})
	if len(tokens) > 0 {
		panic("rest of an expression: " + strings.Join(tokens, " "))
	}
	return e
}

func parseLevel(tokens *[]string, levels ...[]string) *expression {
	operand := func() *expression {
		if len(levels) > 1 {
			return parseLevel(tokens, levels[1:]...)
		}
		token := (*tokens)[0]
		*tokens = (*tokens)[1:]
		switch {
		case token == "(":
			e := parseLevel(tokens, []string{"+"}, []string{"*", "%"})
			*tokens = (*tokens)[1:]
			return e
		case token[0] == '@':
			return &expression{name: token}
		}
		n, err := strconv.ParseInt(token, 10, 64)
		if err != nil {
			panic(err)
		}
		return &expression{number: n}
	}
	e := operand()
	for len(*tokens) > 0 && slices.Contains(levels[0], (*tokens)[0]) {
		operator := (*tokens)[0]
		*tokens = (*tokens)[1:]
		e = &expression{operator: operator, left: e, right: operand()}
	}
	return e
}

func (e *expression) value(v map[string]int64) int64 {
	switch e.operator {
	case "*":
		return e.left.value(v) * e.right.value(v)
	case "%":
		return e.left.value(v) % e.right.value(v)
	case "+":
		return e.left.value(v) + e.right.value(v)
	}
	if e.name != "" {
		n, ok := v[e.name]
		if !ok {
			panic("no variable " + e.name)
		}
		return n
	}
	return e.number
}
