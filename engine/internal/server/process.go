package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"filewise"
)

// Process is a started process.
type Process struct {
	spec     Spec
	cmd      *exec.Cmd
	exited   chan struct{}
	status   error       // what Wait returned; valid once exited is closed
	expected atomic.Bool // Filewise asked the process to end
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited returns a channel that is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Died returns an error if the process ended without being asked to, with its exit status and the end of its log. It
// returns nil while the process runs, and after Stop and Kill.
func (p *Process) Died() error {
	select {
	case <-p.exited:
	default:
		return nil
	}
	if p.expected.Load() {
		return nil
	}
	return p.ended("ended by itself")
}

// Why explains an error in talking to the process. If the process has died, or dies within 200 ms, its death is added
// as the reason.
func (p *Process) Why(err error) error {
	if err == nil {
		return nil
	}
	p.endsWithin(200 * time.Millisecond) // a broken connection is seen before the exit is
	if died := p.Died(); died != nil {
		return errors.Join(died, err)
	}
	return err
}

// endsWithin waits up to d for the process to end, and reports whether it did.
func (p *Process) endsWithin(d time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(d):
		return false
	}
}

// ended returns an error that describes how the process ended.
func (p *Process) ended(how string) error {
	remedy := ""
	if !p.expected.Load() && strings.Contains(p.state(), "signal: killed") { // the words of os.ProcessState
		remedy = "give more --memory if that is limited: the kernel ends what needs more (see dmesg)"
	}
	return filewise.Errorf(filewise.CodeTrials, remedy, "the server (%s, process %d) %s: %s%s",
		filepath.Base(p.spec.Path), p.PID(), how, p.state(), p.tail())
}

func (p *Process) state() string {
	if p.status == nil {
		return "exit status 0"
	}
	return p.status.Error()
}

func (p *Process) tail() string {
	text := Tail(p.spec.Log, p.spec.Tells)
	if text == "" {
		return ""
	}
	return "; the end of its log:\n" + text
}

// Ready polls until ask succeeds, which shows that the process answers. It fails if the process ends first, if patience
// runs out, or if the context ends. Starts are timed: pauses are 1/64 of the time so far, within 2 to 50 ms, so that a
// start is seen at most that late.
func (p *Process) Ready(ctx context.Context, patience time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	for start := time.Now(); ; {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return p.ended("ended while it started")
		case <-time.After(min(max(time.Since(start)/64, 2*time.Millisecond), 50*time.Millisecond)):
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), errPatience) {
				return context.Cause(ctx)
			}
			return filewise.Errorf(filewise.CodeTrials, "", "the server (%s, process %d) does not answer after %v: %w%s",
				filepath.Base(p.spec.Path), p.PID(), patience, err, p.tail())
		}
	}
}

var errPatience = errors.New("patience is over")

// Wait waits for the process to end by itself. Its error describes how the process failed. If the context ends first,
// Wait kills the process and returns the cause.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.exited:
		if p.status != nil {
			return p.ended("failed")
		}
		return nil
	case <-ctx.Done():
		p.Kill()
		return context.Cause(ctx)
	}
}

// Stop sends the signal ask and waits for the process to end. If patience runs out or the context ends, Stop kills the
// process and returns an error.
func (p *Process) Stop(ctx context.Context, ask os.Signal, patience time.Duration) error {
	if died := p.Died(); died != nil {
		return died
	}
	p.expected.Store(true)
	if err := p.cmd.Process.Signal(ask); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending process %d: %w", p.PID(), err)
	}
	proceed(p.PID())
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.exited:
		if p.status != nil {
			return p.ended("did not end cleanly")
		}
		return nil
	case <-timer.C:
		p.Kill()
		return p.ended(fmt.Sprintf("had not ended %v after its signal, and was killed", patience))
	case <-ctx.Done():
		p.Kill()
		return context.Cause(ctx)
	}
}

// Kill kills the process and its process group at once, and waits until the process is gone.
func (p *Process) Kill() {
	p.expected.Store(true)
	select {
	case <-p.exited: // another user's process may have the PID by now
		return
	default:
	}
	_ = killGroup(p.PID())
	_ = p.cmd.Process.Kill() // fails only if the process has already ended
	<-p.exited
}
