package external

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/innodb/servertest"
	"filewise/lab/workload"
)

func find(t *testing.T, all []filewise.Finding, check string) filewise.Finding {
	t.Helper()
	for _, f := range all {
		if f.Check == check {
			return f
		}
	}
	t.Errorf("nothing is said of %q", check)
	return filewise.Finding{}
}

func demand(t *testing.T, change func(*workload.Params)) filewise.Demand {
	return filewise.Demand{Layouts: []filewise.Layout{layout(filewise.KindPartitions, 4)}, Program: inserts(t, change).Program(),
		Space: map[string]int64{"default": 1 << 20}}
}

// With the documented rights nothing fails; what the server's owner changes is
// found, with a remedy.
func testExamine(t *testing.T, b bench) {
	ctx := deadline(t)
	examine := func(d filewise.Demand) []filewise.Finding {
		s := open(t, b, b.Target("filewise"))
		all := s.Examine(ctx, d)
		for _, f := range all {
			if f.Check == "" || f.Detail == "" || (f.Status == filewise.StatusFailed || f.Status == filewise.StatusWarning) && f.Remedy == "" {
				t.Errorf("%+v", f)
			}
		}
		return all
	}
	for _, f := range examine(demand(t, nil)) {
		t.Logf("%-8s %s: %s", f.Status, f.Check, f.Detail)
		if f.Status == filewise.StatusFailed {
			t.Errorf("%+v", f)
		}
	}
	if f := find(t, examine(demand(t, nil)), "measuring lock"); f.Status != filewise.StatusOK {
		t.Errorf("%+v", f)
	}
	many := demand(t, func(p *workload.Params) { p.Connections = 200 })
	many.Space["default"] = 1 << 60
	if f := find(t, examine(many), "free space of default"); f.Status != filewise.StatusFailed {
		t.Errorf("%+v", f)
	}
	for _, c := range []struct {
		set, check string
		status     filewise.Status
	}{
		{"max_connections = 150", "connections", filewise.StatusFailed},
		{"max_allowed_packet = 65536", "length of statements", filewise.StatusFailed},
		{"read_only = ON", "writes", filewise.StatusFailed},
		{"general_log = ON", "general log", filewise.StatusWarning},
		{"innodb_file_per_table = OFF", "files of tables", filewise.StatusFailed},
		{"innodb_flush_log_at_trx_commit = 0", "durability", filewise.StatusWarning},
	} {
		var before string
		variable, _, _ := strings.Cut(c.set, " ")
		fatal(t, b.Root.QueryRowContext(ctx, "SELECT @@GLOBAL."+variable).Scan(&before))
		b.Exec(t, "SET GLOBAL "+c.set)
		if f := find(t, examine(many), c.check); f.Status != c.status {
			t.Errorf("%s: %+v", c.set, f)
		}
		if c.check == "files of tables" {
			s := open(t, b, b.Target("filewise"))
			if _, err := s.Build(ctx, layout(filewise.KindPartitions, 2), inserts(t, nil).Program()); !errors.Is(err, filewise.ErrUnsupported) {
				t.Errorf("%s: %v", c.set, err)
			}
		}
		b.Exec(t, "SET GLOBAL "+variable+" = "+before)
	}
}

// Without rights: opened, examined with the exact GRANT, and nothing is built.
// Without PROCESS alone, everything works and what is lost is reported.
func testRights(t *testing.T, b bench) {
	ctx := deadline(t)
	b.Account(t, "bare", nil)
	s := open(t, b, b.Target("bare"))
	f := find(t, s.Examine(ctx, demand(t, nil)), "rights on databases of Filewise's")
	if f.Status != filewise.StatusFailed || f.Remedy != grantTo("`bare`@`%`", needed, ours) {
		t.Errorf("%+v", f)
	}
	if _, err := s.Build(ctx, layout(filewise.KindPartitions, 2), inserts(t, nil).Program()); filewise.CodeOf(err) != filewise.CodePreflight ||
		filewise.RemedyOf(err) != grantTo("`bare`@`%`", needed, ours) {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
	b.Exec(t, f.Remedy) // the remedy is one
	s = open(t, b, b.Target("bare"))
	life(t, s, layout(filewise.KindPartitions, 2), inserts(t, nil), 2)
	all := s.Examine(ctx, demand(t, nil))
	for _, check := range []string{"right PROCESS", "settling"} {
		if f := find(t, all, check); f.Status != filewise.StatusWarning {
			t.Errorf("%+v", f)
		}
	}
	if _, err := s.Activity(ctx); !errors.Is(err, filewise.ErrUnsupported) {
		t.Errorf("activity without PROCESS: %v", err)
	}
	if b.engine.External.Directories {
		elsewhere := b.Target("filewise", filewise.Volume{Name: "v", Dir: b.volume})
		s := open(t, b, elsewhere)
		if err := s.Offers()[filewise.CanVolumes]; !errors.Is(err, filewise.ErrUnsupported) ||
			!strings.Contains(filewise.RemedyOf(err), "GRANT FILE") {
			t.Errorf("without FILE: %v", err)
		}
	}
	b.Account(t, "mover2", append(b.engine.Rights(), grant([]string{"FILE"}, "*.*")))
	defer b.Exec(t, "DROP USER mover2")
	unknown := open(t, b, b.Target("mover2", filewise.Volume{Name: "v", Dir: "/proc/nowhere"}))
	if b.engine.External.Directories && unknown.Offers()[filewise.CanVolumes] == nil {
		t.Error("a directory that is not in innodb_directories is offered")
	}
	if _, err := unknown.Build(ctx, layout(filewise.KindPartitions, 2), inserts(t, nil).Program()); err == nil {
		t.Error("tables are built in a directory that there is not")
	}
	if left, err := unknown.Leftovers(ctx); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}

// Others' sessions are counted, this process's are not.
func testMonitor(t *testing.T, b bench) {
	ctx := deadline(t)
	s := open(t, b, b.Target("filewise"))
	read := func() (active, sessions float64) {
		g, err := s.Activity(ctx)
		fatal(t, err)
		return g[0].Value, g[1].Value
	}
	lock, err := s.Lock(ctx, filewise.Holder{Who: "this one"}) // its connection is ours too
	fatal(t, err)
	defer func() { fatal(t, lock.Release()) }()
	if f := find(t, open(t, b, b.Target("filewise")).Examine(ctx, demand(t, nil)), "measuring lock"); f.Status != filewise.StatusOK {
		t.Errorf("%+v", f)
	}
	_, before := read()
	conn, err := b.Root.Conn(ctx)
	fatal(t, err)
	w := inserts(t, nil)
	db := buildOn(t, s, layout(filewise.KindPartitions, 2), w)
	for c := range 4 {
		session, err := db.Connect(ctx, 0, c)
		fatal(t, err)
		defer session.Close()
	}
	over := make(chan error)
	go func() { _, err := conn.ExecContext(ctx, "SELECT SLEEP(0.5)"); over <- err }()
	for busy := false; !busy; {
		active, sessions := read()
		if sessions > before+1 {
			t.Fatalf("%v sessions of others, %v before", sessions, before)
		}
		busy = active > 0
		if ctx.Err() != nil {
			t.Fatal("the other session is never seen at work")
		}
	}
	fatal(t, <-over)
	fatal(t, conn.Close())
	fatal(t, db.Drop(ctx))
}

// No error shows the password, whatever fails; the error for the wrong scheme names the
// right one.
func testSecrets(t *testing.T, b bench) {
	ctx := deadline(t)
	try := func(name string, code filewise.Code, want string, change func(*filewise.Address)) {
		t.Helper()
		target := b.Target("filewise")
		change(target.Address)
		start := time.Now()
		s, err := b.engine.Open(ctx, target)
		if err == nil {
			s.Close()
		}
		text := fmt.Sprintf("%v %+v %#v %s", err, err, err, filewise.RemedyOf(err))
		for _, secret := range []string{servertest.Password, "wrong-password", url.QueryEscape(servertest.Password)} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows the password", name)
			}
		}
		if filewise.CodeOf(err) != code || filewise.RemedyOf(err) == "" || !strings.Contains(text, want) || time.Since(start) > 40*time.Second {
			t.Errorf("%s: %s: %v; %s", name, filewise.CodeOf(err), err, filewise.RemedyOf(err))
		}
	}
	try("wrong password", filewise.CodePreflight, "password", func(a *filewise.Address) { a.Password = "wrong-password" })
	try("unknown user", filewise.CodePreflight, "password", func(a *filewise.Address) { a.User = "nobody" })
	try("unknown host", filewise.CodePreflight, "host", func(a *filewise.Address) { a.Host = "no.such.host.invalid" })
	try("nobody there", filewise.CodePreflight, "runs", func(a *filewise.Address) { a.Host, a.Port = "127.0.0.1", 1 })
	try("no socket", filewise.CodePreflight, "runs", func(a *filewise.Address) { a.Host = b.Dir + "/none" })
	if b.engine == mariaDB { // of Debian: without certificates
		try("no TLS", filewise.CodePreflight, "preferred", func(a *filewise.Address) { a.Options = map[string]string{"tls": "skip-verify"} })
	} else {
		try("unsigned TLS", filewise.CodePreflight, "tls-",
			func(a *filewise.Address) { a.Options = map[string]string{"tls": "true", "tls-server-name": "x"} })
	}
	other := mySQL
	if b.engine == mySQL {
		other = mariaDB
	}
	target := b.Target("filewise")
	target.Address.Scheme = other.Name
	_, err := other.Open(ctx, target)
	if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), b.engine.Name+"://") ||
		slices.Contains([]string{fmt.Sprint(err)}, servertest.Password) {
		t.Errorf("the wrong scheme: %v; %s", err, filewise.RemedyOf(err))
	}
}
