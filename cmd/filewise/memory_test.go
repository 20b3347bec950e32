//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"filewise"
	"filewise/own/all"
)

// addMemory adds an engine whose external server is a directory ($MEMORY_SERVER),
// for what no real server does on demand: to be busy, to go away, to refuse. Its
// data are in this process; what it shares with other processes is in files:
//
//	password   of every account; a refusal shows what was given, as bad drivers do
//	activity   the gauges, one a line: active 3
//	findings   of Examine, as JSON
//	down       the server is gone while this file is there
//	lock       the measuring lock
//	objects    what was created: a directory each
func addMemory() {
	if dir := os.Getenv("MEMORY_SERVER"); dir != "" {
		engines = func() []filewise.Engine { return append(all.Engines(), memory{dir}) }
	}
}

type memory struct{ dir string }

func (memory) Name() string { return "memory" }

func (memory) Describe() filewise.Description {
	return filewise.Description{Mode: filewise.External, Files: "N things in memory", Schemes: []string{"memory"}, Port: 4711,
		Kinds:         []filewise.Kind{filewise.KindFilegroup, filewise.KindPartitions},
		ExternalKinds: []filewise.Kind{filewise.KindFilegroup, filewise.KindPartitions},
		Rights:        []string{"GRANT EVERYTHING TO filewise"}, Unproven: "never run against the product", Licence: "publishing needs consent"}
}

func (memory) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	switch {
	case !p.Appends():
		return filewise.Statements{}, fmt.Errorf("workload %s keeps no counts: %w", p.Workload, filewise.ErrUnsupported)
	case l.Kind == filewise.KindPartitions && l.Data.Allocation == filewise.Preallocated:
		return filewise.Statements{}, fmt.Errorf("partitions cannot be preallocated: %w", filewise.ErrUnsupported)
	case l.Data.Files > 16:
		return filewise.Statements{}, fmt.Errorf("%d files are too many: %w", l.Data.Files, filewise.ErrUnsupported)
	case l.Kind == filewise.KindFilegroup && l.Indexes == filewise.IndexesApart:
		return filewise.Statements{}, fmt.Errorf("indexes cannot lie apart: %w", filewise.ErrUnsupported)
	}
	s := filewise.Statements{Space: map[string]int64{}}
	for i, size := range l.Data.Sizes(1) {
		v := l.Data.VolumeOf(i, l.DataVolumes(t.Volumes))
		s.Files = append(s.Files, filewise.File{Role: filewise.RoleData, Volume: v.Name, Path: fmt.Sprintf("%s/%d", v.Dir, i), Bytes: size})
		s.Space[v.Name] += size
	}
	s.Steps = []filewise.Step{{Stage: filewise.StageBuild, On: "server", SQL: "CREATE THING"}}
	return s, nil
}

func (e memory) Open(_ context.Context, t filewise.Target) (filewise.Server, error) {
	s := &memoryServer{dir: e.dir, target: t}
	if err := s.up(); err != nil {
		return nil, err
	}
	want, err := os.ReadFile(filepath.Join(e.dir, "password"))
	if err == nil && strings.TrimSpace(string(want)) != t.Address.Password.Reveal() {
		return nil, fmt.Errorf("access denied for %s by %q", t.Address.User, t.Address.Password.Reveal())
	}
	return s, nil
}

type memoryServer struct {
	dir    string
	target filewise.Target
}

func (s *memoryServer) up() error {
	if _, err := os.Stat(filepath.Join(s.dir, "down")); err == nil {
		return &filewise.Classed{Class: filewise.ClassConnection, Err: errors.New("connection refused")}
	}
	return nil
}

func (s *memoryServer) Facts(context.Context) ([]filewise.Fact, error) {
	return []filewise.Fact{{Name: "version", Value: "memory 1.0 on " + s.target.Address.Host}}, nil
}

func (s *memoryServer) Offers() map[filewise.Capability]error {
	out := map[filewise.Capability]error{}
	for _, c := range filewise.Capabilities {
		out[c] = fmt.Errorf("memory has no %s: %w", c, filewise.ErrUnsupported)
	}
	out[filewise.CanGrow], out[filewise.CanPreallocate] = nil, nil
	return out
}

func (*memoryServer) Close() error { return nil }

func (s *memoryServer) Examine(_ context.Context, d filewise.Demand) []filewise.Finding {
	var findings []filewise.Finding
	b, err := os.ReadFile(filepath.Join(s.dir, "findings"))
	if err == nil {
		err = json.Unmarshal(b, &findings)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []filewise.Finding{{Check: "findings", Status: filewise.StatusFailed, Detail: err.Error()}}
	}
	return append(findings, filewise.Finding{Check: "demand", Status: filewise.StatusOK,
		Detail: fmt.Sprintf("%d layouts, %v, for %s", len(d.Layouts), d.Space, s.target.Address.User)})
}

// Lock is held by an open file: it goes with the process.
func (s *memoryServer) Lock(_ context.Context, h filewise.Holder) (filewise.Lock, error) {
	if err := s.up(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		other, _ := os.ReadFile(f.Name())
		return nil, errors.Join(filewise.Errorf(filewise.CodeBusy, "wait for it", "another run measures on this server: %s", other), f.Close())
	}
	if err := errors.Join(f.Truncate(0), func() error { _, err := f.WriteString(h.Who); return err }()); err != nil {
		return nil, err
	}
	return memoryLock{s, f}, nil
}

type memoryLock struct {
	server *memoryServer
	file   *os.File
}

func (l memoryLock) Held(context.Context) error { return l.server.up() }
func (l memoryLock) Release() error             { return l.file.Close() }

func (s *memoryServer) Activity(context.Context) ([]filewise.Gauge, error) {
	if err := s.up(); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "activity"))
	if err != nil {
		return nil, err
	}
	var out []filewise.Gauge
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return nil, err
			}
			out = append(out, filewise.Gauge{Name: name, Unit: "sessions", Value: v})
		}
	}
	return out, nil
}

// Leftovers are the objects of processes that have ended, and those in use.
func (s *memoryServer) Leftovers(context.Context) ([]filewise.Leftover, error) {
	objects, err := os.ReadDir(filepath.Join(s.dir, "objects"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []filewise.Leftover
	for _, o := range objects {
		l := filewise.Leftover{Kind: "thing", Name: o.Name(), Owner: "a process"}
		if _, mine := memoryInUse.Load(filepath.Join(s.dir, "objects", o.Name())); mine || strings.HasPrefix(o.Name(), "used") {
			l.Kept = "a session uses it"
		}
		if strings.HasPrefix(o.Name(), "place") && len(objects) > 1 {
			l.Kept = "things lie in it"
		}
		if strings.HasPrefix(o.Name(), "user") {
			continue // not ours
		}
		out = append(out, l)
	}
	return out, err
}

func (s *memoryServer) Remove(_ context.Context, l filewise.Leftover) error {
	name := filepath.Join(s.dir, "objects", l.Name)
	if _, mine := memoryInUse.Load(name); mine || strings.HasPrefix(l.Name, "stuck") {
		return errors.New("it is locked")
	}
	return os.Remove(name)
}

func (s *memoryServer) Build(_ context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if err := s.up(); err != nil {
		return nil, err
	}
	dir := filepath.Join(s.dir, "objects")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	object, err := os.MkdirTemp(dir, "thing")
	if err != nil {
		return nil, err
	}
	memoryInUse.Store(object, true)
	d := &memoryBuild{server: s, layout: l, program: p, object: object, done: make([]int64, p.Connections())}
	return &filewise.Database{Build: d}, nil
}

// memoryInUse are the objects of this process.
var memoryInUse sync.Map

type memoryBuild struct {
	server  *memoryServer
	layout  filewise.Layout
	program filewise.Program
	object  string
	mu      sync.Mutex
	done    []int64
}

func (d *memoryBuild) Observe(context.Context) ([]filewise.File, error) {
	s, err := memory{}.Statements(d.server.target, d.layout, d.program)
	return s.Files, err
}
func (d *memoryBuild) Settle(context.Context) error { return d.server.up() }
func (d *memoryBuild) Drop(context.Context) error {
	memoryInUse.Delete(d.object)
	return os.Remove(d.object)
}

func (d *memoryBuild) Connect(_ context.Context, _, worker int) (filewise.Session, error) {
	return &memorySession{d, worker}, d.server.up()
}

func (d *memoryBuild) Query(context.Context, string) ([][]any, error) {
	var n, sum int64
	var args []any
	for w, done := range d.done {
		for i := range done {
			args = d.program.First().Args.Args(args[:0], w, i)
			sum += int64(crc32.ChecksumIEEE(fmt.Appendf(nil, "%v,%v", args...)))
			n++
		}
	}
	return [][]any{{n, sum}}, nil
}

type memorySession struct {
	build  *memoryBuild
	worker int
}

// Do takes a millisecond for every 10 operations.
func (s *memorySession) Do(ctx context.Context, _, n int64) (int64, error) {
	if err := s.build.server.up(); err != nil {
		return 0, err
	}
	if err := (filewise.RealClock{}).Sleep(ctx, time.Duration(n)*100*time.Microsecond); err != nil {
		return 0, err
	}
	s.build.mu.Lock()
	defer s.build.mu.Unlock()
	s.build.done[s.worker] += n
	return n, nil
}

func (*memorySession) Close() error { return nil }
