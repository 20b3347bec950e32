//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"filewise/results/store"
	"filewise/watch/web"
)

// freeAddress is an address on the loopback interface at which no process listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// livePage is a page that a child serves.
type livePage struct {
	p       *place
	address string
}

// sees waits until the page shows a state of the run.
func (l livePage) sees(what string, ok func(web.Status) bool) {
	l.p.t.Helper()
	var last web.Status
	err := until(time.Minute, func() (bool, error) {
		r, err := http.Get("http://" + l.address + "/api/state")
		if err != nil {
			return false, nil // it is not there yet
		}
		defer r.Body.Close()
		var got struct{ Status web.Status }
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			return false, err
		}
		last = got.Status
		return ok(last), nil
	})
	if err != nil {
		l.p.t.Fatalf("%s: %v\n%+v", what, err, last.Now)
	}
}

// press presses a button.
func (l livePage) press(action string) {
	l.p.t.Helper()
	token, err := os.ReadFile(filepath.Join(l.p.state, "token"))
	if err != nil {
		l.p.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+l.address+"/api/do/"+action, nil)
	if err != nil {
		l.p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		l.p.t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusNoContent {
		l.p.t.Fatalf("%s: %s", action, resp.Status)
	}
}

// A run is looked at, paused, resumed and stopped through its own page and through another process's, which outlives
// it.
func TestServe(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	own, other := livePage{p, freeAddress(t)}, livePage{p, freeAddress(t)}
	server := p.start("filewise", "serve", other.address)
	other.sees("an empty store", func(s web.Status) bool { return s.Now == nil && s.Progress == nil })
	c := p.start("filewise", append(append([]string(nil), shortRun...), "--serve="+own.address)...)
	other.sees("a measured trial of another process", func(s web.Status) bool {
		return s.Now != nil && s.Now.Course != nil &&
			s.Progress != nil
	})
	other.press(web.ActionPause)
	own.sees("a pause", func(s web.Status) bool {
		return s.Now != nil && strings.Contains(s.Now.Waiting, "paused") && s.Now.Stage == ""
	})
	_, _, _, before := p.newest()
	p.run(exitUsage, append(append([]string(nil), shortRun...), "--serve="+other.address)...)
	own.sees("the same pause", func(s web.Status) bool { return s.Now.Pausing })
	if _, _, _, after := p.newest(); len(after) != len(before) {
		t.Errorf("%d trials before, and %d after a while of pause", len(before), len(after))
	}
	own.press(web.ActionResume)
	p.untilTrials(c, len(before)+1)
	other.press(web.ActionStop)
	if code := p.exit(c); code != exitInterrupted {
		t.Errorf("stopped: exit code %d\n%s", code, &c.stderr)
	}
	other.sees("the run's end", func(s web.Status) bool {
		return s.Now == nil && s.Progress != nil && s.Progress.State == string(store.Interrupted)
	})
	p.signal(server, syscall.SIGINT)
	if code := p.exit(server); code != exitOK {
		t.Errorf("serve: exit code %d\n%s", code, &server.stderr)
	}
	if !strings.Contains(c.stderr.String(), "paused by the live page") {
		t.Errorf("the terminal does not tell of the pause:\n%s", &c.stderr)
	}
	p.tidy()
}

// A page that --open has opened stays when its run has ended, until Ctrl-C.
func TestPageStaysWhileItIsOpen(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	bin, address := t.TempDir(), freeAddress(t)
	text := filepath.Join(bin, "url")
	script := "#!/bin/sh\necho \"$1\" >" + text + ".new && mv " + text + ".new " + text + "\n"
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "darwin" {
		t.Skip("SKIPPED: a browser opened by xdg-open: macOS has its own")
	}
	looked := make(chan error, 1)
	go func() { looked <- lookUntilDone(t.Context(), text) }()
	shown := p.onTerminal(exitOK, []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, []typed{{"The live page stays", "\x03"}},
		append(slices.Clone(shortRun), "--serve="+address, "--open")...)
	if err := <-looked; err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
}

// lookUntilDone holds the page open whose address a file will have, until a run is done.
func lookUntilDone(ctx context.Context, file string) error {
	var address string
	err := until(time.Minute, func() (bool, error) {
		text, err := os.ReadFile(file)
		address = string(text)
		return err == nil, nil
	})
	text, readErr := os.ReadFile(strings.TrimSpace(address))
	_, address, _ = strings.Cut(string(text), `href="`)
	page, _, ticket := strings.Cut(address, "#once=")
	if err = errors.Join(err, readErr); err != nil || !ticket {
		return fmt.Errorf("what is opened is %q: %w", address, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page+"api/events", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 4<<20)
	done := false
	for lines.Scan() {
		done = done || strings.Contains(lines.Text(), `"state":"done","scenario"`)
	}
	if done {
		return nil
	}
	return fmt.Errorf("the page ended before its run was done: %w", lines.Err())
}
