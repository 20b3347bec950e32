// Package pager shows what is longer than the screen by the user's pager, as git does.
package pager

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"github.com/charmbracelet/x/ansi"
)

// Pager is a terminal's screen. It holds back what fits on it, and starts the user's pager
// for what does not.
type Pager struct {
	Screen *os.File
	No     *bool // it is switched off
	// Size returns the screen's columns and rows.
	Size func() (width, height int)

	off   bool
	held  bytes.Buffer
	pager *exec.Cmd // that runs. Nil means none
	pipe  io.WriteCloser
}

// Off writes what is held, and all that comes, to the screen itself.
func (p *Pager) Off() error {
	if p.pager != nil || p.off {
		return nil
	}
	p.off = true
	_, err := p.held.WriteTo(p.Screen)
	return err
}

// Write implements io.Writer. A pager that was left early takes no more, which is no error.
func (p *Pager) Write(text []byte) (int, error) {
	switch {
	case p.off:
		return p.Screen.Write(text)
	case p.pager != nil:
		_, _ = p.pipe.Write(text)
		return len(text), nil
	}
	p.held.Write(text)
	if p.fits() {
		return len(text), nil
	}
	if !p.start() {
		return len(text), p.Off()
	}
	_, _ = p.held.WriteTo(p.pipe)
	return len(text), nil
}

// fits reports whether what is held fits on the screen.
func (p *Pager) fits() bool {
	width, height := p.Size()
	if width <= 0 || height <= 0 {
		return true
	}
	rows := 0
	for line := range bytes.Lines(p.held.Bytes()) {
		rows += max(1, (ansi.StringWidth(string(line))+width-1)/width)
	}
	return rows <= height
}

// start runs the pager. False means there is none.
func (p *Pager) start() bool {
	if *p.No {
		return false
	}
	command, set := os.LookupEnv("PAGER")
	if !set {
		command = "less"
		if _, err := exec.LookPath(command); err != nil {
			return false
		}
	}
	if command == "" || command == "cat" || os.Getenv("TERM") == "dumb" {
		return false
	}
	// Not of the run's context: it has to show the output until an interrupt, too.
	c := exec.CommandContext(context.Background(), "sh", "-c", command)
	c.Stdout, c.Stderr, c.Env = p.Screen, os.Stderr, os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		c.Env = append(c.Env, "LESS=FRX")
	}
	pipe, err := c.StdinPipe()
	if err != nil || c.Start() != nil {
		return false
	}
	p.pager, p.pipe = c, pipe
	return true
}

// Close shows the rest, and waits for the pager's end. Until then Ctrl-C is the pager's.
func (p *Pager) Close() error {
	if p.pager == nil {
		return p.Off()
	}
	signal.Ignore(os.Interrupt)
	_ = p.pipe.Close()
	var left *exec.ExitError // by whatever code: it is not Filewise's
	if err := p.pager.Wait(); err != nil && !errors.As(err, &left) {
		return err
	}
	return nil
}
