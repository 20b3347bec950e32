package hostlock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/user"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"filewise"
)

// answerWithin is the time that a holder may take to identify itself.
const answerWithin = time.Second

// Lock is the measuring lock, held. On Linux it is a listening socket in the abstract namespace. No file is left, the
// kernel releases it with the process, all users of the host see it, and a second run can ask it for its holder. A
// container with a network of its own has locks of its own.
type Lock struct {
	listener *net.UnixListener
	served   sync.WaitGroup

	mu     sync.Mutex
	holder Holder
}

// Acquire takes the lock for h; PID, User and Since are filled in when empty. An error of code busy names the holder.
// It never waits for the holder.
func Acquire(ctx context.Context, h Holder) (*Lock, error) {
	addr, err := address()
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(answerWithin)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		listener, err := net.ListenUnix("unix", addr)
		if err == nil {
			l := &Lock{listener: listener, holder: h.complete()}
			l.served.Go(l.serve)
			return l, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, filewise.Errorf(filewise.CodePreflight, "", "cannot take the measuring lock: %w", err)
		}
		holder, err := ask(ctx, addr, end)
		// Refused: it has just ended, or does not listen yet. Try again a while.
		if errors.Is(err, syscall.ECONNREFUSED) && time.Now().Before(end) {
			if err := (filewise.RealClock{}).Sleep(ctx, time.Millisecond); err != nil {
				return nil, err
			}
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, busy(holder, err)
	}
}

// Unique distinguishes this lock from the locks of all hosts and containers with networks of their own, in 12
// hexadecimal digits. Empty means that is not known here.
func (*Lock) Unique() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	network, failed := os.Readlink("/proc/self/ns/net")
	if err != nil || failed != nil {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", boot, network, name()))
	return hex.EncodeToString(sum[:6])
}

func address() (*net.UnixAddr, error) {
	n := "@" + name()
	if limit := len(unix.RawSockaddrUnix{}.Path); len(n) > limit {
		return nil, filewise.Errorf(filewise.CodeUsage, "choose a shorter one", "FILEWISE_LOCK is %d bytes long; %d are possible", len(n)-1,
			limit-1)
	}
	return &net.UnixAddr{Name: n, Net: "unix"}, nil
}

// SetRun adds for later ones which run it is, once that is known.
func (l *Lock) SetRun(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.Run = run
}

// Release gives the lock back. Releasing twice is harmless.
func (l *Lock) Release() error {
	err := l.listener.Close()
	l.served.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// serve names the holder to every process that asks, and does nothing else.
func (l *Lock) serve() {
	for {
		conn, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // if out of descriptors, the lock still holds
			time.Sleep(10 * time.Millisecond)
			continue
		}
		l.mu.Lock()
		h := l.holder
		l.mu.Unlock()
		// A failure is the asking process's, which reports it.
		_ = conn.SetWriteDeadline(time.Now().Add(answerWithin))
		_ = json.NewEncoder(conn).Encode(h)
		conn.Close()
	}
}

// ask returns what is known about the holder, also with an error. The kernel reports which process and user it is, so
// that no other one can pose as it.
func ask(ctx context.Context, addr *net.UnixAddr, end time.Time) (Holder, error) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", addr.Name)
	if err != nil {
		return Holder{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var h Holder
	err = json.NewDecoder(io.LimitReader(conn, 4096)).Decode(&h)
	if err != nil {
		h, err = Holder{}, fmt.Errorf("no answer: %w", err)
	}
	if cred, credErr := credentials(conn.(*net.UnixConn)); credErr == nil {
		h.PID, h.User = int(cred.Pid), strconv.Itoa(int(cred.Uid))
		if u, err := user.LookupId(h.User); err == nil {
			h.User = u.Username
		}
	}
	return h, err
}

func credentials(conn *net.UnixConn) (*unix.Ucred, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	return cred, errors.Join(err, credErr)
}
