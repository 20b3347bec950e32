package doctor

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"filewise"
)

// An anonymous report names no host, no user and nothing of a home, wherever it stands.
func TestAnonymous(t *testing.T) {
	t.Setenv("HOME", "/srv/homes/gracehopper")
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	const told = "volume /srv/homes/gracehopper/data on /home/adalovelace/x; socket of gracehopper@HERE; " +
		"the server's host name is dbhost9; fe80::1ff:fe23:4567:890a, 192.168.7.44:5432. postgres://dba7@db.corp.example/ " +
		"and db.corp.example; version 19.3.0.0.0, 127.0.0.1, 10.11.19"
	text := strings.ReplaceAll(told, "HERE", here)
	finding := func() []filewise.Finding { return []filewise.Finding{{Detail: text, Remedy: text}} }
	d := &Diagnosis{Machine: finding(), Findings: finding(), SelfCheck: finding(), Notifications: finding(),
		Server: []filewise.Fact{{Name: "datadir", Value: text}, {Name: "hostname", Value: "dbhost9"}},
		Offers: map[filewise.Capability]string{"x": text}}
	address := &filewise.Address{Host: "db.corp.example", User: "dba7"}
	d.anonymous(filewise.Target{Engine: "postgres", Mode: filewise.External, Address: address}, func(s string) string { return s })
	if r := d.Findings[0].Remedy; !strings.Contains(r, "db.corp.example") {
		t.Errorf("a remedy that is to be executed has lost its host: %s", r)
	}
	d.Anonymous()
	shown := fmt.Sprintf("%+v", *d)
	shown, _, _ = strings.Cut(shown, " hosts:")
	for _, name := range []string{"gracehopper", "adalovelace", "dbhost9", "fe80", "192.168", "dba7", "corp.example", "@" + here} {
		if strings.Contains(shown, name) {
			t.Errorf("it shows %s: %s", name, shown)
		}
	}
	for _, kept := range []string{"19.3.0.0.0", "127.0.0.1", "10.11.19", "~/data"} {
		if !strings.Contains(shown, kept) {
			t.Errorf("it has lost %s: %s", kept, shown)
		}
	}
}
