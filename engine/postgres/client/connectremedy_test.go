package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
)

// A server without TLS gets two attempts: what it answers to the second attempt decides what is to be done, and no name
// that holds "tls" does.
func TestConnectRemedy(t *testing.T) {
	first := errors.New("127.0.0.1:5432 (tls-db): tls error: server refused TLS connection")
	for code, want := range map[string]string{"53300": "max_connections", "55000": "ALLOW_CONNECTIONS", "57P03": "has started",
		"28P01": "password", "3D000": "DATABASE", "08P01": "log", "": "host and port"} {
		err := error(&pgconn.PgError{Code: code, Message: "no"})
		if code == "" {
			err, first = errors.New("lookup tls-db.example: no such host"), errors.New("host tls-db.example")
		}
		err = ConnectError("postgres://x@h/", fmt.Errorf("%w: %w", first, err))
		if got := filewise.RemedyOf(err); !strings.Contains(got, want) || strings.Contains(got, "sslmode") {
			t.Errorf("%q: %s", code, got)
		}
	}
	if got := filewise.RemedyOf(ConnectError("u", errors.New("tls error: server refused TLS connection"))); !strings.Contains(got, "sslmode") {
		t.Errorf("TLS: %s", got)
	}
}

// An option that has few values is refused with all of them, before anything connects.
func TestOptionValues(t *testing.T) {
	for name, known := range values {
		for _, value := range append([]string{""}, known...) {
			if err := CheckOptions(filewise.Address{Options: map[string]string{name: value}}); err != nil {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
		_, err := configOf(filewise.Address{Host: "h", User: "u", Options: map[string]string{name: "banana"}})
		if remedy := filewise.RemedyOf(err); filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(remedy, strings.Join(known, ", ")) {
			t.Errorf("%s: %v; %s", name, err, remedy)
		}
	}
}
