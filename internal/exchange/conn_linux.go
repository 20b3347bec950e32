package exchange

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// longest is the size in bytes up to which a request is held. Any socket's buffer takes more.
const longest = 4096

// conn reads and writes a socket by raw system calls. Package net's sockets do not block, so the scheduler need not
// learn of the calls. In a process that mostly waits, each would wake the scheduler's monitor, a separate thread.
// conn waits for a reply before it reads, while net's connections first read in vain. As with net's connections, one
// goroutine may read while another writes, and any may close.
type conn struct {
	net.Conn
	raw    syscall.RawConn
	always bool

	mu   sync.Mutex
	hold bool
	held []byte // written, but not sent yet

	readers          atomic.Int32 // Reads under way
	unread           []byte
	reading, writing call
}

// call is a system call for reading or writing, with its outcome.
type call struct {
	buf    []byte
	n      int
	errno  syscall.Errno
	unsent bool                  // on reading: what is held could not be sent at once
	try    func(fd uintptr) bool // made once: it allocates
}

// wrap returns c itself if it is not a socket.
func wrap(c net.Conn, always bool) net.Conn {
	s, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return c
	}
	w := &conn{Conn: c, raw: raw, always: always}
	w.reading.try, w.writing.try = w.tryRead, w.tryWrite
	return w
}

// SyscallConn implements syscall.Conn.
func (c *conn) SyscallConn() (syscall.RawConn, error) { return c.raw, nil }

// Hold implements Holder.
func (c *conn) Hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = true
}

// Write sends b after what is held, or keeps it for later if writes are held.
func (c *conn) Write(b []byte) (int, error) {
	before, held := c.keep(b)
	if held {
		return len(b), nil
	}
	if _, err := c.send(before); err != nil {
		return 0, err
	}
	return c.send(b)
}

// keep holds b, or returns what must be sent before b. If a Read waits already, it holds nothing, since that Read would
// not send it.
func (c *conn) keep(b []byte) (before []byte, held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	held = (c.hold || c.always) && len(c.held) == 0 && len(b) <= longest && c.readers.Load() == 0
	c.hold = false
	if held {
		c.held = append(c.held, b...)
		return nil, true
	}
	before, c.held = c.held, c.held[:0]
	return before, false
}

func (c *conn) send(b []byte) (sent int, err error) {
	w := &c.writing
	for sent < len(b) && err == nil {
		w.buf = b[sent:]
		if err = c.raw.Write(w.try); err == nil {
			sent, err = sent+w.n, c.failed("write", w.errno)
		}
		w.buf = nil
	}
	return sent, err
}

// tryWrite writes what the socket takes. It returns false if the socket's buffer is full.
func (c *conn) tryWrite(fd uintptr) bool {
	w := &c.writing
	w.n, w.errno = transfer(syscall.SYS_WRITE, fd, w.buf)
	return w.errno != syscall.EAGAIN
}

// Read sends what is held, then reads the reply.
func (c *conn) Read(b []byte) (int, error) {
	c.readers.Add(1)
	defer c.readers.Add(-1)
	if len(c.unread) > 0 {
		n := copy(b, c.unread)
		c.unread = c.unread[n:]
		return n, nil
	}
	if len(b) == 0 {
		return 0, nil
	}
	r := &c.reading
	r.buf, r.unsent = b, false
	defer func() { r.buf = nil }()
	if err := c.raw.Read(r.try); err != nil {
		return 0, err
	}
	if r.unsent {
		before, _ := c.keep(nil)
		if _, err := c.send(before); err != nil {
			return c.lastWords(err)
		}
		if err := c.raw.Read(r.try); err != nil {
			return 0, err
		}
	}
	if r.errno == 0 && r.n == 0 {
		return 0, io.EOF
	}
	return r.n, c.failed("read", r.errno)
}

// Unread implements Conn.
func (c *conn) Unread(b []byte) { c.unread = slices.Concat(b, c.unread) }

// tryRead reads available bytes. It returns false if there are none. Only tryRead sends held requests, because only from
// here on does the poller remember a reply that comes before a caller waits for it.
func (c *conn) tryRead(fd uintptr) bool {
	r := &c.reading
	switch c.sendHeld(fd) {
	case sentNow:
		return false
	case notSent:
		r.unsent = true
		return true
	}
	r.n, r.errno = transfer(syscall.SYS_READ, fd, r.buf)
	return r.errno != syscall.EAGAIN
}

type outcome int

const (
	nothingHeld outcome = iota
	sentNow
	notSent
)

// sendHeld sends what is held, as far as the socket takes it at once. It keeps the rest.
func (c *conn) sendHeld(fd uintptr) outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.held) == 0 {
		return nothingHeld
	}
	n, errno := transfer(syscall.SYS_WRITE, fd, c.held)
	c.held = append(c.held[:0], c.held[n:]...)
	if errno != 0 || len(c.held) > 0 {
		return notSent
	}
	return sentNow
}

// lastWords returns what has come from a server that takes no more requests: it may give the reason.
func (c *conn) lastWords(why error) (int, error) {
	r := &c.reading
	if err := c.raw.Read(func(fd uintptr) bool {
		r.n, r.errno = transfer(syscall.SYS_READ, fd, r.buf)
		return true
	}); err != nil || r.errno != 0 || r.n == 0 {
		return 0, why
	}
	return r.n, nil
}

// Close sends what is held, if the socket takes it at once, and closes the socket.
func (c *conn) Close() error {
	err := c.raw.Control(func(fd uintptr) { c.sendHeld(fd) })
	if errors.Is(err, net.ErrClosed) {
		err = nil // Close reports it
	}
	return errors.Join(err, c.Conn.Close())
}

// failed returns a call's error in the form of package net.
func (c *conn) failed(op string, errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, errno)}
}

// transfer calls read(2) or write(2) on a non-blocking socket.
func transfer(trap, fd uintptr, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch errno {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
