package target

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filewise"
)

var schemes = []string{"postgres", "postgresql", "mysql", "mariadb", "sqlserver", "oracle"}

func TestParse(t *testing.T) {
	type opts = map[string]string
	for _, c := range []struct {
		text string
		want filewise.Address
	}{
		{"postgres://ada:s3cret@db.example:5433/bench?sslmode=verify-full",
			filewise.Address{Scheme: "postgres", Host: "db.example", Port: 5433, User: "ada", Password: "s3cret", Path: "bench",
				Options: opts{"sslmode": "verify-full"}}},
		{"PostgreSQL://db", filewise.Address{Scheme: "postgresql", Host: "db"}},
		{"postgres:///bench?host=/run/postgresql&port=5433&user=ada",
			filewise.Address{Scheme: "postgres", Host: "/run/postgresql", Port: 5433, User: "ada", Path: "bench"}},
		{"postgres://%2Frun%2Fpostgresql/bench", filewise.Address{Scheme: "postgres", Host: "/run/postgresql", Path: "bench"}},
		{"mysql://ada@/?socket=/run/mysqld/mysqld.sock", filewise.Address{Scheme: "mysql", Host: "/run/mysqld/mysqld.sock", User: "ada"}},
		{"mysql:///?host=@filewise", filewise.Address{Scheme: "mysql", Host: "@filewise"}},
		{"mariadb://a%40b:p%3Aq%2Fr%40s%25t@[::1]:3307/",
			filewise.Address{Scheme: "mariadb", Host: "::1", Port: 3307, User: "a@b", Password: "p:q/r@s%t"}},
		{"mariadb://ada:p@ss:w@rd@h", filewise.Address{Scheme: "mariadb", Host: "h", User: "ada", Password: "p@ss:w@rd"}},
		{"mysql://[fe80::1%25eth0]/db", filewise.Address{Scheme: "mysql", Host: "fe80::1%eth0", Path: "db"}},
		{"sqlserver://sa:x@h/SQLEXPRESS?database=tempdb&accessToken=abc",
			filewise.Address{Scheme: "sqlserver", Host: "h", User: "sa", Password: "x", Path: "SQLEXPRESS",
				Options: opts{"database": "tempdb"}, Secrets: map[string]filewise.Secret{"accessToken": "abc"}}},
		{"oracle://h:1521/ORCLPDB1?WALLET%20PASSWORD=a%26b", filewise.Address{Scheme: "oracle", Host: "h", Port: 1521, Path: "ORCLPDB1",
			Secrets: map[string]filewise.Secret{"WALLET PASSWORD": "a&b"}}},
		{"postgres://ada@h/?password=p+q&sslpassword=k&passfile=/x", filewise.Address{Scheme: "postgres", Host: "h", User: "ada", Password: "p q",
			Options: opts{"passfile": "/x"}, Secrets: map[string]filewise.Secret{"sslpassword": "k"}}},
		{"postgres://dbß.example/db", filewise.Address{Scheme: "postgres", Host: "dbß.example", Path: "db"}},
	} {
		got, err := Parse(c.text, schemes)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		// Secrets compare as themselves, for cmp prints none.
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
		again(t, got)
	}
}

// again: the URL that is shown and stored reads as the same address, without the
// secrets.
func again(t *testing.T, a filewise.Address) {
	t.Helper()
	want := a
	want.Password, want.Secrets = "", nil
	got, err := Parse(a.String(), schemes)
	if err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", a, diff)
	}
}

func TestRefused(t *testing.T) {
	const canary = "Zx9Canary"
	for _, text := range []string{
		"", canary, "h:5432/db", "host=h password=" + canary, "://h", "1x://h", "ftp://u:" + canary + "@h",
		"mongodb://u:" + canary + "@h", canary + " x://h",
		"postgres://u:" + canary + "#x@h/db", "postgres://u:" + canary + "/x@h/db", "postgres://u:12/" + canary + "@h/db",
		"postgres://u:" + canary + "?x@h/db", "postgres://u:1?" + canary + "=2@h/db", "postgres://u:p@" + canary + "/x@h/db",
		"postgres://u:%zz" + canary + "@h", "postgres://%zz" + canary + "@h", "postgres://:" + canary + "@h", "postgres://u@h/%zz" + canary,
		"postgres://u:" + canary, "postgres://u:p@h:" + canary, "postgres://h:0", "postgres://h:65536", "postgres://h:+1", "postgres://h:-1",
		"postgres://h1,h2/db", "postgres:///db?host=/a,/b", "postgres://[::1/db", "postgres://[::1]x/db", "postgres://[" + canary +
			"]/db", "postgres://::1/db",
		"mysql://u:" + canary + "@tcp(h:3306)/db", "postgres://h/db?" + canary, "postgres://h/db?=" + canary, "postgres://h/db?x=%" + canary,
		"postgres://h/db?password=" + canary, "postgres://u:" + canary + "@h?password=y" +
			canary, "postgres://u@h/?user=v", "postgres://h/?host=i",
		"postgres://h:1/?port=2", "postgres://h/?a=" + canary + "&a=2", "postgres://u:" + canary + "\n@h", "postgres://u:" + canary +
			"%00@h", "postgres://h/?a=%00",
	} {
		a, err := Parse(text, schemes)
		if filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%q: %+v, %v (%s)", text, a, err, filewise.RemedyOf(err))
			continue
		}
		if shown := err.Error() + filewise.RemedyOf(err); strings.Contains(strings.ToLower(shown), strings.ToLower(canary)) {
			t.Errorf("%q: the error shows %q", text, shown)
		}
		if !cmp.Equal(a, filewise.Address{}) {
			t.Errorf("%q: half an address: %+v", text, a)
		}
	}
}

// Text in a password's possible place is never shown, and what is shown reads as the same address again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"p", "p@ss", "a/b", "a?b", "a#b", "a%b", "a%41", "a:b", "[", "12/x", "12?x=y", "\x00", "ü", " ", "\\",
		"a&b=c"} {
		f.Add(s, s, "h:1/db")
	}
	const canary = "Zx9Canary"
	f.Fuzz(func(t *testing.T, before, after, rest string) {
		for _, text := range []string{
			"postgres://u:" + before + canary + after + "@" + rest,
			"oracle://u@" + rest + "?wallet%20password=" + before + canary,
			"postgres://u:" + before + canary + after + rest,
		} {
			if strings.ContainsAny(before, "&") && strings.Contains(text, "wallet") {
				continue // what stands behind an & is an option
			}
			a, err := Parse(text, schemes)
			hidden := SecretsIn(text)
			shown := ""
			if err != nil {
				shown = err.Error() + filewise.RemedyOf(err)
				if filewise.CodeOf(err) != filewise.CodeUsage {
					t.Fatalf("%q: %v", text, err)
				}
			} else {
				if !strings.Contains(a.Password.Reveal(), canary) && len(a.Secrets) == 0 {
					continue // it stands in another part, as after an @ of its own
				}
				stored, _ := json.Marshal(a)
				shown = fmt.Sprintf("%s %+v %s", a, a, stored)
				again(t, a)
				for _, s := range a.Hidden() {
					hidden = append(hidden, s)
				}
			}
			if strings.Contains(shown, canary) && !strings.Contains(rest, canary[:3]) {
				t.Errorf("%q is shown: %q", text, shown)
			}
			if masked := filewise.Hide(text, hidden...); strings.Contains(masked, canary) && strings.Contains(text, "@") && a.Password != "" {
				t.Errorf("%q is masked as %q", text, masked)
			}
		}
	})
}

func TestIsSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "sslpassword": true, "WALLET PASSWORD": true, "wallet_password": true, "access_token": true, "clientSecret": true,
		"pwd": true, "pasword": true, "passwrod": true, "sslpasword": true, "Passwort": true, "pass": true, "secrt": true,
		"wsrep_sst_auth": true, "primary_conninfo": true, "require_auth": false, "socket": false, "service": false, "certificate": false,
		"passfile": false, "sslmode": false, "sslkey": false, "user": false, "allowCleartextPasswords": false, "tls": false, "trace file": false,
	} {
		if IsSecret(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	a, err := Parse("postgres://ada@h/?pasword=hunter22", schemes)
	if shown := fmt.Sprint(a); err != nil || strings.Contains(shown, "hunter22") {
		t.Errorf("a mistyped password is shown: %s, %v", shown, err)
	}
}
