package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"filewise/internal/process"
	"filewise/lab/experiment"
	"filewise/results/report"
)

// A pause lets no further trial start, a stop ends it.
func TestPause(t *testing.T) {
	m := NewMonitor(first(t, finished(t), 0), "", func() {})
	must(t, m.Await(t.Context(), func(experiment.Event) { t.Error("it waits without a pause") }))
	m.Pause()
	m.Pause()
	told := make(chan experiment.Event, 10)
	over := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { over <- m.Await(ctx, func(e experiment.Event) { m.Notify(e); told <- e }) }()
	if e := <-told; e.Kind != experiment.EventWaiting || !e.Until.IsZero() {
		t.Errorf("told %+v", e)
	}
	if s := m.Status(t.Context(), 0); !s.Now.Pausing || !strings.Contains(s.Now.Waiting, "paused") {
		t.Errorf("paused: %+v", s.Now)
	}
	m.Resume()
	m.Resume()
	must(t, <-over)
	if s := m.Status(t.Context(), 0); s.Now.Pausing {
		t.Errorf("resumed: %+v", s.Now)
	}
	m.Pause()
	go func() { over <- m.Await(ctx, func(experiment.Event) { cancel() }) }()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Errorf("stopped while paused: %v", err)
	}
}

// What is the same is not sent again.
func TestStatusOfKnownVersion(t *testing.T) {
	d := finished(t)
	m := NewMonitor(first(t, d, 5), "s", func() {})
	s := m.Status(t.Context(), 0)
	if s.Progress == nil || s.Now == nil || s.Run != 12 || s.Store != "s" {
		t.Fatalf("%+v", s)
	}
	if again := m.Status(t.Context(), s.Version); again.Progress != nil {
		t.Error("known progress is sent again")
	}
	m.Notify(recorded(t, d, 5))
	if later := m.Status(t.Context(), s.Version); later.Progress == nil || len(later.Progress.Log) != 6 {
		t.Errorf("after a trial: %+v", later.Progress)
	}
	d.Ended = time.Now()
	m.End(d)
	if s := m.Status(t.Context(), 0); s.Now != nil || s.Progress.Ended == nil || s.Progress.Left == "" {
		t.Errorf("ended: %+v", s)
	}
}

// Browsers that never read, or go away, neither hold up the run's events nor leave anything behind; the answer to
// browsers that read goes on.
func TestSlowBrowsers(t *testing.T) {
	d := finished(t)
	before := runtime.NumGoroutine()
	m := NewMonitor(first(t, d, 3), "", func() {})
	// More is sent at once than the system takes for a browser that does not read.
	long := report.Data{RunID: 1, Plan: experiment.Plan{Scenario: strings.Repeat("x", 10<<20)}}
	s, err := Listen(Config{Address: "127.0.0.1:0", Token: testToken, Archive: shelf{runs: []report.Data{long}}, Version: "test"})
	must(t, err)
	s.Show(m)
	const slow = 6
	var conns []net.Conn
	for i := range 2 * slow {
		c, err := net.Dial("tcp", s.listener.Addr().String())
		must(t, err)
		_, err = c.Write([]byte("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		must(t, err)
		if conns = append(conns, c); i%2 == 1 {
			must(t, c.Close()) // vanished
		}
	}
	until(t, "all that have not vanished hold up the writing to them", func() bool { return s.pages.Load() == slow && writing() == slow })
	e := recorded(t, d, 3)
	const told = 200_000
	start := time.Now()
	for range told {
		m.Notify(experiment.Event{Kind: experiment.EventStage, Cell: e.Cell, Stage: "build"})
	}
	if held := writing(); held != slow { // had the run waited for one, that one would have been let go
		t.Errorf("%d pages hold up the writing to them after %v, of %d", held, time.Since(start), slow)
	}
	t.Logf("%v an event, with %d pages open of which none reads", time.Since(start)/told, s.pages.Load())
	reader := bufio.NewReader(conns[0])
	until(t, "the page that reads is told the newest state", func() bool {
		line, err := reader.ReadString('\n')
		must(t, err)
		return strings.HasPrefix(line, "data:") && strings.Contains(line, `"stage":"build"`)
	})
	for _, c := range conns {
		_ = c.Close()
	}
	s.Close()
	until(t, "nothing is left running", func() bool { return runtime.NumGoroutine() <= before })
}

// writing counts the pages that are being written to at this moment.
func writing() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "(*stream).write(")
}

// Another process queries through the socket, wherever the directory is.
func TestSocket(t *testing.T) {
	d := finished(t)
	for i, dir := range []string{filepath.Join(t.TempDir(), "live"), filepath.Join(t.TempDir(), strings.Repeat("x", 150), "live"),
		filepath.Join(t.TempDir(), "as on Windows")} {
		stopped := make(chan struct{}, 1)
		m := NewMonitor(first(t, d, 8), "/srv/x.db", func() { stopped <- struct{}{} })
		hide, err := m.expose(dir, i == 2)
		must(t, err)
		info, err := os.Stat(dir)
		must(t, err)
		if info.Mode().Perm() != 0o700 {
			t.Errorf("mode %v", info.Mode())
		}
		sockets, err := os.ReadDir(dir)
		if err != nil || len(sockets) != 1 {
			t.Fatalf("%v %v", sockets, err)
		}
		r := dialed(dir, sockets[0].Name())
		s, err := r.Status(t.Context(), 0)
		must(t, err)
		want, err := json.Marshal(m.Status(t.Context(), 0))
		must(t, err)
		if got, err := json.Marshal(s); err != nil || string(got) != string(want) {
			t.Errorf("the status came through as\n%s\nnot\n%s", got, want)
		}
		must(t, r.Do(t.Context(), ActionPause))
		if !m.Status(t.Context(), 0).Now.Pausing {
			t.Error("not paused")
		}
		must(t, Ask(t.Context(), dir, os.Getpid(), ActionStop))
		<-stopped
		if i == 2 {
			withoutKey(t, filepath.Join(dir, sockets[0].Name()))
		}
		if err := r.Do(t.Context(), "drop"); err == nil {
			t.Error("an action that does not exist is done")
		}
		hide()
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		if _, err := r.Status(t.Context(), 0); err == nil {
			t.Error("it answers after its end")
		}
	}
}

// withoutKey sends a request to a file's address without the key, which has no effect.
func withoutKey(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	must(t, err)
	var d door
	must(t, json.Unmarshal(text, &d))
	for _, begins := range []string{"", strings.Repeat("A", len(d.Key))} {
		conn, err := net.Dial("tcp", d.Address)
		must(t, err)
		_, err = io.WriteString(conn, begins+"GET /status HTTP/1.0\r\n\r\n")
		must(t, err)
		if answer, _ := io.ReadAll(conn); bytes.Contains(answer, []byte("200")) {
			t.Errorf("without the key: %s", answer)
		}
		_ = conn.Close()
	}
}

// No request goes to a killed process's port, which may be another's by now.
func TestDoorOfKilled(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	must(t, cmd.Start())
	id, err := process.Of(cmd.Process.Pid)
	must(t, err)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	text, err := json.Marshal(door{"127.0.0.1:1", "key", id})
	must(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, "1.sock")
	must(t, os.WriteFile(path, text, 0o600))
	if _, err := remotes(dir)[0].Status(t.Context(), 0); !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it is still there")
	}
}

// A socket that a killed process left is removed when it is looked at.
func TestSocketOfKilled(t *testing.T) {
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "1.sock")})
	must(t, err)
	l.SetUnlinkOnClose(false)
	must(t, l.Close())
	all := remotes(dir)
	if len(all) != 1 {
		t.Fatalf("%d sockets", len(all))
	}
	defer func() { // and by the next run, without anybody looking
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "2.sock")})
		must(t, err)
		l.SetUnlinkOnClose(false)
		must(t, l.Close())
		hide, err := NewMonitor(first(t, finished(t), 0), "", func() {}).Expose(dir)
		must(t, err)
		defer hide()
		if _, err := os.Stat(filepath.Join(dir, "2.sock")); err == nil {
			t.Error("the next run has left it")
		}
	}()
	if _, err := all[0].Status(t.Context(), 0); err == nil {
		t.Error("nobody answers")
	}
	if all := remotes(dir); len(all) > 0 {
		t.Error("it is still there")
	}
}

// A store that cannot be read is reported on the page.
func TestStoreThatCannotBeRead(t *testing.T) {
	s := opened(t, shelf{err: errors.New("disk on fire")}, nil)
	if p := s.current(t.Context()); p.problem != "disk on fire" || p.status.Progress != nil {
		t.Errorf("%q %+v", p.problem, p.status)
	}
}

// What the layout to use loses in latency stands next to the headline.
func TestProgressSaysWhatLatencyLoses(t *testing.T) {
	d := finished(t)
	d.Judgement.Operations[0].LatencyLoss = "Caution: p99 is long."
	text, err := json.Marshal(ProgressOf(d))
	must(t, err)
	if !strings.Contains(string(text), `"latency_loss":"Caution: p99 is long."`) {
		t.Errorf("%s", text)
	}
}
