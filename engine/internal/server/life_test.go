//go:build linux

package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"filewise"
)

// sleeper returns the life of a server that writes a file when it starts, and sleeps.
func sleeper(t *testing.T) (l *Life, started string, starts *int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "build")
	if err := MakeDirs(dir); err != nil {
		t.Fatal(err)
	}
	started, starts = filepath.Join(dir, "started"), new(int)
	l = NewLife(Control{
		Name: "2 files", Dirs: []string{dir},
		Spec: func() (Spec, error) {
			os.Remove(started)
			script := "trap 'exit 0' TERM; echo x >> started; while :; do sleep 0.01; done"
			return Spec{Path: "/bin/sh", Args: []string{"-c", script}, Dir: dir, Env: os.Environ(), Log: filepath.Join(dir, "log")}, nil
		},
		Ask:      func(context.Context) error { _, err := os.Stat(started); return err },
		Started:  func() { *starts++ },
		Shutdown: syscall.SIGTERM, Settle: func(context.Context) error { return nil }, Explain: func(err error) error { return err },
	})
	t.Cleanup(l.Kill)
	return l, started, starts
}

func TestLife(t *testing.T) {
	ctx := t.Context()
	l, _, starts := sleeper(t)
	if _, err := l.Running(); filewise.CodeOf(err) != filewise.CodeInternal ||
		!strings.Contains(err.Error(), "the server of 2 files is stopped") {
		t.Error(err)
	}
	if err := l.Restart(ctx); err == nil {
		t.Error("a stopped server was restarted")
	}
	if _, err := l.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Open(ctx); !errors.Is(err, errRuns) {
		t.Error(err)
	}
	for _, step := range []func() error{
		func() error { return l.Restart(ctx) }, func() error { return l.Evict(ctx) },
		func() error { _, err := l.Shutdown(ctx); return err }, func() error { _, err := l.Open(ctx); return err },
		func() error { return l.Crash(ctx) }, func() error { return l.Start(ctx) },
	} {
		if err := step(); err != nil {
			t.Error(err)
		}
	}
	p, err := l.Running()
	if err != nil {
		t.Fatal(err)
	}
	if *starts != 5 {
		t.Errorf("%d starts", *starts)
	}
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if _, err := l.Running(); err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Error(err)
	}
}

func TestResetter(t *testing.T) {
	ctx := t.Context()
	l, started, _ := sleeper(t)
	if err := l.Start(ctx); err != nil {
		t.Fatal(err)
	}
	r := NewResetter(l)
	if err := r.Reset(ctx); filewise.CodeOf(err) != filewise.CodeInternal {
		t.Error(err)
	}
	if err := r.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := os.WriteFile(started, []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.Reset(ctx); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(started); err != nil || strings.Contains(string(text), "other") {
			t.Errorf("%q %v", text, err)
		}
	}
	var names []string
	for _, s := range r.Took() {
		names = append(names, s.Name)
	}
	if strings.Join(names, " ") != "stop copy start" {
		t.Error(names)
	}
	dir := filepath.Dir(started)
	l.Kill()
	if err := RemoveDirs([]string{dir}, ".backup"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// What a server leaves is ended when its process dies, and each time it is ended.
func TestLifeGone(t *testing.T) {
	l, _, _ := sleeper(t)
	gone := make(chan bool, 10)
	l.control.Gone = func() { gone <- true }
	l.control.Quit = syscall.SIGTERM
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(l.Process().PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Fatal("nobody ended what was left")
	}
	l.Quit()
	<-gone
	if l.Process() != nil {
		t.Error("it runs")
	}
}

func TestMakeDirsKeepsOthers(t *testing.T) {
	dir := t.TempDir()
	made, there := filepath.Join(dir, "made"), filepath.Join(dir, "there")
	if err := os.Mkdir(there, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := MakeDirs(made, there); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Error(err)
	}
	if _, err := os.Stat(made); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(there); err != nil {
		t.Error(err)
	}
}

func TestTryBlames(t *testing.T) {
	refused := errors.New("invalid size")
	try := func(_ context.Context, settings map[string]string) ([]filewise.Fact, error) {
		if settings["b"] != "" {
			return nil, refused
		}
		return []filewise.Fact{{Name: "a"}}, nil
	}
	blamed := func(name string, err error) error {
		return filewise.Errorf(filewise.CodeUsage, "", "%s: %w", name, err)
	}
	if facts, err := Try(t.Context(), map[string]string{"a": "1"}, try, blamed); err != nil || len(facts) != 1 {
		t.Error(facts, err)
	}
	if _, err := Try(t.Context(), map[string]string{"a": "1", "b": "2", "c": "3"}, try, blamed); err == nil ||
		err.Error() != "b: invalid size" {
		t.Error(err)
	}
	always := func(context.Context, map[string]string) ([]filewise.Fact, error) { return nil, refused }
	if _, err := Try(t.Context(), map[string]string{"a": "1"}, always, blamed); !errors.Is(err, refused) ||
		filewise.CodeOf(err) == filewise.CodeUsage {
		t.Error(err)
	}
}
