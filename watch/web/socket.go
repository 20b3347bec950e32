package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"filewise/internal/fault"
	"filewise/internal/filesystem"
)

// The actions that a client can request.
const (
	ActionPause  = "pause"
	ActionResume = "resume"
	ActionStop   = "stop"
)

// measured is a run in progress, in this process or another.
type measured interface {
	Status(ctx context.Context, known uint64) (Status, error)
	Do(ctx context.Context, action string) error
}

// local is a run in this process.
type local struct{ *Monitor }

func (l local) Status(ctx context.Context, known uint64) (Status, error) {
	return l.Monitor.Status(ctx, known), nil
}

func (l local) Do(_ context.Context, action string) error {
	switch action {
	case ActionPause:
		l.Pause()
	case ActionResume:
		l.Resume()
	case ActionStop:
		l.Stop()
	default:
		return fmt.Errorf("no such action: %s", action)
	}
	return nil
}

// Expose lets other processes of this user query the run, through a socket in a directory that no other user can enter.
// closeIt ends that.
func (m *Monitor) Expose(dir string) (closeIt func(), err error) {
	return m.expose(dir, runtime.GOOS == "windows") // Windows got such sockets late, and its paths are short
}

func (m *Monitor) expose(dir string, overTCP bool) (closeIt func(), err error) {
	if err := filesystem.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	name := socketName(os.Getpid())
	_ = os.Remove(filepath.Join(dir, name)) // left by an earlier process with this number
	sweep(dir)
	open := listenUnix
	if overTCP {
		open = listenTCP
	}
	listener, done, err := open(dir, name)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: m.handler(), ReadTimeout: answerWithin, WriteTimeout: answerWithin, ErrorLog: quiet}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // returns after Close
	}()
	return func() {
		_ = server.Close() // also removes the socket
		<-ended
		done()
	}, nil
}

// listenUnix listens on a socket in a directory. Call done after the listener has ended.
func listenUnix(dir, name string) (l net.Listener, done func(), err error) {
	path, done, err := shortened(dir, name)
	if err != nil {
		return nil, nil, err
	}
	if l, err = (&net.ListenConfig{}).Listen(context.Background(), "unix", path); err != nil {
		done()
	}
	return l, done, err
}

func (m *Monitor) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		known, _ := strconv.ParseUint(r.FormValue("known"), 10, 64) // 0 if absent: the client gets everything
		writeJSON(w, m.Status(r.Context(), known))
	})
	mux.HandleFunc("POST /do/{action}", func(w http.ResponseWriter, r *http.Request) {
		if err := (local{m}).Do(r.Context(), r.PathValue("action")); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
		}
	})
	return mux
}

const (
	socketSuffix = ".sock"
	answerWithin = 2 * time.Second
	mostAnswer   = 16 << 20 // most bytes of a status
)

// remote is a run in another process.
type remote struct {
	dir, path string
	client    *http.Client
}

// Ask requests an action from the run of another process. The directory holds the process's socket.
func Ask(ctx context.Context, dir string, pid int, action string) error {
	err := dialed(dir, socketName(pid)).Do(ctx, action)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("process %d takes no orders in %s: its run has not begun, or another user or state directory has it: %w", pid, dir, err)
	}
	return err
}

func socketName(pid int) string { return strconv.Itoa(pid) + socketSuffix }

func dialed(dir, name string) remote {
	r := remote{dir: dir, path: filepath.Join(dir, name)}
	r.client = &http.Client{Timeout: answerWithin, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return r.dial(ctx) }}}
	return r
}

func (r remote) dial(ctx context.Context) (net.Conn, error) {
	if info, err := os.Lstat(r.path); err == nil && info.Mode().IsRegular() {
		return dialTCP(ctx, r.path)
	}
	path, done, err := shortened(r.dir, filepath.Base(r.path))
	if err != nil {
		return nil, err
	}
	defer done()
	return (&net.Dialer{}).DialContext(ctx, "unix", path)
}

func (r remote) Status(ctx context.Context, known uint64) (s Status, err error) {
	body, err := r.ask(ctx, http.MethodGet, "/status?known="+strconv.FormatUint(known, 10))
	if killed(err) {
		_ = os.Remove(r.path)
	}
	if err == nil {
		err = json.Unmarshal(body, &s)
	}
	return s, err
}

func (r remote) Do(ctx context.Context, action string) error {
	_, err := r.ask(ctx, http.MethodPost, "/do/"+action)
	return err
}

func (r remote) ask(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://filewise"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(body))
	}
	return body, err
}

// remotes returns the runs of other processes that have sockets in a directory.
func remotes(dir string) []measured {
	files, _ := os.ReadDir(dir) // no directory means that no process measures
	var out []measured
	for _, f := range files {
		if name := f.Name(); strings.HasSuffix(name, socketSuffix) && name != socketName(os.Getpid()) {
			out = append(out, dialed(dir, name))
		}
	}
	return out
}

// sweep removes the sockets of killed processes.
func sweep(dir string) {
	for _, m := range remotes(dir) {
		r := m.(remote)
		conn, err := r.dial(context.Background())
		if err == nil {
			_ = conn.Close()
		} else if killed(err) {
			_ = os.Remove(r.path)
		}
	}
}

// killed reports whether an error of dial means that the process is gone.
func killed(err error) bool { return fault.Refused(err) || errors.Is(err, os.ErrProcessDone) }
