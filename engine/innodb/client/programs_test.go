package client

import (
	"slices"
	"testing"

	"filewise/engine/innodb/dialect"
)

// A program that cannot take the TLS options whole has the certificates, and checks what it can.
func TestSecured(t *testing.T) {
	for _, c := range []struct {
		given          map[string]string
		mysql, mariadb []string
	}{
		{nil, nil, nil},
		{map[string]string{"tls": "true"}, []string{"--ssl-mode=REQUIRED"}, []string{"--ssl"}},
		{map[string]string{"tls": "preferred"}, []string{"--ssl-mode=PREFERRED"}, nil},
		{map[string]string{optionCA: "a", optionCert: "b", optionKey: "c"},
			[]string{"--ssl-ca=a", "--ssl-cert=b", "--ssl-key=c", "--ssl-mode=VERIFY_IDENTITY"},
			[]string{"--ssl-ca=a", "--ssl-cert=b", "--ssl-key=c", "--ssl-verify-server-cert"}},
		{map[string]string{optionCA: "a", optionServerName: "db"}, []string{"--ssl-ca=a", "--ssl-mode=VERIFY_CA"},
			[]string{"--ssl-ca=a", "--ssl"}},
	} {
		if got := Secured(dialect.MySQL, c.given); !slices.Equal(got, c.mysql) {
			t.Errorf("%v: MySQL has %q, want %q", c.given, got, c.mysql)
		}
		if got := Secured(dialect.MariaDB, c.given); !slices.Equal(got, c.mariadb) {
			t.Errorf("%v: MariaDB has %q, want %q", c.given, got, c.mariadb)
		}
	}
}
