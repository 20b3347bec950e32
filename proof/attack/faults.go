//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"filewise/cmd/filewise/filewisetest"
	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// requests are kinds of requests to a file system.
type requests int32

const (
	looks requests = 1 << iota
	opens
	creates
	writes
	syncs
	renames
	removes
	changes = creates | writes | renames | removes
	all     = looks | opens | changes | syncs
)

// sick is a file system whose requests of some kinds fail with an error once it is set, or are never answered.
type sick struct {
	fuse.RawFileSystem
	errno atomic.Int32
	fail  requests
	over  chan struct{}
}

// hangs is set instead of an error if requests are never answered.
const hangs = -1

func (s *sick) status(kind requests, cancel <-chan struct{}) fuse.Status {
	if s.fail&kind == 0 {
		return fuse.OK
	}
	errno := s.errno.Load()
	if errno == hangs {
		select {
		case <-cancel: // a signal has ended the process
		case <-s.over:
		}
		return fuse.EINTR
	}
	return fuse.Status(errno)
}

func (s *sick) Lookup(cancel <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	if e := s.status(looks, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.Lookup(cancel, h, name, out)
}

func (s *sick) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	if e := s.status(looks, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.GetAttr(cancel, in, out)
}

func (s *sick) Read(cancel <-chan struct{}, in *fuse.ReadIn, b []byte) (fuse.ReadResult, fuse.Status) {
	if e := s.status(looks, cancel); e != fuse.OK {
		return nil, e
	}
	return s.RawFileSystem.Read(cancel, in, b)
}

func (s *sick) OpenDir(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if e := s.status(looks, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.OpenDir(cancel, in, out)
}

func (s *sick) Open(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if e := s.status(opens, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.Open(cancel, in, out)
}

func (s *sick) Create(cancel <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	if e := s.status(creates, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.Create(cancel, in, name, out)
}

func (s *sick) Mkdir(cancel <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	if e := s.status(creates, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.Mkdir(cancel, in, name, out)
}

func (s *sick) Write(cancel <-chan struct{}, in *fuse.WriteIn, b []byte) (uint32, fuse.Status) {
	if e := s.status(writes, cancel); e != fuse.OK {
		return 0, e
	}
	return s.RawFileSystem.Write(cancel, in, b)
}

func (s *sick) Fallocate(cancel <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	if e := s.status(writes, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.Fallocate(cancel, in)
}

func (s *sick) Fsync(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if e := s.status(syncs, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.Fsync(cancel, in)
}

func (s *sick) Rename(cancel <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	if e := s.status(renames, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.Rename(cancel, in, from, to)
}

func (s *sick) Unlink(cancel <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	if e := s.status(removes, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.Unlink(cancel, h, name)
}

func (s *sick) Rmdir(cancel <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	if e := s.status(removes, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.Rmdir(cancel, h, name)
}

func (s *sick) StatFs(cancel <-chan struct{}, h *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	if e := s.status(looks, cancel); e != fuse.OK {
		return e
	}
	return s.RawFileSystem.StatFs(cancel, h, out)
}

// sicken puts a file system that is well for now over a directory.
func (p *place) sicken(dir string, fail requests) (*sick, error) {
	source := p.dir + "/behind-" + filepath.Base(dir)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.Rename(dir, source), os.Mkdir(dir, 0o755)); err != nil {
		return nil, err
	}
	root, err := fs.NewLoopbackRoot(source)
	if err != nil {
		return nil, err
	}
	s := &sick{RawFileSystem: fs.NewNodeFS(root, &fs.Options{NullPermissions: true}), fail: fail, over: make(chan struct{})}
	server, err := fuse.NewServer(s, dir, &fuse.MountOptions{AllowOther: true, DirectMountStrict: true, FsName: source, Name: "sick",
		Options: []string{"default_permissions"}})
	if err != nil {
		return nil, err
	}
	go server.Serve()
	p.undo = append([]func() error{func() error {
		s.errno.Store(0)
		close(s.over)
		return syscall.Unmount(dir, syscall.MNT_DETACH)
	}}, p.undo...)
	if err := server.WaitMount(); err != nil {
		return nil, err
	}
	p.belongings, err = filewisetest.Tree(p.volume)
	return s, err
}

// hostFaults are the errors of a file system, the requests that they usually answer, and a word of the remedy that a run
// must name then.
var hostFaults = []struct {
	errno  syscall.Errno
	fail   requests
	remedy string
}{
	{syscall.EIO, all, "bring the volume back"},
	{syscall.ESTALE, all, "bring the volume back"},
	{syscall.ETIMEDOUT, all, "bring the volume back"},
	{syscall.ENOTCONN, all, "bring the volume back"},
	{syscall.EROFS, changes, "bring the volume back, writable"},
	{syscall.ENOSPC, creates | writes, "free space"},
	{syscall.EDQUOT, creates | writes, "quota"},
	{syscall.EFBIG, writes, "ulimit -f"},
	{syscall.EMFILE, opens | creates, "ulimit -n"},
	{syscall.ENOMEM, opens | creates | writes, "memory"},
	{syscall.EACCES, opens | creates, "rights"},
}

// faulted has a file system of the volume's, or the store's, fail in mid-run with one of the errors: all requests that
// it usually answers, or requests of one kind.
func faulted(flags ...string) func(*place) error {
	return func(p *place) error {
		f := hostFaults[p.IntN(len(hostFaults))]
		dir, kinds := p.volume, "its usual requests"
		p.at = p.dir // no command begins in a directory that does not answer
		switch p.IntN(3) {
		case 0:
			dir = filepath.Join(p.dir, "kept")
			p.store, f.fail = filepath.Join(dir, "store.db"), f.fail&(creates|writes|syncs)
			p.unread = true
			p.env = append(p.env, "FILEWISE_STORE="+p.store)
		case 1:
			one := p.IntN(7)
			f.fail, kinds = 1<<one, []string{"looks", "opens", "creates", "writes", "syncs", "renames", "removes"}[one]
		default:
			p.says = f.remedy
		}
		s, err := p.sicken(dir, f.fail)
		if err != nil {
			return err
		}
		err = p.struck(func() error { s.errno.Store(int32(f.errno)); return nil }, func() error { s.errno.Store(0); return nil },
			flags...)
		if err != nil {
			return fmt.Errorf("%s answers %s with %s: %w", filepath.Base(dir), kinds, f.errno.Error(), err)
		}
		return nil
	}
}

// hungRun has the volume of a run stop answering in mid-trial. The run must report it, and end on an interrupt, since
// this daemon lets go of the requests of a process that ends.
func hungRun(flags ...string) func(*place) error {
	return func(p *place) error {
		p.at = p.dir
		s, err := p.sicken(p.volume, all)
		if err != nil {
			return err
		}
		c, err := p.start(nil, runArgs(append([]string{"--volume=here=" + p.volume}, flags...)...)...)
		if err != nil {
			return err
		}
		if err := until(func() (bool, error) { s, err := p.stored(); return len(s.trials) > 0 || over(c), err }); err != nil {
			return err
		}
		p.wait(time.Second)
		s.errno.Store(hangs)
		time.Sleep(15 * time.Second)
		if over(c) {
			return fmt.Errorf("the run ended before it was interrupted\n%.2000s", c.stderr.Bytes())
		}
		if err := c.Process.Signal(syscall.SIGINT); err != nil {
			return err
		}
		select {
		case <-c.ended:
		case <-time.After(15 * time.Second):
			return errors.New("the run goes on after SIGINT")
		}
		if text := c.stderr.String(); c.ProcessState.ExitCode() != 130 || !strings.Contains(text, "has not answered for") ||
			!strings.Contains(text, "filewise clean") {
			return fmt.Errorf("exit code %d:\n%.2000s", c.ProcessState.ExitCode(), text)
		}
		s.errno.Store(0)
		return errors.Join(p.clean(), p.finish())
	}
}
