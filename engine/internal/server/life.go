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

// How long a server can take. Recovery of a large log and the last flush of a
// large cache are slow on slow storage; a death is seen at once.
const (
	startPatience = 10 * time.Minute
	stopPatience  = 10 * time.Minute
	quitPatience  = 20 * time.Second
)

// Control holds an engine's part in a server of its own. Functions marked so
// can be nil.
type Control struct {
	// Name is the layout's, for messages; Dirs are the server's directories, all of
	// its files below them.
	Name string
	Dirs []string
	// Spec describes how the server is started now. It is called before each start, and
	// can tidy up what the last process has left.
	Spec func() (Spec, error)
	// Ask sends the server a question. If nil, it answers.
	Ask func(context.Context) error
	// Started is called when the server answers; can be nil.
	Started func()
	// Leave closes the connections to a server that is about to be ended; can be nil.
	Leave func()
	// Gone ends what the main process has left when it has ended, however that
	// was; can be nil.
	Gone func()
	// Shutdown asks the server to end cleanly, all of its changes in its files.
	Shutdown os.Signal
	// Quit asks it to end at once, with nothing written. If nil, it is killed.
	Quit os.Signal
	// Settle leaves nothing dirty, and syncs the files.
	Settle func(context.Context) error
	// Prepare readies the running server for a snapshot; can be nil.
	Prepare func(context.Context) error
	// Restored is called when the files are as in the snapshot again, before the
	// server is started; can be nil.
	Restored func() error
	// Explain adds to an error what it means and what can be done; nil stays nil.
	Explain func(error) error
}

// Life is a server from its first start to its removal. It implements
// filewise.Restarter, Evicter and Lifecycle.
type Life struct {
	control Control

	mu   sync.Mutex
	proc *Process
}

// NewLife returns the life of a server that is not started yet.
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

// watch ends what is left when the server's main process dies: a busy session
// would not notice, and work on.
func (l *Life) watch(p *Process) {
	<-p.Exited()
	l.mu.Lock() // no other server starts in the meantime
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

// Process returns the server's process. If nil, it is stopped.
func (l *Life) Process() *Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.proc
}

// Running returns the server's process; an error when it is stopped, or has died.
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

// take hands the running server over to who ends it.
func (l *Life) take() *Process {
	call(l.control.Leave)
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.proc
	l.proc = nil
	return p
}

// Stop ends the server cleanly: everything is in its files. A stopped server stays
// stopped.
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

// Quit ends the server at once, in its own way if it has one, for what it holds
// is thrown away.
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

// Failed names a step in an error.
func Failed(step string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", step, err)
}

var errRuns = errors.New("the server runs already")
