package filewise

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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
