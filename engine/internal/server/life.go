package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"filewise"
)

// Time limits for a server. Recovery of a large log and the last flush of a large cache take long on slow storage; a
// death is seen at once.
const (
	startPatience = 10 * time.Minute
	stopPatience  = 10 * time.Minute
	quitPatience  = 20 * time.Second
)

// Control describes an engine's part in running a managed server. A function can be nil only if its comment allows it.
type Control struct {
	// Name is the layout's name, for messages. Dirs are the server's directories; all of its files lie below them.
	Name string
	Dirs []string
	// Spec returns how to start the server. It is called before each start, and can clean up what the last process has
	// left.
	Spec func() (Spec, error)
	// Ask sends the server a question. It returns nil if the server answers.
	Ask func(context.Context) error
	// Started is called when the server answers; can be nil.
	Started func()
	// Leave closes Filewise's connections before the server is ended; can be nil.
	Leave func()
	// Gone cleans up behind the main process after it ended, however it ended; can be nil.
	Gone func()
	// Shutdown is the signal for a clean end, with all changes in the files.
	Shutdown os.Signal
	// Quit is the signal for ending at once, with nothing written. If nil, the server is killed.
	Quit os.Signal
	// Settle writes all dirty pages, and syncs the files.
	Settle func(context.Context) error
	// Prepare readies the running server for a snapshot; can be nil.
	Prepare func(context.Context) error
	// Restored is called after the files are restored to the snapshot, before the server is started; can be nil.
	Restored func() error
	// Explain adds to an error what it means and what to do; of nil it returns nil.
	Explain func(error) error
}

// Life runs a server from its first start to its removal. It implements filewise.Lifecycle.
type Life struct {
	control Control

	mu   sync.Mutex
	proc *Process
}

// NewLife returns the Life of a server that is not started yet.
func NewLife(c Control) *Life { return &Life{control: c} }

// Start starts the server and waits until it answers.
func (l *Life) Start(ctx context.Context) error {
	spec, err := l.control.Spec()
	if err != nil {
		return l.control.Explain(err)
	}
	p, err := Start(spec)
	if err != nil {
		return l.control.Explain(err)
	}
	l.mu.Lock()
	l.proc = p
	l.mu.Unlock()
	if l.control.Gone != nil {
		go l.watch(p)
	}
	if err := p.Ready(ctx, startPatience, l.control.Ask); err != nil {
		l.Quit()
		return l.control.Explain(err)
	}
	call(l.control.Started)
	return nil
}

// watch calls Gone when the server's main process dies. Otherwise a busy session would not notice, and work on.
func (l *Life) watch(p *Process) {
	<-p.Exited()
	l.mu.Lock() // so that no other server starts in the meantime
	defer l.mu.Unlock()
	if l.proc == p {
		l.control.Gone()
	}
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// Process returns the server's process, or nil if the server is stopped.
func (l *Life) Process() *Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.proc
}

// Running returns the server's process, or an error if the server is stopped or has died.
func (l *Life) Running() (*Process, error) {
	p := l.Process()
	if p == nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "the server of %s is stopped", l.control.Name)
	}
	if err := p.Died(); err != nil {
		return nil, l.control.Explain(err)
	}
	return p, nil
}

// take closes the connections and returns the process to the caller, who must end it. From then on the Life counts as
// stopped.
func (l *Life) take() *Process {
	call(l.control.Leave)
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.proc
	l.proc = nil
	return p
}

// Stop shuts the server down cleanly, with all changes in its files. It does nothing if the server is stopped.
func (l *Life) Stop(ctx context.Context) error {
	p := l.take()
	if p == nil {
		return nil
	}
	err := p.Stop(ctx, l.control.Shutdown, stopPatience)
	call(l.control.Gone)
	return l.control.Explain(err)
}

// Kill ends the server at once (SIGKILL); what it had in memory is lost.
func (l *Life) Kill() {
	if p := l.take(); p != nil {
		p.Kill()
	}
	call(l.control.Gone)
}

// Quit ends the server at once, by Control.Quit if the engine has it. What the server holds in memory is thrown away.
func (l *Life) Quit() {
	if l.control.Quit == nil {
		l.Kill()
		return
	}
	if p := l.take(); p != nil {
		// An error is a server that ended otherwise: it is gone either way.
		_ = p.Stop(context.Background(), l.control.Quit, quitPatience)
	}
	call(l.control.Gone)
}

// Failed returns an error that names the failed step, or nil.
func Failed(step string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", step, err)
}

var errRuns = errors.New("the server runs already")
