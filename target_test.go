package filewise

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
)

func TestSecretIsNeverShown(t *testing.T) {
	const password = "pa%ss/w'ord"
	a := Address{Scheme: "postgres", Host: "db", Port: 5433, User: "dba", Path: "postgres",
		Options: map[string]string{"sslmode": "require"}, Password: password, Secrets: map[string]Secret{"sslpassword": "key phrase"}}
	stored, err := json.Marshal(Target{Address: &a})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("open", "password", a.Password, "address", a)
	for _, text := range []string{string(stored), a.String(), log.String(),
		fmt.Sprintf("%v %+v %#v %s %q %x %d", a, a, a, a, a.Password, a.Password, a.Password)} {
		for _, s := range []string{password, "key phrase", fmt.Sprintf("%x", password), "pa%25ss"} {
			if strings.Contains(text, s) {
				t.Errorf("%q shows %q", text, s)
			}
		}
	}
	if a.String() != "postgres://dba@db:5433/postgres?sslmode=require" {
		t.Error(a.String())
	}
	var back Target
	if err := json.Unmarshal(stored, &back); err != nil || back.Address.Password != "" || back.Address.User != "dba" {
		t.Errorf("%+v %v", back, err)
	}
	cause := errors.New("cannot parse `postgres://dba:pa%25ss%2Fw%27ord@db`: password pa%ss/w'ord")
	shown := HideIn(cause, a.Hidden()...)
	if strings.Contains(shown.Error(), "ord") && strings.Contains(shown.Error(), "pa%") || !errors.Is(shown, cause) {
		t.Error(shown)
	}
	if HideIn(nil, "x") != nil {
		t.Error("no error is an error")
	}
}

// What a password is, if it is a word: it leaves other words whole and names readable, and wherever a password can
// stand, it is hidden.
func TestHide(t *testing.T) {
	for _, c := range []struct {
		secret     Secret
		text, want string
	}{
		{"lim", "the limit of lim, slim or lim_x is lim", "the limit of ********, slim or lim_x is ********"},
		{"filewise", "GRANT PROCESS ON *.* TO `filewise`@`%`; filewise doctor", "GRANT PROCESS ON *.* TO `filewise`@`%`; filewise doctor"},
		{"ada", `user "ada" of postgres://ada@db/ada: ALTER ROLE ada; 'ada'@'%'`,
			`user "ada" of postgres://ada@db/********: ALTER ROLE ada; 'ada'@'%'`},
		{"postgres", "postgres://ada:postgres@db", "postgres://ada:********@db"},
		{"a", "a password=a and a", "a password=******** and a"},
		{"pa$$", "xpa$$x", "x********x"},
		{"averylongpassword", "xaverylongpasswordx", "x********x"},
	} {
		if got := Hide(c.text, c.secret); got != c.want {
			t.Errorf("%q in %q: %q", string(c.secret), c.text, got)
		}
	}
	if got := Hide("abc-def", "abc", "abc-def"); got != hidden {
		t.Errorf("a secret within another: %q", got)
	}
	for _, word := range []string{"a", "7", "lim", "ada", "filewise", "5432", "admin1", "YES", "über"} {
		for _, form := range []string{"postgres://bob:%s@db/x", "mysql://:%s@db", "bob:%s@tcp(db:3306)/", "bob/%s@//db:1521/x", `"bob"/"%s"@//db`,
			"host=db password=%s user=bob", "password = '%s'", "PASSWORD '%s'", `{"password":"%s"}`, "password: %s", "Server=db;Pwd=%s;",
			"IDENTIFIED BY %s", `identified by "%s"`, "mysql -p%s", "mysql -ubob -p %s", "MYSQL_PWD=%s", "PGPASSWORD=%s",
			"access_token=%s&", "sslpassword=%s"} {
			text := strings.Replace(form, "%s", word, 1)
			for _, text := range []string{text, fmt.Sprintf("%q", text), fmt.Sprintf("%q", fmt.Sprintf("%q", text)), url.QueryEscape(text),
				"an error: " + text} {
				a := Address{Password: Secret(word)}
				if got := Hide(text, a.Hidden()...); strings.Count(got, hidden) != 1 {
					t.Errorf("%q in %s: %s", word, text, got)
				}
			}
		}
	}
}
