package target

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"filewise"
)

func TestPassword(t *testing.T) {
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := filewise.Address{Scheme: "postgres", Host: "db"}
	for _, c := range []struct {
		name         string
		s            Sources
		want, refuse string
	}{
		{"file", Sources{File: file("p", "s3cret word \r\nmore\n", 0o600)}, "s3cret word ", ""},
		{"file of a group", Sources{File: file("p", "s3cret", 0o640)}, "s3cret", ""},
		{"file before environment", Sources{File: file("p", "a", 0o600), Environment: "b"}, "a", ""},
		{"environment", Sources{Environment: "b"}, "b", ""},
		{"standard input", Sources{File: "-", Stdin: strings.NewReader("c\n")}, "c", ""},
		{"none", Sources{Stdin: strings.NewReader("not asked\n")}, "", "no terminal to ask on"},
		{"everybody's", Sources{File: file("p", "s3cret", 0o644)}, "", "every user"},
		{"everybody writes", Sources{File: file("p", "s3cret", 0o602)}, "", "every user"},
		{"empty", Sources{File: file("p", "\ns3cret", 0o600)}, "", "is empty"},
		{"huge", Sources{File: file("p", strings.Repeat("s3cret", 1<<20), 0o600)}, "", "too long"},
		{"directory", Sources{File: t.TempDir()}, "", "directory"},
		{"absent", Sources{File: "/nonexistent"}, "", "no such file"},
		{"empty input", Sources{File: "-", Stdin: strings.NewReader("")}, "", "is empty"},
	} {
		got, err := Password(t.Context(), a, c.s)
		if got.Reveal() != c.want || (err == nil) != (c.refuse == "") {
			t.Errorf("%s: %q, %v", c.name, got.Reveal(), err)
		}
		if err != nil && (!strings.Contains(err.Error(), c.refuse) || strings.Contains(err.Error(), "s3cret") || filewise.RemedyOf(err) == "" ||
			filewise.CodeOf(err) != filewise.CodeUsage) {
			t.Errorf("%s: %v (%s)", c.name, err, filewise.RemedyOf(err))
		}
	}
}

// On a terminal the password prompt has no echo; an interrupt gives the terminal back.
func TestPrompt(t *testing.T) {
	const password = "s3cret wörd"
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	a := filewise.Address{Scheme: "postgres", Host: "db", User: "ada"}
	shown := make(chan string, 1)
	go func() {
		// Typed once the question is there: what is typed before is echoed.
		var all []byte
		buf := make([]byte, 1024)
		typed := false
		for {
			n, err := master.Read(buf)
			all = append(all, buf[:n]...)
			if strings.Contains(string(all), "Password for postgres://ada@db: ") && !typed {
				typed = true
				time.Sleep(50 * time.Millisecond) // until the echo is off
				_, _ = io.WriteString(master, password+"\n")
			}
			if err != nil || strings.Contains(string(all), "done") {
				shown <- string(all)
				return
			}
		}
	}()
	got, err := Password(t.Context(), a, Sources{Stdin: tty, Prompt: tty})
	if err != nil || got.Reveal() != password {
		t.Errorf("%q, %v", got.Reveal(), err)
	}
	_, _ = io.WriteString(tty, "done")
	if all := <-shown; strings.Contains(all, "cret") {
		t.Errorf("the terminal shows it: %q", all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Password(ctx, a, Sources{Stdin: tty, Prompt: tty}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// An option may be a password under a mistyped name.
func TestOptionsAreNotShown(t *testing.T) {
	a := filewise.Address{Scheme: "postgres", Host: "h", User: "ada", Options: map[string]string{"pasword": "WRONGsecret"}}
	_, err := Password(t.Context(), a, Sources{})
	if err == nil || strings.Contains(err.Error()+filewise.RemedyOf(err), "WRONGsecret") || !strings.Contains(err.Error(), "ada@h") {
		t.Error(err)
	}
}
