//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"

	"filewise/results/store"
)

// watched is the screen of a filewise on a pseudo terminal.
type watched struct {
	*screen
	during  []string      // the screen after each piece of output
	drawing time.Duration // from the first redraw to the last
}

// watch runs filewise on a pseudo terminal to its end.
func (p *place) watch(width, height uint16, env []string, args ...string) *watched {
	p.t.Helper()
	c := &child{Cmd: exec.Command("filewise", args...), ended: make(chan struct{})}
	c.Env = append([]string{"TERM=xterm-256color", "NO_COLOR="}, env...)
	var tty *os.File
	p.launch(c, func() (err error) {
		tty, err = pty.StartWithSize(c.Cmd, &pty.Winsize{Cols: width, Rows: height})
		return err
	})
	defer tty.Close()
	w := &watched{screen: newScreen(int(width), int(height))}
	var rest []byte
	var first time.Time
	buf := make([]byte, 64<<10)
	for {
		n, err := tty.Read(buf)
		before := w.redraws
		out := append(rest, buf[:n]...)
		whole := wholeSequences(out)
		w.write(string(out[:whole]))
		rest = append([]byte(nil), out[whole:]...)
		w.during = append(w.during, w.String())
		if w.redraws > before {
			if first.IsZero() {
				first = time.Now()
			}
			w.drawing = time.Since(first)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) { // how Linux reports that no process has it open
			break
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	if code := p.exit(c); code != 0 || w.err != nil || len(rest) > 0 {
		p.t.Fatalf("exit code %d, %v, rest %q; the screen:\n%s", code, w.err, rest, w)
	}
	return w
}

var half = regexp.MustCompile(`\x1b(\[[0-9;?]*)?$`)

// wholeSequences is the length of out without a half sequence or rune at its end.
func wholeSequences(out []byte) int {
	if at := half.FindIndex(out); at != nil {
		return at[0]
	}
	for n := 1; n <= min(utf8.UTFMax-1, len(out)); n++ {
		if b := out[len(out)-n:]; utf8.RuneStart(b[0]) && !utf8.FullRune(b) {
			return len(out) - n
		}
	}
	return len(out)
}

// the last line of every picture.
const pictureEnd = "Ctrl-C ends it"

var progressBar = regexp.MustCompile(`\[#*·*\] +\d+ %, at most [0-9]+ (s|min( [0-9]+ s)?) left`)

// The live picture: at most four a second, never wider or taller than the
// terminal, gone at the end.
func TestTerminal(t *testing.T) {
	for _, size := range []struct{ width, height uint16 }{{80, 24}, {50, 9}, {132, 43}} {
		t.Run(fmt.Sprintf("%d×%d", size.width, size.height), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			w := p.watch(size.width, size.height, nil, "run", "--files=1,2,3,4,5,6", "--window=200ms", "--warm-up=50ms",
				"--max-blocks=3", "--budget=0", "--size=1MiB", "--connections=4", "--seed=3")
			p.tidy()
			checkPictures(t, w)
			checkEnd(t, w)
		})
	}
}

func checkPictures(t *testing.T, w *watched) {
	// At most one every 250 ms; what a slow reader gets at once was not drawn at once.
	if most := int(w.drawing/(250*time.Millisecond)) + 3; w.redraws > most || w.redraws < 4 {
		t.Errorf("%d redraws in %v, want 4 to %d", w.redraws, w.drawing, most)
	}
	pictures := 0
	for _, s := range w.during {
		if n := strings.Count(s, pictureEnd); n > 1 {
			t.Fatalf("remains of an older picture are on the screen:\n%s", s)
		} else if n == 1 {
			pictures++
		}
	}
	if pictures < 4 {
		t.Errorf("only %d whole pictures were seen:\n%s", pictures, w.during[len(w.during)/2])
	}
	if bar := strings.Join(w.during, "\n"); w.width >= 60 && !progressBar.MatchString(bar) {
		t.Error("there was no bar")
	}
	if w.colours == 0 {
		t.Error("no colour on a terminal that has it")
	}
}

func checkEnd(t *testing.T, w *watched) {
	end := w.String()
	if strings.Contains(end, pictureEnd) || strings.Contains(end, "blocks done") || progressBar.MatchString(end) {
		t.Errorf("the picture is still there at the end:\n%s", end)
	}
	flat := strings.Join(strings.Fields(end), " ") // lines are broken at the terminal's width
	for _, want := range []string{"Run 1: inserts on sqlite", "6 files", "filewise report 1, or on the terminal: filewise show 1."} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not on the screen at the end:\n%s", want, end)
		}
	}
}

// NO_COLOR (https://no-color.org) leaves the picture and takes the colour; a dumb
// terminal gets plain lines.
func TestNoColour(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.watch(80, 24, []string{"NO_COLOR=1"}, shortRun...)
	if w.colours > 0 || w.redraws == 0 {
		t.Errorf("%d colour sequences with NO_COLOR, %d redraws", w.colours, w.redraws)
	}
	p = newPlace(t)
	w = p.watch(80, 24, []string{"TERM=dumb"}, shortRun...)
	if w.colours > 0 || w.redraws > 0 || !strings.Contains(w.String(), "pilot · 1 file: ") {
		t.Errorf("%d colour sequences and %d redraws on a dumb terminal:\n%s", w.colours, w.redraws, w)
	}
}

// If nothing is a terminal there are plain lines, one for each trial.
func TestNoTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.run(0, shortRun...)
	lines := c.stderr.String()
	if strings.ContainsAny(lines+c.stdout.String(), "\x1b\r") || strings.Contains(lines, " left") {
		t.Errorf("escape sequences or a bar outside a terminal:\n%q\n%q", lines, &c.stdout)
	}
	_, state, _, trials := p.newest()
	if got := regexp.MustCompile(`(?m)^(pilot|block \d+ of at most 5) · \d files?: \S+ rows/s$`).FindAllString(lines,
		-1); len(got) != len(trials) || state != store.Done {
		t.Errorf("%d lines for %d trials:\n%s", len(got), len(trials), lines)
	}
}
