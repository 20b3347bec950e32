package run_test

import (
	"net"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/all"
	"filewise/own/capture"
	"filewise/run"
)

// A server that takes the connection and never answers holds no command, whatever its engine, and is named.
func TestSilentServer(t *testing.T) {
	run.Impatient(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // the system takes the connections
	asked := 0
	for _, e := range all.Engines() {
		if e.Name() == "sqlite" {
			continue
		}
		asked++
		t.Run(e.Name(), func(t *testing.T) {
			a := filewise.Address{Scheme: e.Name(), Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, User: "u", Password: "p",
				Options: map[string]string{}}
			if e.Name() == "oracle" {
				a.Path = "service"
			}
			target := filewise.Target{Engine: e.Name(), Mode: filewise.External, Address: &a, Volumes: []filewise.Volume{{Name: "default"}}}
			_, err := run.Opened(t.Context(), e, target)
			captures, _ := capture.Of(e)
			_, watched := captures.Watch(t.Context(), target, "database")
			for _, err := range []error{err, watched} {
				if err == nil || !strings.Contains(err.Error(), "no answer within") || filewise.RemedyOf(err) == "" {
					t.Errorf("%v; %s", err, filewise.RemedyOf(err))
				}
			}
		})
	}
	if asked < 5 {
		t.Errorf("%d engines", asked)
	}
}
