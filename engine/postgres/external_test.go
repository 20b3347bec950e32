package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/internal/marker"
	"filewise/run/doctor/doctortest"
)

// An external server with an account of the documented rights alone: the whole
// suite, the self-check, the lock, the cleaner; what is the user's is the same
// afterwards.
func TestExternal(t *testing.T) {
	t.Parallel()
	need(t)
	tryExternal(t, "")
}

func TestExternal18(t *testing.T) {
	t.Parallel()
	tryExternal(t, need18(t))
}

func tryExternal(t *testing.T, bin string) {
	f := startExternal(t, bin)
	before := f.state(t)
	t.Run("Conformance", func(t *testing.T) {
		if bin != "" { // the self-check executes every statement of an external server
			t.Skip("the suite runs against an external server of the other release")
		}
		enginetest.Run(t, enginetest.Subject{
			Engine: Engine{}, Kind: filewise.KindPartitions, Bytes: 8 << 20, Files: []int{1, 4}, Rows: 40, Package: "./engine/postgres",
			Temps:      2, // one in each volume
			NoDiskFull: "the volumes are the server's", Sever: sever, NoRaw: "it is not needed for inserts", Foreign: f.state,
			Target: func([]filewise.Volume) filewise.Target {
				return f.target(filewise.Volume{Name: "default"}, filewise.Volume{Name: "spare", Dir: "tablespace:spare"})
			},
		})
	})
	t.Run("SelfCheck", func(t *testing.T) { selfChecked(t, f) })
	t.Run("Examine", func(t *testing.T) { examined(t, f) })
	t.Run("Inspect", func(t *testing.T) { inspected(t, f) })
	t.Run("Migrate", func(t *testing.T) { migrated(t, f) })
	t.Run("Capture", func(t *testing.T) { captured(t, f) })
	t.Run("Restore", func(t *testing.T) { restored(t, f) })
	t.Run("Backup", func(t *testing.T) { ownBackedUp(t, f) })
	t.Run("Lock", func(t *testing.T) { locked(t, f) })
	t.Run("Cleaner", func(t *testing.T) { cleaned(t, f) })
	t.Run("Others", func(t *testing.T) { othersStay(t, f) })
	t.Run("Drivers", func(t *testing.T) { driven(t, f) })
	if f.tls {
		t.Run("Secrets", func(t *testing.T) { kept(t, f) })
	}
	t.Run("Pooler", func(t *testing.T) { pooled(t, f) })
	t.Run("Refused", func(t *testing.T) { refusedVolumes(t, f) })
	t.Run("Directory", func(t *testing.T) { inDirectory(t, f) })
	if after := f.state(t); !slices.Equal(before, after) {
		t.Errorf("the server is not as before: gone %q, new %q", without(before, after), without(after, before))
	}
}

// pooler hands out sessions of the server's as poolers do: under separate numbers.
type pooler struct{ net.Conn }

func (p pooler) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	const key = "K\x00\x00\x00\x0c" // BackendKeyData, before the process
	if at := bytes.Index(b[:n], []byte(key)); at >= 0 && at+len(key)+4 <= n {
		b[at+len(key)+3] ^= 1
	}
	return n, err
}

// A pooler between Filewise and the server is refused, for its answers come from others' sessions.
func pooled(t *testing.T, f *usersServer) {
	config := f.admin.Config.Copy()
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return pooler{c}, err
	}
	link := client.New(config, client.Classify)
	defer link.Close()
	a, err := lookAround(t.Context(), link)
	must(t, err)
	if err := a.fit(); filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(filewise.RemedyOf(err), "not through the pooler") {
		t.Errorf("through a pooler: %v, do this: %s", err, filewise.RemedyOf(err))
	}
	if a, err := lookAround(t.Context(), f.admin); err != nil || a.pooled {
		t.Errorf("without one: %v, %v", a.pooled, err)
	}
}

func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(others, s) })
}

func selfChecked(t *testing.T, f *usersServer) {
	doctortest.SelfCheck(t, Engine{}, f.target(), "inserts into partitions", "inserts, indexes apart", "inserts, files added later: new-data",
		"orders with churn", "dml", "scan", "custom")
}

func examined(t *testing.T, f *usersServer) {
	s := f.open(t)
	demand := filewise.Demand{Layouts: []filewise.Layout{partitions(2, 1<<20)}, Program: inserts(t, nil).Program(),
		Space: map[string]int64{"default": 1 << 20}}
	for _, found := range s.Examine(deadline(t), demand) {
		if found.Status == filewise.StatusFailed || found.Status == filewise.StatusWarning && found.Remedy == "" {
			t.Errorf("%+v", found)
		}
	}
	left := marker.NewName()
	must(t, s.link.Exec(deadline(t), createDatabase(left),
		"COMMENT ON DATABASE "+dialect.Ident(left)+" IS "+dialect.Literal(deadMarker(t, left))))
	if text := fmt.Sprint(s.Examine(deadline(t), demand)); !strings.Contains(text, "database "+left) ||
		!strings.Contains(text, "filewise clean --target ") {
		t.Errorf("a leftover is not named: %s", text)
	}
	must(t, s.Remove(deadline(t), filewise.Leftover{Kind: kindDatabase, Name: left}))
	demand.Program.Phases[0].Connections = 500
	f.do("ALTER ROLE filewise_account NOCREATEDB")
	defer f.do("ALTER ROLE filewise_account CREATEDB")
	poor := f.open(t)
	text := fmt.Sprint(poor.Examine(deadline(t), demand))
	for _, says := range []string{`ALTER ROLE "filewise_account" CREATEDB`, "GRANT pg_monitor", "506 are needed", "max_connections 60"} {
		if !strings.Contains(text, says) {
			t.Errorf("%q is not in %s", says, text)
		}
	}
	if _, err := poor.Build(deadline(t), partitions(1, 1<<20), inserts(t,
		nil).Program()); filewise.RemedyOf(err) != `as a superuser: ALTER ROLE "filewise_account" CREATEDB` {
		t.Errorf("without the right: %v; %s", err, filewise.RemedyOf(err))
	}
}

// Of several that take the lock at once, from different databases, exactly one
// gets it.
func locked(t *testing.T, f *usersServer) {
	ctx := deadline(t)
	var servers []*externalServer
	for n := range 4 {
		target := f.target()
		target.Address.Path = []string{"postgres", "template1"}[n%2]
		servers = append(servers, open(t, ctx, target).(*externalServer))
	}
	for round := range 5 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		var locks []filewise.Lock
		for n, s := range servers {
			wg.Go(func() {
				lock, err := s.Lock(ctx, filewise.Holder{Who: fmt.Sprintf("run %d of Größe", n)})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					locks = append(locks, lock)
				} else if filewise.CodeOf(err) != filewise.CodeBusy || !strings.Contains(err.Error(), "run ") {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(locks) != 1 {
			t.Fatalf("round %d: %d of %d have the lock", round, len(locks), len(servers))
		}
		must(t, locks[0].Held(ctx))
		must(t, locks[0].Release())
		for limit := time.Now().Add(10 * time.Second); ; { // the server's process ends a moment later
			lock, err := servers[round%4].Lock(ctx, filewise.Holder{Who: "next"})
			if err == nil {
				// until it is gone
				f.do("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name LIKE 'filewise % measuring %'")
				if err := lock.Held(ctx); err == nil {
					t.Error("the lock is held by a session that was ended")
				}
				must(t, lock.Release())
				break
			}
			if time.Now().After(limit) {
				t.Fatal(err)
			}
		}
	}
	gauges, err := servers[0].Activity(ctx)
	must(t, err)
	if len(gauges) == 0 || gauges[0].Name != "sessions" || gauges[0].Value < 1 { // the test's own superuser
		t.Errorf("activity: %+v", gauges)
	}
}

// cleaned: only what is Filewise's beyond doubt is listed and removed.
func cleaned(t *testing.T, f *usersServer) {
	ctx := deadline(t)
	s := f.open(t)
	make := func(comment func(name string) string) string {
		name := marker.NewName()
		must(t, s.link.Exec(ctx, createDatabase(name)))
		if comment != nil {
			must(t, s.link.Exec(ctx, "COMMENT ON DATABASE "+dialect.Ident(name)+" IS "+dialect.Literal(comment(name))))
		}
		return name
	}
	dead := make(func(name string) string { return deadMarker(t, name) })
	alive := make(func(name string) string { m, err := marker.New(name, time.Now()); must(t, err); return m.Text() })
	unmarked := make(nil)
	full := make(nil)
	inside := s.link.To(full)
	must(t, inside.Exec(ctx, "CREATE TABLE theirs ()"))
	inside.Close()
	renamed := make(func(name string) string { return deadMarker(t, name) })
	must(t, s.link.Exec(ctx, "ALTER DATABASE "+dialect.Ident(renamed)+" RENAME TO filewise_kept"))
	spoiled := make(func(name string) string { return "x" + deadMarker(t, name) })
	used := make(func(name string) string { return deadMarker(t, name) })
	session := s.link.To(used)
	session.Config.RuntimeParams["application_name"] = "somebody"
	must(t, session.Exec(ctx, "SELECT 1"))

	// While a run creates it, what is not marked stays; what other runs do does not
	// matter.
	bystander := f.open(t)
	bystander.link.Config.RuntimeParams["application_name"] = "filewise 11111111"
	bystander.link.Forget()
	must(t, bystander.link.Exec(ctx, "SELECT 1"))
	other := f.open(t)
	other.link.Config.RuntimeParams["application_name"] = "filewise 00000000 creating " + unmarked
	other.link.Forget()
	must(t, other.link.Exec(ctx, "SELECT 1"))
	left := leftovers(t, s)
	if left[unmarked].Kept == "" {
		t.Errorf("while a run creates it: %+v", left[unmarked])
	}
	if err := s.Remove(ctx, left[unmarked]); err == nil {
		t.Error("removed while a run creates it")
	}
	must(t, other.Close())
	waitFor(t, func() bool { return leftovers(t, s)[unmarked].Kept == "" })

	left = leftovers(t, s)
	if len(left) != 4 || !left[unmarked].Unmarked || left[dead].Kept != "" || left[dead].Unmarked || left[dead].Owner == "" ||
		left[alive].Kept == "" || left[used].Kept == "" {
		t.Errorf("found %+v", left)
	}
	for _, name := range []string{"filewise_customers", "filewise_kept", spoiled, full, alive, used, "postgres",
		`x"; DROP DATABASE postgres; --`} {
		if err := s.Remove(ctx, filewise.Leftover{Kind: kindDatabase, Name: name}); err == nil {
			t.Errorf("%s was removed", name)
		}
		if name == used || name == alive || strings.Contains(name, ";") { // marked, or nothing
			continue
		}
		if err := s.dropMarked(ctx, kindDatabase, name); err == nil {
			t.Errorf("%s was dropped", name)
		}
	}
	session.Close()
	for _, name := range []string{unmarked, dead} {
		must(t, s.Remove(ctx, left[name]))
	}
	for _, name := range []string{full, spoiled, "filewise_kept"} {
		f.do("DROP DATABASE " + dialect.Ident(name))
	}

	// A connection that is lost once the database is there, and not marked yet, leaves nothing.
	if _, err := s.make(ctx, kindDatabase, false, func(name string) string {
		must(t, bystander.link.Exec(ctx, createDatabase(name)))
		return "SELECT pg_terminate_backend(pg_backend_pid())"
	}); err == nil {
		t.Error("a lost connection is no error")
	}

	// A build whose marker is gone is not dropped.
	w := inserts(t, nil)
	db := buildOn(t, ctx, s, partitions(1, 1<<20), w)
	name := db.Build.(*build).link.Config.Database
	text := ""
	must(t, s.link.Scan(ctx, readMarker(kindDatabase), []any{name}, &text))
	f.do("COMMENT ON DATABASE " + dialect.Ident(name) + " IS NULL")
	if err := db.Drop(ctx); err == nil || !strings.Contains(err.Error(), "mark") {
		t.Errorf("without its mark: %v", err)
	}
	f.do("COMMENT ON DATABASE " + dialect.Ident(name) + " IS " + dialect.Literal(text))
	must(t, db.Drop(ctx))
	must(t, db.Drop(ctx))
	f.do("DROP DATABASE IF EXISTS "+dialect.Ident(alive), "DROP DATABASE IF EXISTS "+dialect.Ident(used))
	if left := leftovers(t, s); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

func leftovers(t *testing.T, s *externalServer) map[string]filewise.Leftover {
	t.Helper()
	all, err := s.Leftovers(t.Context())
	must(t, err)
	byName := map[string]filewise.Leftover{}
	for _, l := range all {
		byName[l.Name] = l
	}
	return byName
}

func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("it did not come about within 20 s")
		}
	}
}

// kept: no error of the driver or the server shows the password.
func kept(t *testing.T, f *usersServer) {
	for name, change := range map[string]func(*filewise.Address){
		"wrong password":  func(a *filewise.Address) { a.Password = "wrong" + password },
		"no such role":    func(a *filewise.Address) { a.User = "nobody" },
		"no such place":   func(a *filewise.Address) { a.Port = 1 },
		"no such base":    func(a *filewise.Address) { a.Path = "nowhere" },
		"no such CA":      func(a *filewise.Address) { a.Options["sslrootcert"] = "/nowhere" },
		"another CA":      func(a *filewise.Address) { delete(a.Options, "sslrootcert") },
		"no TLS":          func(a *filewise.Address) { a.Options["sslmode"] = "disable" },
		"unknown mode":    func(a *filewise.Address) { a.Options["sslmode"] = "maybe" },
		"unknown option":  func(a *filewise.Address) { a.Options["sslmod"] = "require" },
		"bad timeout":     func(a *filewise.Address) { a.Options["connect_timeout"] = "soon" },
		"key without key": func(a *filewise.Address) { a.Options["sslcert"] = f.ca },
		"key's password": func(a *filewise.Address) {
			a.Secrets, a.Options["sslcert"], a.Options["sslkey"] = map[string]filewise.Secret{"sslpassword": password}, f.ca, f.ca
		},
		"long name": func(a *filewise.Address) { a.Path = "/" + strings.Repeat("x", 64) },
		"NUL":       func(a *filewise.Address) { a.Path = "/a\x00b" },
	} {
		target := f.target()
		change(target.Address)
		s, err := Engine{}.Open(deadline(t), target)
		if err == nil {
			t.Errorf("%s: it opens", name)
			must(t, s.Close())
			continue
		}
		t.Logf("%s: %v; %s", name, err, filewise.RemedyOf(err))
		if code := filewise.CodeOf(err); code != filewise.CodePreflight && code != filewise.CodeUsage || filewise.RemedyOf(err) == "" &&
			!strings.Contains(err.Error(), "cannot be a name") {
			t.Errorf("%s: code %s, remedy %q", name, code, filewise.RemedyOf(err))
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if m, ok := e.(interface{ Unwrap() []error }); ok {
				e = m.Unwrap()[0]
			}
			if strings.Contains(e.Error(), "pa'ss") || strings.Contains(e.Error(), `ord/@`) {
				t.Errorf("%s shows the password: %v", name, e)
			}
		}
	}
}

// The environment of another program does not choose Filewise's server.
func TestNoEnvironment(t *testing.T) {
	for name, value := range map[string]string{"PGHOST": "elsewhere", "PGPORT": "1", "PGUSER": "other", "PGPASSWORD": "other",
		"PGDATABASE": "other", "PGSERVICE": "none", "PGSSLMODE": "nonsense", "PGOPTIONS": "-c fsync=off"} {
		t.Setenv(name, value)
	}
	l, err := client.Open(filewise.Address{Host: "here", Port: 5433, User: "me", Password: "secret"}, nil)
	must(t, err)
	config := l.Config
	if config.Host != "here" || config.Port != 5433 || config.User != "me" || config.Password != "secret" ||
		config.Database != client.Maintenance || config.RuntimeParams["options"] != "" {
		t.Errorf("%+v", config.Config)
	}
	if os.Getenv("PGHOST") != "elsewhere" {
		t.Error("the environment was not restored")
	}
}

func refusedVolumes(t *testing.T, f *usersServer) {
	for dir, says := range map[string]string{
		"tablespace:nowhere": "there is no tablespace", "tablespace:theirs": "may not create", "tablespace:" +
			strings.Repeat("x", 64): "cannot be a name",
		"tablespace:": "empty", "relative": "neither", "/it's": "neither", "/srv/new": "only superusers",
		"tablespace:pg_global":                      "belongs to PostgreSQL",
		`tablespace:x"; DROP DATABASE postgres; --`: "there is no tablespace",
	} {
		s, err := Engine{}.Open(deadline(t), f.target(filewise.Volume{Name: "v", Dir: dir}))
		if err == nil {
			t.Errorf("%s is taken", dir)
			must(t, s.Close())
		} else if !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for _, two := range [][2]string{{"tablespace:spare", "tablespace:spare"}, {"/srv/new", "/srv/x/../new/"}, {"", ""},
		{"", "tablespace:pg_default"}} {
		target := f.target(filewise.Volume{Name: "a", Dir: two[0]}, filewise.Volume{Name: "b", Dir: two[1]})
		if s, err := (Engine{}).Open(deadline(t), target); filewise.CodeOf(err) != filewise.CodeUsage ||
			!strings.Contains(fmt.Sprint(err), "same location") {
			t.Errorf("%q: %v", two, err)
			if err == nil {
				must(t, s.Close())
			}
		}
	}
	// In the tablespace where databases lie anyway no right is needed.
	must(t, open(t, deadline(t), f.target(filewise.Volume{Name: "v", Dir: "tablespace:pg_default"})).Close())
	target := f.target()
	target.Durability = filewise.DurabilityOff
	if _, err := (Engine{}).Statements(target, partitions(1, 1<<20), inserts(t, nil).Program()); !errors.Is(err, filewise.ErrUnsupported) {
		t.Errorf("durability off: %v", err)
	}
}

// A superuser can name an empty directory of the server's user: a tablespace is
// made there, marked, and dropped at the end.
func inDirectory(t *testing.T, f *usersServer) {
	ctx := deadline(t)
	f.do("ALTER ROLE filewise_account SUPERUSER")
	defer f.do("ALTER ROLE filewise_account NOSUPERUSER")
	dir := f.inst.sites.dirs[0] + "/data/pg_stat_tmp" // empty, and the server's: any will do
	if err := os.Mkdir(f.inst.sites.dirs[0]+"/place", 0o700); err == nil {
		dir = f.inst.sites.dirs[0] + "/place"
		must(t, f.inst.account.Give(dir, dir))
	}
	target := f.target(filewise.Volume{Name: "default"}, filewise.Volume{Name: "place", Dir: f.inst.handles.Path(dir)})
	s, err := Engine{}.Open(ctx, target)
	must(t, err)
	w := inserts(t, nil)
	for range 2 {
		db := buildOn(t, ctx, s, partitions(2, 1<<20), w)
		ledger := work(t, ctx, db, w, 0, 20)
		must(t, w.Check(ctx, db, 0, []filewise.Ledger{ledger}))
		files, err := db.Observe(ctx)
		must(t, err)
		if files[0].Volume != "default" || files[1].Volume != "place" {
			t.Errorf("%+v", files)
		}
		must(t, db.Drop(ctx))
	}
	left := leftovers(t, s.(*externalServer))
	if len(left) != 1 {
		t.Errorf("one tablespace is in use: %+v", left)
	}
	must(t, s.Close())
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the directory: %v %v", left, err)
	}
}
