// Package pager shows output longer than the screen in the user's pager, as git does.
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

// Pager is a writer for a terminal. It holds output that fits on the screen, and starts the user's pager for more.
type Pager struct {
	Screen *os.File
	No     *bool // set if the pager is switched off
	// Size returns the screen's columns and rows.
	Size func() (width, height int)

	off   bool
	held  bytes.Buffer
	pager *exec.Cmd // running; nil means none
	pipe  io.WriteCloser
}

// Off writes what is held, and everything that follows, to the screen itself.
func (p *Pager) Off() error {
	if p.pager != nil || p.off {
		return nil
	}
	p.off = true
	_, err := p.held.WriteTo(p.Screen)
	return err
}

// Write implements io.Writer. If the user has left the pager, Write drops the text without an error.
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

// fits reports whether the held text fits on the screen.
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

// start starts the pager. It returns false if there is none.
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
	// This is not the run's context, since the pager has to show what was written until an interrupt.
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

// Close shows the rest, and waits for the pager to end. Until then, Ctrl-C goes to the pager.
func (p *Pager) Close() error {
	if p.pager == nil {
		return p.Off()
	}
	signal.Ignore(os.Interrupt)
	_ = p.pipe.Close()
	var left *exec.ExitError // with any exit code: it is not Filewise's
	if err := p.pager.Wait(); err != nil && !errors.As(err, &left) {
		return err
	}
	return nil
}
