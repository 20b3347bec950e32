//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
)

// secret is a password in the environment that no bundle may make a command reveal.
const secret = "FILEWISE_PASSWORD=a-secret-of-mine"

// addresses imports a run whose bundle names a server that listens here. It passes the run to every command that takes
// one: none may connect.
func addresses(p *place) error {
	l, err := (&net.ListenConfig{}).Listen(p.Context, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	var connections atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_ = c.Close()
		}
	}()
	engine := []string{"postgres", "mysql", "mariadb", "sqlserver", "oracle"}[p.IntN(5)]
	there := fmt.Sprintf(`"mode":"external","address":{"scheme":%q,"user":"u","host":"127.0.0.1","port":%d}`, engine,
		l.Addr().(*net.TCPAddr).Port)
	bundle, err := rebundle(p.fixture.bundle, func(run []byte) []byte {
		run = replaced(run, `"engine":`, `"sqlite"`, fmt.Sprintf("%q", engine))
		return replaced(run, ``, `"mode": "embedded"`, there)
	})
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, "input")
	if err := os.WriteFile(file, bundle, 0o600); err != nil {
		return err
	}
	p.env = append(p.env, secret)
	c, err := p.run([]int{0, 2}, "import", file)
	if err != nil || c.ProcessState.ExitCode() != 0 {
		return errors.Join(err, fmt.Errorf("the bundle is refused: %.500s", c.stderr.Bytes()))
	}
	for _, args := range [][]string{{"show", "1"}, {"judge", "1"}, {"report", "1", "-o", filepath.Join(p.dir, "r.html")}, {"list"},
		{"export", "1", "--format", "json"}, {"backup", "1"}, {"resume", "1"}, {"resume"}, {"apply", "1"},
		{"compare", "1", "1"}, {"stop"}, {"clean"}} {
		if _, err := p.run([]int{0, 2, 3, 5, 6, 7}, args...); err != nil {
			return err
		}
		if n := connections.Load(); n > 0 {
			return fmt.Errorf("filewise %v has connected to what the bundle names, %d times", args, n)
		}
	}
	return nil
}

// replaced replaces a text after each occurrence of a key, with or without a space between them.
func replaced(text []byte, key, old, put string) []byte {
	if key == "" {
		return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(old), []byte(put)), bytes.ReplaceAll([]byte(old), []byte(" "), nil), []byte(put))
	}
	text = bytes.ReplaceAll(text, []byte(key+" "+old), []byte(key+" "+put))
	return bytes.ReplaceAll(text, []byte(key+old), []byte(key+put))
}

// extremes lists numbers that readers convert, negate, add up or divide by.
var extremes = []string{"9223372036854775807", "-9223372036854775808", "18446744073709551615", "1000000000000000", "1e15", "1e21", "1e308",
	"-1", "0", "5e-324", "31622400000000000", "4611686018427387904", "1099511627776"}

// lyingNumbers changes a number in a bundle's run. The bundle must be refused, or every command must show the run.
func lyingNumbers(p *place) error {
	for p.count = 0; p.count < min(10, p.most); p.count++ {
		if err := p.lyingNumber(); err != nil {
			p.count++
			return err
		}
	}
	return nil
}

func (p *place) lyingNumber() error {
	var text string
	bundle, err := rebundle(p.fixture.bundle, func(run []byte) []byte {
		for {
			at := p.IntN(len(run))
			n := numbers.FindIndex(run[at:])
			if n == nil || run[at+n[0]-1] != ' ' && run[at+n[0]-1] != ':' && run[at+n[0]-1] != ',' && run[at+n[0]-1] != '[' {
				continue
			}
			with := extremes[p.IntN(len(extremes))]
			text = fmt.Sprintf("%.60s → %s", run[max(0, at+n[0]-40):at+n[1]], with)
			return slices.Replace(slices.Clone(run), at+n[0], at+n[1], []byte(with)...)
		}
	})
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, "input")
	if err := errors.Join(os.RemoveAll(p.store), os.WriteFile(file, bundle, 0o600)); err != nil {
		return err
	}
	c, err := p.run([]int{0, 2}, "import", file)
	if err != nil || c.ProcessState.ExitCode() != 0 {
		return err
	}
	for _, args := range [][]string{{"show", "1"}, {"judge", "1"}, {"report", "1", "-o", filepath.Join(p.dir, "r.html")}, {"list"}} {
		if _, err := p.run([]int{0, 2, 3, 5, 6}, args...); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// notRoot returns the reason why there is no other user here.
func notRoot(context.Context, *attack) string {
	if os.Geteuid() != 0 {
		return "needs root, to have a volume of another user"
	}
	return ""
}

// otherUser has root measure on a volume that another user owns or may write to. It must be refused, and nothing made.
func otherUser(p *place) error {
	const nobody = 65534
	parent := filepath.Dir(p.volume)
	for _, c := range []struct {
		dir      string
		uid, gid int
		mode     os.FileMode
	}{{p.volume, nobody, nobody, 0o755}, {p.volume, 0, 0, 0o777}, {p.volume, 0, nobody, 0o775}, {parent, nobody, 0, 0o755}} {
		if err := errors.Join(os.Chown(c.dir, c.uid, c.gid), os.Chmod(c.dir, c.mode)); err != nil {
			return err
		}
		said, err := p.run([]int{3}, runArgs(sqliteRun...)...)
		if err == nil && !bytes.Contains(said.stderr.Bytes(), []byte("may rename")) {
			err = fmt.Errorf("refused otherwise: %.500s", said.stderr.Bytes())
		}
		if err := errors.Join(err, os.Chown(c.dir, 0, 0), os.Chmod(c.dir, 0o755)); err != nil {
			return fmt.Errorf("%s of %d:%d, %v: %w", filepath.Base(c.dir), c.uid, c.gid, c.mode, err)
		}
	}
	return p.tidy()
}
