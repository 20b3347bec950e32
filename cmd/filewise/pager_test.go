//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is longer than the screen goes to $PAGER, and nothing else; the exit code is kept.
func TestPager(t *testing.T) {
	p := newPlace(t)
	memory, _ := newMemory(t, p)
	paged := filepath.Join(t.TempDir(), "paged")
	env := func(pager string, more ...string) []string {
		return append(append([]string{"TERM=xterm", "NO_COLOR=1", "PAGER=" + pager}, more...), memory...)
	}
	keeps := env(`cat > '` + paged + `'; echo "LESS is $LESS"`)
	if shown := p.onTerminal(0, keeps, nil, "help", "run"); strings.TrimSpace(shown) != "LESS is FRX" {
		t.Errorf("the terminal shows\n%s", shown)
	}
	if text, err := os.ReadFile(paged); err != nil || string(text) != p.run(0, "help", "run").stdout.String() {
		t.Errorf("%v: the pager has got\n%s", err, text)
	}
	for _, c := range []struct {
		env  []string
		args []string
	}{
		{keeps, []string{"version"}}, // fits
		{keeps, []string{"help", "run", "--no-pager"}},
		{keeps, []string{"help", "plan", "--no-pager"}},
		{env("cat"), []string{"help", "run"}},
		{env(""), []string{"help", "run"}},
		{append(keeps, "FILEWISE_NO_PAGER=true"), []string{"scenarios", "orders"}},
		{env("/nowhere/pager-of-nobody"), []string{"version"}},
	} {
		want := p.run(0, c.args...).stdout.String()
		// The lines of a terminal are folded.
		if shown := p.onTerminal(0, c.env, nil, c.args...); !slices.Equal(strings.Fields(shown), strings.Fields(want)) {
			t.Errorf("%q with %q shows\n%s", c.args, c.env, shown)
		}
	}
	// One that is left early, before all was written: no error of Filewise's, nor its own.
	shown := p.onTerminal(3, env("head -n 1; exit 5"), nil, "plan", "--sql", "--target", "memory://ada:wrong@far.example/db")
	if shown = strings.Join(strings.Fields(shown), " "); !strings.Contains(shown, " inserts on memory (external), durability full, seed ") ||
		strings.Contains(shown, "Nothing is executed") || !strings.Contains(shown, " filewise: memory://ada@far.example/db cannot") {
		t.Errorf("the terminal shows\n%s", shown)
	}
	// Ctrl-C is the pager's, however often: Filewise waits for it.
	stays := env(`trap 'echo heard' INT; cat > '` + paged + `'; echo ready; read a < /dev/tty; read b < /dev/tty; echo left`)
	shown = p.onTerminal(0, stays, []typed{{"ready", "\x03"}, {"heard", "\x03"}, {"heard", "x\nx\n"}}, "help", "run")
	if !strings.Contains(shown, "left") { // the terminal's echo may come behind it
		t.Errorf("the terminal shows\n%s", shown)
	}
}
