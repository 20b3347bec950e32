package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filewise/lab/experiment"
	"filewise/results/store"
	"filewise/run/plan"
	"filewise/watch/notify"
	"filewise/watch/notify/notifytest"
)

// home has a command line's own store, state and lock.
type home struct {
	dir string
}

func newHome(t *testing.T) home {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("FILEWISE_STORE", filepath.Join(dir, "store.db"))
	t.Setenv("FILEWISE_STATE", filepath.Join(dir, "state"))
	t.Setenv("FILEWISE_LOCK", fmt.Sprintf("filewise-test-%d-%s", os.Getpid(), filepath.Base(dir)))
	t.Setenv("FILEWISE_VOLUME", "here="+dir)
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	return home{dir}
}

func (home) run(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	err := execute(context.Background(), split(args), strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), exitCode(err)
}

// events are the events that a webhook got.
func events(t *testing.T, h *notifytest.Hook) (out []notify.Message) {
	t.Helper()
	for _, body := range h.Bodies() {
		var m notify.Message
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// A run reports its beginning and its end: by mail with the report, and by a webhook with JSON. Neither secret is
// stored, printed or sent. A mail server that dies during the run is a warning, and the run is unaffected.
func TestNotifyRun(t *testing.T) {
	p, m, h := newHome(t), notifytest.NewMail(t), notifytest.NewHook(t)
	dying := notifytest.NewHook(t)
	dies := make(chan bool)
	go func() {
		defer close(dies)
		_ = until(time.Minute, func() (bool, error) { return len(dying.Bodies()) > 0, nil })
		dying.Close()
	}()
	t.Setenv("MAIL", "# nobody sees this\nsmtp://"+notifytest.Account+"@"+m.Addr+"/?from=fw@example.org&to=ada@example.org")
	out, text, code := p.run("run", tiny, "--notify", "env:MAIL", "--notify", h.URL+"/hook/SecretCanary", "--notify", dying.URL+"/DyingCanary")
	<-dies
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, text)
	}
	if len(dying.Bodies()) != 1 || !strings.Contains(text, "filewise: warning: "+dying.URL+"/******** was not notified") {
		t.Errorf("of a server that died after %d messages: %s", len(dying.Bodies()), text)
	}
	letters := m.Got()
	if len(letters) != 2 {
		t.Fatalf("%d letters", len(letters))
	}
	letter, err := mail.ReadMessage(strings.NewReader(letters[1]))
	if err != nil {
		t.Fatal(err)
	}
	report := notifytest.Parts(t, letter)["filewise-1.html"]
	if !strings.HasPrefix(report, "<!doctype html>") && !strings.HasPrefix(report, "<!DOCTYPE html>") ||
		!strings.HasSuffix(strings.TrimSpace(report), "</html>") {
		t.Errorf("the attachment is no report: %d bytes", len(report))
	}
	got := events(t, h)
	if len(got) != 2 || got[0].Event != notify.Started || got[0].Run.ID != 0 {
		t.Fatalf("%d events: %+v", len(got), got)
	}
	if end := got[1]; end.Event != notify.Done && end.Event != notify.Decided || end.Run.ID != 1 || end.Run.State != string(store.Done) ||
		end.Run.Trials != 6 || end.Run.Ended == nil || end.Run.Verdict == "" {
		t.Errorf("%+v %+v", end, end.Run)
	}
	stored, err := os.ReadFile(filepath.Join(p.dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out+text+string(stored)+strings.Join(letters, "")+strings.Join(h.Bodies(), ""), "Canary") {
		t.Error("a secret is shown, stored or sent")
	}
	if !bytes.Contains(stored, []byte(`"env:MAIL"`)) {
		t.Error("where the URL is was not stored")
	}
}

// An address that does not work refuses the run before anything is made, and a run that is refused anyhow sends
// nothing.
func TestNotifyRefused(t *testing.T) {
	p, h := newHome(t), notifytest.NewHook(t, 404, 200)
	for _, args := range [][]string{
		{"--notify", "http://127.0.0.1:1/Canary"}, {"--notify", h.URL + "/Canary"}, {"--notify", "ftp://Canary"}, {"--notify", "env:NO_CANARY"},
		{"--notify", "file:/no/such"}, {"--notify", h.URL, "--notify-on", "don"},
	} {
		_, text, code := p.run(append([]string{"run", tiny}, args...)...)
		if want := map[bool]int{true: exitPreflight, false: exitUsage}[strings.HasPrefix(args[1], "http://") && len(args) == 2]; code != want {
			t.Errorf("%v: exit code %d: %s", args, code, text)
		}
		if strings.Contains(text, "/Canary") || !strings.Contains(text, "→") {
			t.Errorf("%v: %s", args, text)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "store.db")); err == nil {
		t.Error("there is a store")
	}
	open := filepath.Join(p.dir, "urls")
	if err := os.WriteFile(open, []byte(h.URL), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, text, code := p.run("run", "--notify", "file:"+open); code != exitUsage || !strings.Contains(text, "chmod 600") {
		t.Errorf("%d: %s", code, text)
	}
	if err := os.Chmod(open, 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(h.Bodies())
	if _, text, code := p.run("run", tiny, "--notify", "file:"+open, "--size", "1EB"); code == 0 || len(h.Bodies()) != before {
		t.Errorf("%d after %d messages: %s", code, len(h.Bodies())-before, text)
	}
}

// A run that goes on notifies the same receivers as before; addresses with a secret have to be given again.
func TestNotifyAgain(t *testing.T) {
	for _, c := range []struct {
		stored, given []string
		tells         int
		refused       bool
	}{
		{[]string{"http://127.0.0.1:1"}, nil, 1, false},
		{[]string{"http://127.0.0.1:1/********"}, nil, 0, true},
		{[]string{"http://127.0.0.1:1/********"}, []string{"none"}, 0, false},
		{[]string{"http://127.0.0.1:1/********"}, []string{"http://127.0.0.1:1/hook", "http://127.0.0.1:2"}, 2, false},
		{[]string{"env:NO_SUCH_VARIABLE"}, nil, 0, true},
		{nil, nil, 0, false},
	} {
		o := plan.NotifyOptions{Notify: plan.Of(c.given)}
		told, err := o.ReceiversAgain(experiment.Plan{Notify: c.stored, NotifyOn: "failed"}, true)
		if (err != nil) != c.refused || len(told.Addresses) != c.tells || err == nil && told.Events[0] != notify.Failed {
			t.Errorf("%v, %v: %v, tells %d of %v", c.stored, c.given, err, len(told.Addresses), told.Events)
		}
	}
}
