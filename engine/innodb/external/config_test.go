package external

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/servertest"
	"filewise/lab/workload"
)

func address(change func(*filewise.Address)) filewise.Address {
	a := filewise.Address{Scheme: "mariadb", Host: "db.example", User: "u", Password: servertest.Password, Options: map[string]string{}}
	if change != nil {
		change(&a)
	}
	return a
}

func with(name, value string) filewise.Address {
	return address(func(a *filewise.Address) { a.Options[name] = value })
}

// Every option of the driver is reached, or refused with the reason; what the
// driver does not have names what was probably meant.
func TestConfig(t *testing.T) {
	c, err := mariaDB.config(address(func(a *filewise.Address) {
		a.Port = 3307
		a.Options = map[string]string{"timeout": "3s", "readTimeout": "4s", "writeTimeout": "5s", "allowCleartextPasswords": "true",
			"allowNativePasswords": "0",
			"allowOldPasswords":    "1", "allowFallbackToPlaintext": "true", "rejectReadOnly": "true", "compress": "true", "maxAllowedPacket": "0",
			"connectionAttributes": "a:b", "tls": "skip-verify"}
	}))
	if err != nil || c.Addr != "db.example:3307" || c.Net != "tcp" || c.Passwd != servertest.Password || !c.AllowCleartextPasswords ||
		c.AllowNativePasswords ||
		!c.AllowOldPasswords || !c.RejectReadOnly || c.Timeout.Seconds() != 3 || c.ReadTimeout.Seconds() != 4 || c.WriteTimeout.Seconds() != 5 ||
		!strings.HasSuffix(c.ConnectionAttributes, ",a:b") || c.TLS == nil || !c.TLS.InsecureSkipVerify || !c.AllowFallbackToPlaintext {
		t.Errorf("%+v %v", c, err)
	}
	for name, want := range map[string]struct {
		address filewise.Address
		net     string
		addr    string
	}{
		"usual port":     {address(nil), "tcp", "db.example:3306"},
		"IPv6":           {address(func(a *filewise.Address) { a.Host = "::1" }), "tcp", "[::1]:3306"},
		"no host":        {address(func(a *filewise.Address) { a.Host = "" }), "tcp", "127.0.0.1:3306"},
		"socket":         {address(func(a *filewise.Address) { a.Host = "/run/s" }), "unix", "/run/s"},
		"option socket":  {address(func(a *filewise.Address) { a.Host, a.Options["socket"] = "", "/run/s" }), "unix", "/run/s"},
		"option host":    {address(func(a *filewise.Address) { a.Host, a.Options["host"] = "", "/run/s" }), "unix", "/run/s"},
		"abstract":       {address(func(a *filewise.Address) { a.Host = "@s" }), "unix", "@s"},
		"the same twice": {address(func(a *filewise.Address) { a.Host, a.Options["host"] = "/run/s", "/run/s" }), "unix", "/run/s"},
	} {
		if c, err := mariaDB.config(want.address); err != nil || c.Net != want.net || c.Addr != want.addr {
			t.Errorf("%s: %v %v", name, c, err)
		}
	}
	for name, c := range map[string]struct {
		address filewise.Address
		want    string // in the error or its remedy
	}{
		"unknown":          {with("tiemout", "3s"), `"timeout"`},
		"decided":          {with("multiStatements", "true"), "Filewise decides it"},
		"all files":        {with("allowAllFiles", "true"), "Filewise decides it"},
		"no truth":         {with("compress", "yes please"), "true or false"},
		"no duration":      {with("timeout", "soon"), "duration"},
		"negative":         {with("timeout", "-3s"), "duration"},
		"no number":        {with("maxAllowedPacket", "many"), "bytes"},
		"bad tls":          {with("tls", "maybe"), "preferred"},
		"no CA file":       {with("tls-ca", "/no/such"), "tls-ca=/no/such"},
		"no key":           {with("tls-cert", "/no/such"), "belong together"},
		"no public key":    {with("serverPubKey", "/no/such"), "RSA"},
		"relative socket":  {with("socket", "s"), "several places"},
		"two places":       {with("socket", "/run/s"), "several places"},
		"scheme":           {address(func(a *filewise.Address) { a.Scheme = "mysql" }), "mariadb://"},
		"no user":          {address(func(a *filewise.Address) { a.User = "" }), "USER@HOST"},
		"database":         {address(func(a *filewise.Address) { a.Path = "/shop" }), "leave /shop out"},
		"port of a socket": {address(func(a *filewise.Address) { a.Host, a.Port = "/run/s", 3306 }), "no port"},
		"another engine's secret": {address(func(a *filewise.Address) { a.Secrets = map[string]filewise.Secret{"sslpassword": "x"} }),
			"sslpassword"},
		"contradiction": {address(func(a *filewise.Address) {
			a.Options = map[string]string{"tls": "false",
				"tls-server-name": "x"}
		}), "contradicts"},
	} {
		_, err := mariaDB.config(c.address)
		text := fmt.Sprint(err, filewise.RemedyOf(err))
		if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(text, c.want) || strings.Contains(text, servertest.Password) {
			t.Errorf("%s: %s (%s)", name, text, filewise.CodeOf(err))
		}
	}
	garbage := filepath.Join(t.TempDir(), "garbage")
	fatal(t, os.WriteFile(garbage, []byte("not PEM"), 0o600))
	for _, name := range []string{"tls-ca", "serverPubKey"} {
		if _, err := mariaDB.config(with(name, garbage)); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What an external server cannot have is refused by the plan, without a server.
func TestRefusals(t *testing.T) {
	a := address(nil)
	target := filewise.Target{Engine: "mariadb", Mode: filewise.External, Address: &a,
		Volumes: []filewise.Volume{{Name: "default"}, {Name: "x", Dir: "/x"}}}
	w := inserts(t, nil)
	for name, change := range map[string]func(*filewise.Target, *filewise.Layout){
		"system":        func(_ *filewise.Target, l *filewise.Layout) { l.Kind = filewise.KindSystem },
		"preallocated":  func(_ *filewise.Target, l *filewise.Layout) { l.Data.Allocation = filewise.Preallocated },
		"log apart":     func(_ *filewise.Target, l *filewise.Layout) { l.LogVolume = "x" },
		"indexes apart": func(_ *filewise.Target, l *filewise.Layout) { l.Indexes = filewise.IndexesApart },
		"new data":      func(_ *filewise.Target, l *filewise.Layout) { l.AddedLater = filewise.LaterNewData },
		"tables added later": func(_ *filewise.Target, l *filewise.Layout) {
			l.Kind, l.AddedLater = filewise.KindPerTable, filewise.LaterRebuilt
		},
		"settings": func(t *filewise.Target, _ *filewise.Layout) {
			t.Settings = map[string]string{"innodb_io_capacity": "1"}
		},
		"8193 partitions": func(_ *filewise.Target, l *filewise.Layout) { l.Data.Files, l.Data.Bytes = 8193, 8<<30 },
	} {
		target, l := target, layout(filewise.KindPartitions, 4)
		change(&target, &l)
		if _, err := mariaDB.Statements(target, l, w.Program()); !errors.Is(err, filewise.ErrUnsupported) || filewise.RemedyOf(err) == "" ||
			len(err.Error()) < 40 {
			t.Errorf("%s: %v; %s", name, err, filewise.RemedyOf(err))
		}
	}
	dump, err := workload.NewDump(workload.Params{Rows: 1000}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mariaDB.Statements(target, layout(filewise.KindPartitions, 4), dump.Program()); !errors.Is(err, filewise.ErrUnsupported) ||
		!strings.Contains(err.Error(), "READ LOCK") {
		t.Errorf("a dump, which locks the tables of others: %v", err)
	}
	target.Volumes = []filewise.Volume{{Name: "r", Dir: "relative/dir"}}
	if _, err := mariaDB.Statements(target, layout(filewise.KindPartitions, 4), w.Program()); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("relative: %v", err)
	}
}

func TestGrants(t *testing.T) {
	read := func(literal bool, lines ...string) rights {
		r := rights{global: map[string]bool{}, ours: map[string]bool{}}
		for _, line := range lines {
			r.add(line, literal)
		}
		return r
	}
	for name, c := range map[string]struct {
		rights  rights
		missing int
		process bool
	}{
		"documented":       {read(false, strings.ReplaceAll(mariaDB.Rights()[0], "%`.*", "%`.*"), "GRANT PROCESS ON *.* TO `u`@`%`"), 0, true},
		"all":              {read(false, "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION"), 0, true},
		"all of a pattern": {read(false, "GRANT ALL PRIVILEGES ON `%`.* TO `u`@`%`"), 0, false},
		"another database": {read(false, "GRANT ALL PRIVILEGES ON `shop`.* TO `u`@`%`"), len(needed), false},
		"one table":        {read(false, "GRANT SELECT, INSERT ON `filewise\\_%`.`t` TO `u`@`%`"), len(needed), false},
		"one name":         {read(false, "GRANT ALL PRIVILEGES ON `filewise_`.* TO `u`@`%`"), len(needed), false},
		"literal":          {read(true, "GRANT ALL PRIVILEGES ON `filewise\\_%`.* TO `u`@`%`"), len(needed), false},
		"all but four": {read(false, "GRANT SELECT, INSERT, UPDATE, DELETE, DROP, INDEX, ALTER, CREATE ROUTINE, ALTER ROUTINE ON "+
			"`filewise%`.* TO `u`@`%`"), 4, false},
		"revoked":           {read(false, "GRANT ALL PRIVILEGES ON *.* TO `u`@`%`", "REVOKE PROCESS ON *.* FROM `u`@`%`"), 0, false},
		"a role, a proxy":   {read(false, "GRANT `r`@`%` TO `u`@`%`", "GRANT PROXY ON ''@'' TO 'root'@'localhost'"), len(needed), false},
		"identified, usage": {read(false, "GRANT USAGE ON *.* TO `filewise`@`%` IDENTIFIED BY PASSWORD '*0E3F'"), len(needed), false},
	} {
		if got := c.rights.missing(needed); len(got) != c.missing || c.rights.global["PROCESS"] != c.process {
			t.Errorf("%s: missing %v, PROCESS %v", name, got, c.rights.global["PROCESS"])
		}
	}
	if !read(false, "GRANT ALL PRIVILEGES ON `filewise\\_%`.* TO `u`@`%`").on("REFERENCES") {
		t.Error("ALL PRIVILEGES has no REFERENCES in it")
	}
}

// MariaDB 11.1 renamed two session variables.
func TestSessionOf(t *testing.T) {
	for _, c := range []struct {
		product *dialect.Product
		release [2]int
		want    string
	}{
		{dialect.MariaDB, [2]int{10, 6}, "tx_isolation"}, {dialect.MariaDB, [2]int{11, 0}, "tx_isolation"},
		{dialect.MariaDB, [2]int{11, 1}, "transaction_isolation"},
		{dialect.MariaDB, [2]int{12, 0}, "transaction_isolation"}, {dialect.MySQL, [2]int{8, 0}, "transaction_isolation"},
		{dialect.MySQL, [2]int{9, 1}, "transaction_isolation"},
	} {
		all := c.product.External.Session(c.release)
		if all[c.want] == "" || len(all) != len(c.product.External.Session(c.product.External.Oldest)) {
			t.Errorf("%s %v: %v", c.product.Name, c.release, all)
		}
	}
}
