package oracle

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sijms/go-ora/v2/network"

	"filewise/engine/enginetest"
	"filewise/internal/marker"
)

// fakeServer stands for a server where only logic is tested: what is dropped and
// what is not, what preflight reports, who can measure. It is no Oracle: it has
// tablespaces, segments, comments and sessions, and answers sections of the adapter's
// narrow interface, not SQL.
type fakeServer struct {
	account     string
	tablespaces map[string]*fakeSpace
	comments    map[string]string // of tables in the account's schema
	programs    map[string]string // name → type
	users, jobs map[string]bool   // of copies
	dumps       map[string]bool   // files that were exported
	sessions    [][]any           // of section announced
	answers     map[string][][]any
	fails       map[string]error
	before      func(statement)   // called before each statement
	log         []string          // what was executed: "section name"
	offlined    string            // the tablespace that was taken offline last
	definitions [][]any           // of all builds: object, line
	made        map[string]string // sums of definitions, by tablespace
	fresh       string            // the tablespace whose marker was the last thing that was read
	parents     map[string]string // of tables, by foreign keys
	unchecked   []string          // what was altered without its marker having been read right before, or dropped offline
}

type fakeSpace struct {
	offline  bool
	segments [][]any // owner, name, type
	rows     int64   // of the marker table
}

func newFake() *fakeServer {
	return &fakeServer{account: "ADA", tablespaces: map[string]*fakeSpace{}, comments: map[string]string{}, programs: map[string]string{},
		answers: map[string][][]any{}, fails: map[string]error{}, parents: map[string]string{}, users: map[string]bool{}, jobs: map[string]bool{},
		dumps: map[string]bool{}, made: map[string]string{}}
}

func (f *fakeServer) markers() markers { return markers{f, f.account} }

// newName returns a name as a build has it.
func newName() string { return strings.ToUpper(marker.NewName()) }

// add makes a tablespace; marked reports whether its marker table has the comment.
func (f *fakeServer) add(t *testing.T, name string, marked bool, segments ...string) *fakeSpace {
	t.Helper()
	s := &fakeSpace{}
	for _, segment := range segments {
		owner, table, ok := strings.Cut(segment, ".")
		if !ok {
			owner, table = f.account, segment
		}
		s.segments = append(s.segments, []any{owner, table, "TABLE"})
	}
	f.tablespaces[name] = s
	if marked {
		f.comments[name] = deadMarker(t, name)
	}
	return s
}

// temporary puts a temporary segment into a tablespace.
func (f *fakeServer) temporary(s *fakeSpace, owner, name string) {
	s.segments = append(s.segments, []any{owner, name, "TEMPORARY"})
}

// deadMarker returns the marker of a process that does not run any more.
func deadMarker(t *testing.T, name string) string {
	t.Helper()
	return enginetest.DeadMarker(t, name, false)
}

// died has the marker of a tablespace be a dead process's.
func (f *fakeServer) died(t *testing.T, name string) {
	t.Helper()
	m, err := marker.Parse(name, f.comments[name])
	if err != nil {
		t.Fatal(err)
	}
	f.comments[name] = enginetest.Dead(t, name, m)
}

// livingMarker returns the marker of this process.
func livingMarker(t *testing.T, name string) string {
	t.Helper()
	m, err := marker.New(name, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return m.Text()
}

func (f *fakeServer) exec(ctx context.Context, s statement) error {
	if f.before != nil {
		f.before(s)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	name := quoted(s.text)
	f.log = append(f.log, strings.TrimSpace(s.section+" "+name))
	if err := f.fails[s.section]; err != nil {
		return err
	}
	switch s.section {
	case "create":
		if f.tablespaces[name] != nil {
			return oracleError(1543)
		}
		f.tablespaces[name] = &fakeSpace{}
	case "marker":
		f.tablespaces[name].segments = append(f.tablespaces[name].segments, []any{f.account, name, "TABLE"})
	case "mark":
		f.comments[name] = strings.ReplaceAll(s.text[strings.Index(s.text, "'")+1:len(s.text)-1], "''", "'")
	case "made":
		f.alters(s, name)
		f.made[name] = strings.ReplaceAll(s.text[strings.Index(s.text, "'")+1:len(s.text)-1], "''", "'")
	case "tables":
		n := regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(s.text, -1) // table, key, its tablespace, the table's
		f.tablespaces[n[3][1]].segments = append(f.tablespaces[n[3][1]].segments, []any{f.account, n[0][1], "TABLE"})
		f.tablespaces[n[2][1]].segments = append(f.tablespaces[n[2][1]].segments, []any{f.account, n[1][1], "INDEX"})
	case "package":
		f.programs[name] = "PACKAGE"
	case "procedure-insert":
		f.programs[name] = "PROCEDURE"
	case "add-file", "copy-may-connect":
		f.alters(s, name)
	case "copy-user", "copy-drop-user":
		f.alters(s, name)
		f.copies(name, s.section == "copy-user")
	case "copy-export":
		f.alters(s, buildIn.FindString(s.text))
		f.dumps[dumped.FindString(s.text)] = true
	case "copy-unlink":
		delete(f.dumps, dumped.FindString(s.text))
	case "copy-import":
		name = buildIn.FindString(s.text)
		f.alters(s, name)
		f.imports(name)
	case "copy-stop":
		name = buildIn.FindString(s.text)
		f.alters(s, name)
		delete(f.jobs, name+copyJob)
	case "rebuild":
		f.alters(s, name[:27])
	case "offline", "online":
		if s.section == "offline" || f.offlined != name { // what was taken offline comes back
			f.alters(s, name)
		}
		f.offlined = name
		f.tablespaces[name].offline = s.section == "offline"
	case "drop":
		f.alters(s, name)
		if len(f.indexed(name)) > 0 {
			return oracleError(2429)
		}
		if f.users[name] || f.jobs[name+copyJob] {
			f.unchecked = append(f.unchecked, "a copy outlives its mark")
		}
		delete(f.tablespaces, name)
		delete(f.comments, name)
	case "drop-key":
		f.alters(s, name[:27])
		delete(f.parents, name)
	case "drop-table":
		f.alters(s, name[:27])
		for child, parent := range f.parents {
			if parent == name && child != name {
				return oracleError(2449)
			}
		}
		delete(f.parents, name)
		for _, space := range f.tablespaces {
			if space.offline { // its space is freed when it is online again
				for i, r := range space.segments {
					if n := fmt.Sprint(r[1]); strings.HasPrefix(n, name) || n == strings.Replace(name, "T00", "K00", 1) {
						f.unchecked = append(f.unchecked, s.text)
						space.segments[i] = []any{f.account, fmt.Sprintf("7.%d", 128+8*i), "TEMPORARY"}
					}
				}
			}
			space.segments = slices.DeleteFunc(space.segments, func(r []any) bool {
				return strings.HasPrefix(fmt.Sprint(r[1]), name) || r[1] == strings.Replace(name, "T00", "K00", 1)
			})
		}
	case "drop-program":
		f.alters(s, name[:27])
		delete(f.programs, name)
	case "custom":
		f.custom(bare(s.text), name)
	case "plan": // in parallel, if it reads all of a table
		if strings.Contains(s.args[0].(string), "WHERE val4") {
			*s.args[1].(sql.Out).Dest.(*int64) = 1
		}
	}
	f.fresh = ""
	return nil
}

// custom executes a statement of a set-up.
func (f *fakeServer) custom(text, name string) {
	word, kind, _ := strings.Cut(strings.Replace(text, "OR REPLACE ", "", 1), " ")
	kind, _, _ = strings.Cut(kind, " ")
	switch {
	case word == "CREATE" && kind == "TABLE":
		space := f.tablespaces[name[:27]]
		space.segments = append(space.segments, []any{f.account, name, kind})
	case word == "CREATE" && kind != "INDEX":
		f.programs[name] = kind
	case word == "DROP":
		space := f.tablespaces[name[:27]]
		space.segments = slices.DeleteFunc(space.segments, func(r []any) bool { return r[1] == name })
	}
}

// alters notes what is altered without its marker, or its emptiness, having been
// looked at right before.
func (f *fakeServer) alters(s statement, name string) {
	if f.fresh != name {
		f.unchecked = append(f.unchecked, s.text)
	}
}

func (f *fakeServer) rows(_ context.Context, s statement) ([][]any, error) {
	if f.before != nil {
		f.before(s)
	}
	if err := f.fails[s.section]; err != nil {
		return nil, err
	}
	if found, ok := f.answers[s.section]; ok {
		return inOrder(s, found)
	}
	arg := ""
	if len(s.args) > 0 {
		arg = fmt.Sprint(s.args[0])
	}
	space := f.tablespaces[arg]
	switch s.section {
	case "tablespace":
		if space == nil {
			return nil, nil
		}
		return inOrder(s, [][]any{{map[bool]string{true: "OFFLINE", false: "ONLINE"}[space.offline], "NO", int64(8192)}})
	case "segments":
		return inOrder(s, space.segments)
	case "read-mark":
		f.fresh = arg
		if c, ok := f.comments[arg]; ok {
			return [][]any{{c}}, nil
		}
		if space != nil && slices.ContainsFunc(space.segments, func(r []any) bool { return r[1] == arg }) {
			return [][]any{{nil}}, nil
		}
	case "read-made":
		return [][]any{{f.made[arg]}}, nil
	case "definitions":
		return inOrder(s, f.definitions)
	case "marker-rows":
		if f.tablespaces[quoted(s.text)].offline {
			return nil, oracleError(376)
		}
		return [][]any{{f.tablespaces[quoted(s.text)].rows}}, nil
	case "tablespaces":
		var all [][]any
		for name := range f.tablespaces {
			all = append(all, []any{name})
		}
		return all, nil
	case "programs":
		var all [][]any
		for name, kind := range f.programs {
			all = append(all, []any{kind, name})
		}
		return inOrder(s, all)
	case "tables-of":
		var all [][]any
		for _, space := range f.tablespaces {
			for _, r := range space.segments {
				if n := fmt.Sprint(r[1]); r[0] == f.account && strings.HasPrefix(n, strings.TrimSuffix(arg, "%")) && !strings.Contains(n, "K0") {
					all = append(all, []any{n})
				}
			}
		}
		return all, nil
	case "homes":
		var all [][]any
		for name, space := range f.tablespaces {
			for _, r := range space.segments {
				if strings.HasPrefix(fmt.Sprint(r[1]), strings.TrimSuffix(arg, "%")) {
					all = append(all, []any{name})
				}
			}
		}
		return all, nil
	case "indexed":
		return f.indexed(arg), nil
	case "foreign-keys":
		var all [][]any
		for child := range f.parents {
			all = append(all, []any{child, "SYS_C1"})
		}
		return inOrder(s, all)
	case "announced":
		return inOrder(s, f.sessions)
	case "copy-users":
		if f.users[arg] {
			return [][]any{{arg}}, nil
		}
	case "copy-jobs":
		if f.jobs[arg] {
			return [][]any{{arg}}, nil
		}
	}
	return nil, nil
}

// answered are the columns of tests' answers. The server gives them as the statement lists them.
var answered = map[string]string{
	"version":  "version product",
	"instance": "instance_name host_name version parallel edition",
	"database": "name platform_name log_mode force_logging cdb open_mode database_role flashback_on",
	"identity": "'SESSION_USER' 'CURRENT_SCHEMA' 'CON_NAME' 'CDB_NAME' 'DB_NAME' 'SERVER_HOST' 'SERVICE_NAME' 'INSTANCE' 'INSTANCE_NAME'",
	"standby":  "name value", "parameters": "name value", "disk-groups": "name usable_file_mb",
	"sessions-limit": "limit_value current_utilization", "tablespace": "status bigfile block_size",
	"segments": "owner segment_name segment_type", "tables-without-segment": "owner table_name",
	"files": "file_name file_id blocks autoextensible increment_by maxblocks user_blocks", "free": "file_id blocks",
	"waits":     "event wait_class total_waits time_waited_micro total_waits_fg time_waited_micro_fg",
	"file-io":   "file_id phyrds phywrts phyblkrd phyblkwrt readtim writetim",
	"activity":  "DECODE(status COUNT(*) COUNT(blocking_session)",
	"announced": "sid serial# action client_info logon_time", "this-session": "'SID' 'SESSIONID' 'INSTANCE'",
	"programs": "object_type object_name", "foreign-keys": "table_name constraint_name", "compile-errors": "name line text",
	"copy-elsewhere": "segment_name tablespace_name", "copy-columns": "table_name column_name data_type",
	"inspect-files": "tablespace_name contents bigfile file_id file_name blocks autoextensible increment_by maxblocks",
	"inspect-temp":  "tablespace_name bigfile file_name blocks autoextensible increment_by", "inspect-free": "file_id blocks",
	"inspect-io": "file# phyrds phywrts readtim writetim", "inspect-log": "member BYTES", "inspect-cores": "stat_name value",
	"inspect-cache": "name value", "migrate-space": "block_size bigfile contents encrypted",
	"migrate-segments": "owner segment_name segment_type blocks", "migrate-tables": "owner table_name cluster_name nested",
	"migrate-indexes": "table_owner table_name owner index_name index_type tablespace_name join_index",
	"migrate-lobs":    "owner table_name column_name tablespace_name", "migrate-longs": "owner table_name column_name",
}

// inOrder puts the columns of answers into the order of the statement's.
func inOrder(s statement, answers [][]any) ([][]any, error) {
	_, list, _ := strings.Cut(s.text, "SELECT ")
	list, _, _ = strings.Cut(strings.ReplaceAll(list, "\n", " "), " FROM ")
	names := strings.Fields(answered[s.section])
	var all [][]any
	for _, answer := range answers {
		if len(names) != len(answer) {
			return answers, nil
		}
		at := map[int]any{}
		for i, name := range names {
			where := regexp.MustCompile(`(^|[^\w#$])` + regexp.QuoteMeta(name) + `([^\w#$]|$)`).FindStringIndex(list)
			if where == nil {
				return nil, fmt.Errorf("%s is not in %s", name, list)
			}
			at[where[0]] = answer[i]
		}
		var row []any
		for _, place := range slices.Sorted(maps.Keys(at)) {
			row = append(row, at[place])
		}
		all = append(all, row)
	}
	return all, nil
}

// indexed returns the tables in other tablespaces whose keys have their indexes in this one.
func (f *fakeServer) indexed(tablespace string) (all [][]any) {
	for name, space := range f.tablespaces {
		for _, r := range space.segments {
			key := strings.Replace(fmt.Sprint(r[1]), "T00", "K00", 1)
			if name == tablespace || key == r[1] {
				continue
			}
			if slices.ContainsFunc(f.tablespaces[tablespace].segments, func(x []any) bool { return x[1] == key }) {
				all = append(all, []any{r[1]})
			}
		}
	}
	return all
}

// quoted returns the first quoted name of a statement.
func quoted(text string) string {
	_, rest, _ := strings.Cut(text, `"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

func oracleError(code int) error { return network.NewOracleError(code) }

// dataFiles answers for the files of a design that its work has filled.
func (f *fakeServer) dataFiles(d *design) {
	filling := d.predict(d.files)
	f.answers["files"], f.answers["free"] = nil, nil
	for i, file := range d.files {
		usable := (file.bytes - headerOf(file.bytes, d.block)) / d.block
		f.answers["files"] = append(f.answers["files"], []any{file.path, int64(i), file.bytes / d.block, "YES", int64(1), int64(0), usable})
		f.answers["free"] = append(f.answers["free"], []any{int64(i), usable - filling.used[i]/d.block})
	}
}

var (
	buildIn = regexp.MustCompile(`FILEWISE_[A-Z0-9]{18}`)
	dumped  = regexp.MustCompile(`'filewise_[a-z0-9]{18}\.dmp'`)
)

// copies makes or drops the user of a copy, whose tables go with it.
func (f *fakeServer) copies(name string, makes bool) {
	if f.users[name] = makes; makes {
		return
	}
	delete(f.users, name)
	space := f.tablespaces[name]
	space.segments = slices.DeleteFunc(space.segments, func(r []any) bool { return r[0] == name })
}

// imports has a copy's user own what a dump has.
func (f *fakeServer) imports(name string) {
	space := f.tablespaces[name]
	space.segments = append(space.segments, []any{name, "ORDERS", "TABLE"}, []any{name, "SYS_LOB0000$$", "LOBSEGMENT"})
}
