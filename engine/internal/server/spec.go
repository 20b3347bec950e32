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
	"filewise/internal/filesystem"
)

// Spec describes how to start a process.
type Spec struct {
	Path string
	Args []string
	Dir  string   // working directory
	Env  []string // the whole environment; nothing is inherited
	// Stdin can be nil.
	Stdin *os.File
	// Files are inherited, beginning at descriptor 3.
	Files []*os.File
	// Log is the file to which standard output and standard error are appended.
	Log string
	// Discard throws standard output away.
	Discard bool
	// Tells selects the log lines that an error message should show. If nil, all lines qualify.
	Tells func(line string) bool
	// User is the user to run as, for servers that refuse root. If nil, the process runs as Filewise's user. A server must
	// not change its user itself: that would clear the signal that ends it with Filewise (prctl(2), PR_SET_PDEATHSIG).
	User *User
	// Register records the process for a later sweep, before anything waits for it. If nil, the process is not recorded.
	// If Register fails, the process is ended.
	Register func(pid int) error
}

// Start starts the process in a separate process group. From then on the kernel kills the process as soon as Filewise
// ends, however Filewise ends.
func Start(s Spec) (*Process, error) {
	if err := machine.ManagedServers(); err != nil {
		return nil, err
	}
	raiseLimit()
	log, err := filesystem.OpenFileIn(filepath.Dir(s.Log), s.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
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
		} // an ended process cannot be registered, and its end is the better reason
	}
	return p, nil
}

// lastMoments limits the time between two events: an ending process gives up what identifies it, and its end is seen. A
// dump of a few rows does both at once, but not on a busy machine.
const lastMoments = 2 * time.Second

// own starts the process and waits for its end on one thread. The kernel sends the parent-death signal when the
// *thread* that started the process ends. So the thread is locked, and lives as long as the process.
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

// maxSocketPath is the longest path of a Unix socket in bytes, without the final NUL (unix(7): sun_path has 108; BSD
// systems have 104).
const maxSocketPath = 103

// Socket is a Unix socket in a directory. The server works in Dir and is given only Name, so the length of the path
// does not matter.
type Socket struct{ Dir, Name string }

// Dial connects to the socket. If its path is too long for a socket address, Dial opens the directory and connects
// through that descriptor.
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
