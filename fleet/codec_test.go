package fleet

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"filewise"
	"filewise/internal/filesystem"
)

// keyed are a client's options with keys, each of one letter.
func keyed(t *testing.T, letters ...string) (o client.Options) {
	t.Helper()
	var keys []string
	for _, l := range letters {
		keys = append(keys, base64.StdEncoding.EncodeToString([]byte(strings.Repeat(l, 32))))
	}
	t.Setenv(KeyVariable, strings.Join(keys, "\n"))
	if err := encrypt(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

// With a key nothing readable goes to Temporal: no payload, no error. Anyone who has not the key cannot read it, and
// cannot ask for anything.
func TestNothingReadableIsInAHistory(t *testing.T) {
	old, two, other := keyed(t, "a"), keyed(t, "b", "a"), keyed(t, "c")
	told := State{Job: job("inserts"), Error: "disk is full"}
	payloads, err := old.DataConverter.ToPayloads(told, "a signal")
	if err != nil {
		t.Fatal(err)
	}
	again, err := old.DataConverter.ToPayloads(told, "a signal")
	if err != nil {
		t.Fatal(err)
	}
	failure := old.FailureConverter.ErrorToFailure(temporal.NewApplicationError("disk is full", "host"))
	for name, m := range map[string]proto.Message{"payloads": payloads, "failure": failure} {
		text, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"inserts", "storage", "disk", "signal", "json"} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s hold %q", name, word)
			}
		}
	}
	if proto.Equal(payloads, again) {
		t.Error("what is the same looks the same")
	}
	var got State
	var signal string
	if err := two.DataConverter.FromPayloads(payloads, &got, &signal); err != nil || got.Error != told.Error || signal != "a signal" {
		t.Errorf("after a new key: %+v, %v", got, err)
	}
	if err := two.FailureConverter.FailureToError(failure); !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("the error: %v", err)
	}
	plain, err := converter.GetDefaultDataConverter().ToPayloads(told)
	if err != nil {
		t.Fatal(err)
	}
	payloads.Payloads[1].Data[20]++
	for name, err := range map[string]error{"another key": other.DataConverter.FromPayloads(payloads, &got),
		"not encrypted": old.DataConverter.FromPayloads(plain, &got)} {
		if !errors.Is(err, errKey) || filewise.CodeOf(unreachable(err)) != filewise.CodeUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
	keyless := converter.GetDefaultDataConverter().FromPayloads(payloads, &got)
	if err := unreachable(keyless); !strings.Contains(filewise.RemedyOf(err), KeyVariable) {
		t.Errorf("without a key: %v, do this: %s", err, filewise.RemedyOf(err))
	}
	if err := old.DataConverter.FromPayload(payloads.Payloads[1], &signal); err == nil {
		t.Error("what was changed on its way is taken")
	}
}

// Settings that would be passed over, and secrets that others may read, are refused.
func TestSettingsAreRefused(t *testing.T) {
	dir := t.TempDir()
	key, config := filepath.Join(dir, "client.key"), filepath.Join(dir, "temporal.toml")
	for file, text := range map[string]string{key: "a key", config: "[profile.default]\napi_key = \"sk-secret\"\n"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][3]string{{"TEMPORAL_TLS", "yes", "give true or false"}, {"TEMPORAL_TLS_CLIENT_KEY_PATH", key, "chmod 600 " + key},
		{"TEMPORAL_CONFIG_FILE", key + "x", "name a file that you may read"}, {"TEMPORAL_CONFIG_FILE", config, "chmod 600 " + config}} {
		t.Run(c[0], func(t *testing.T) {
			t.Setenv(c[0], c[1])
			_, err := settings()
			if filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) != c[2] || strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("%s: %v, do this: %s", c[1], err, filewise.RemedyOf(err))
			}
		})
	}
	if err := os.Chmod(config, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEMPORAL_CONFIG_FILE", config)
	if _, err := settings(); err != nil {
		t.Errorf("a file that nobody else may read: %v", err)
	}
}

// If TLS fails the remedy names what is missing.
func TestUnreachableByTLS(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	go func() { _ = server.Serve(l) }() // until it is stopped
	defer server.Stop()
	t.Setenv("TEMPORAL_TLS", "true")
	if _, err := Dial(t.Context(), l.Addr().String(), nil); !strings.HasPrefix(filewise.RemedyOf(err), "it speaks no TLS there") {
		t.Errorf("%v, do this: %s", err, filewise.RemedyOf(err))
	}
}

func TestKeyIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	for _, text := range []string{"", "short", base64.StdEncoding.EncodeToString([]byte("16 bytes are few")), " \n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(KeyFileVariable, file)
		var o client.Options
		if err := encrypt(&o); filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), "openssl") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := encrypt(new(client.Options)); !errors.Is(err, filesystem.ErrShared) || filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("a key that everybody can read: %v", err)
	}
	t.Setenv(KeyFileVariable, file+"x")
	if err := encrypt(new(client.Options)); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("a file that is not there: %v", err)
	}
}
