package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"filewise"
	"filewise/host/machine"
)

// Spec describes how to start a process.
type Spec struct {
	Path string
	Args []string
	Dir  string   // working directory
	Env  []string // the whole environment; nothing is inherited
	// Stdin can be nil.
	Stdin *os.File
	// Files are inherited from descriptor 3 on.
	Files []*os.File
	// Log is the file that takes standard output and error, appended to.
	Log string
	// Discard throws standard output away, in place of writing it to Log.
	Discard bool
	// Tells picks the log's lines that an error message should show. Nil means all.
	Tells func(line string) bool
	// User is whom to run as, for servers that refuse root. Nil means Filewise's user.
	// A server must not change its user by itself: that would drop the signal
	// that ends it with Filewise (prctl(2), PR_SET_PDEATHSIG).
	User *User
	// Register notes the process for a later sweep, before anything waits for
	// it. Nil means not noted. When it fails, the process is ended.
	Register func(pid int) error
}

// Start starts the process in a process group of its own. From then on the
// kernel ends it as soon as Filewise ends, however that ends.
func Start(s Spec) (*Process, error) {
	if err := machine.ManagedServers(); err != nil {
		return nil, err
	}
	raiseLimit()
	log, err := openIn(filepath.Dir(s.Log), s.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "", "log file of %s: %w", filepath.Base(s.Path), err)
	}
	defer log.Close()                      // the process has its own descriptor
	cmd := exec.Command(s.Path, s.Args...) //nolint:noctx // a server outlives the call that starts it
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, s.Env, log, log
	if s.Discard {
		cmd.Stdout = nil
	}
	if s.Stdin != nil {
		cmd.Stdin = s.Stdin
	}
	cmd.ExtraFiles = s.Files
	cmd.SysProcAttr = attributes(s.User)
	p := &Process{spec: s, cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1)
	go p.own(started)
	if err := <-started; err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "", "start %s: %w", s.Path, err)
	}
	if s.Register != nil {
		if err := s.Register(p.PID()); err != nil && !p.endsWithin(lastMoments) {
			p.Kill()
			return nil, fmt.Errorf("start %s: %w", s.Path, err)
		} // one that has ended cannot be registered, and its own end is the better reason
	}
	return p, nil
}

// lastMoments can pass from when a process that ends has given up what it would be recognized by
// until its end is seen: a dump of a few rows does both at once, on a busy machine not.
const lastMoments = 2 * time.Second

// own starts the process and waits for its end on one thread. The kernel sends
// the parent-death signal when the *thread* that started the process ends, so
// that thread must live as long as the process: it is locked, and ends with it.
func (p *Process) own(started chan<- error) {
	runtime.LockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	p.status = p.cmd.Wait()
	close(p.exited)
}

// maxSocketPath is the longest path of a Unix socket in bytes, its final NUL
// not counted (unix(7): sun_path has 108; BSD systems have 104).
const maxSocketPath = 103

// Socket is a Unix socket in a directory. The server is given Name alone and
// works in Dir, so however long the path is, it fits.
type Socket struct{ Dir, Name string }

// Dial connects to the socket. If its path is too long for a socket address,
// the directory is opened and the address goes through that descriptor.
func (s Socket) Dial(ctx context.Context) (net.Conn, error) {
	path := filepath.Join(s.Dir, s.Name)
	if len(path) > maxSocketPath {
		dir, err := os.Open(s.Dir)
		if err != nil {
			return nil, fmt.Errorf("socket %s: %w", path, err)
		}
		defer dir.Close()
		path = fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), s.Name)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, errors.Join(context.Cause(ctx), err)
	}
	return conn, nil
}
