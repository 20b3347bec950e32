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

// answerWithin limits the time that a holder may take to identify itself.
const answerWithin = time.Second

// Lock is the held measuring lock. On Linux it is a listening socket in the abstract namespace. It leaves no file, the
// kernel releases it with the process, all users of the host see it, and a second run can ask it for its holder. A
// container with its own network has its own locks.
type Lock struct {
	listener *net.UnixListener
	served   sync.WaitGroup

	mu     sync.Mutex
	holder Holder
}

// Acquire takes the lock for h, and fills in PID, User and Since if they are empty. It never waits for a holder: the
// error then has CodeBusy and names the holder.
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
		// The connection was refused: the holder has just ended, or does not listen yet. Retry for a while.
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

// Unique returns 12 hexadecimal digits that distinguish this lock from the locks of all other hosts, and of containers
// with their own networks. It is empty if they are not known.
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

// SetRun adds the run to the holder's description, once the run is known.
func (l *Lock) SetRun(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.Run = run
}

// Release releases the lock. Releasing twice is harmless.
func (l *Lock) Release() error {
	err := l.listener.Close()
	l.served.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// serve describes the holder to every process that asks, and does nothing else.
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
		// A failure is reported by the process that asks.
		_ = conn.SetWriteDeadline(time.Now().Add(answerWithin))
		_ = json.NewEncoder(conn).Encode(h)
		conn.Close()
	}
}

// ask returns what is known about the holder, even with an error. The kernel reports the process and its user, so that
// no other process can pose as the holder.
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
