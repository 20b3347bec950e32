package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"filewise/internal/filesystem"
)

// leads is a page that redirects the browser to the live page. Other users can see a browser's command line, but not
// the content of a file that only this user can read.
var leads = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Filewise</title>
<p>The live page is at <a href="{{.}}">{{.}}</a>.</p>
<script>location.replace({{.}})</script></html>
`))

// Open shows the page in this user's browser, and logs the browser in once.
func (s *Server) Open(ctx context.Context) error {
	program := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if program == nil {
		program = []string{"xdg-open"}
	}
	path, err := s.lead()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program[0], append(program[1:], path)...)
	if err := cmd.Start(); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	go func() { _ = cmd.Wait() }() // cmd may be the browser itself
	go func() {
		select {
		case <-time.After(ticketFor):
		case <-s.leaving:
		}
		_ = os.Remove(path) // its ticket is no longer valid
	}()
	return nil
}

// lead writes the file that redirects to the page.
func (s *Server) lead() (string, error) {
	if s.config.Private == "" {
		return "", errors.New("there is no directory for the page that leads there")
	}
	if err := filesystem.MkdirPrivate(s.config.Private); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(s.config.Private, "open-*.html") // mode 0600
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(f.Name())
	err = errors.Join(err, leads.Execute(f, s.URL()+"#once="+s.guard.tickets.make(toLogIn)), f.Close())
	if err != nil {
		return "", errors.Join(fmt.Errorf("the page that leads there: %w", err), os.Remove(f.Name()))
	}
	return path, nil
}
