package exchange

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// pair are the two ends of a connection over a socket of the kind, the first wrapped.
func pair(t *testing.T, network string, always bool) (ours, theirs net.Conn) {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	ours, err = Dialing(new(net.Dialer).DialContext, always)(t.Context(), network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if theirs = <-accepted; theirs == nil {
		t.Fatal("not accepted")
	}
	limit := time.Now().Add(20 * time.Second)
	if err := errors.Join(ours.SetDeadline(limit), theirs.SetDeadline(limit)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	return ours, theirs
}

func kinds(t *testing.T, test func(t *testing.T, network string)) {
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) { test(t, network) })
	}
}

// answer answers each request of a byte with its double, until the other end closes.
func answer(c net.Conn) error {
	b := make([]byte, 1)
	for {
		if _, err := c.Read(b); err != nil {
			return err
		}
		b[0] *= 2
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
}

func TestExchange(t *testing.T) {
	kinds(t, func(t *testing.T, network string) {
		ours, theirs := pair(t, network, false)
		ended := make(chan error, 1)
		go func() { ended <- answer(theirs) }()
		b := make([]byte, 8)
		for i := range 2000 {
			if i%3 > 0 { // some are held, some are not
				Of(ours).Hold()
			}
			if n, err := ours.Write([]byte{byte(i)}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			if n, err := ours.Read(b); n != 1 || err != nil || b[0] != byte(i)*2 {
				t.Fatal(n, err, b)
			}
		}
		if err := ours.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, io.EOF) {
			t.Errorf("the other end saw %v, not the end", err)
		}
	})
}

// A held request is not sent before the reply is read, and its order stands.
func TestHold(t *testing.T) {
	ours, theirs := pair(t, "unix", false)
	write := func(s string) {
		t.Helper()
		if n, err := ours.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	arrives := func(want string) {
		t.Helper()
		b := make([]byte, 64)
		n, err := io.ReadFull(theirs, b[:len(want)])
		if err != nil || string(b[:n]) != want {
			t.Fatalf("%q arrived (%v), want %q", b[:n], err, want)
		}
	}
	Of(ours).Hold()
	write("one ")
	_ = theirs.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if n, err := theirs.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes of a held request arrived: %v", n, err)
	}
	_ = theirs.SetReadDeadline(time.Now().Add(20 * time.Second))
	write("two ")
	arrives("one two ")
	write("three ") // Hold is for one Write
	arrives("three ")
	Of(ours).Hold()
	write("four ")
	if err := ours.Close(); err != nil {
		t.Error(err)
	}
	arrives("four ")
}

// A request goes out at once if a Read waits already, which would not send it.
func TestHoldWhileReading(t *testing.T) {
	ours, theirs := pair(t, "unix", true)
	read := make(chan error, 1)
	go func() {
		_, err := ours.Read(make([]byte, 1))
		read <- err
	}()
	for ours.(*conn).readers.Load() == 0 {
		runtime.Gosched()
	}
	if _, err := ours.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(theirs, make([]byte, 1)); err != nil {
		t.Fatalf("a held request did not arrive: %v", err)
	}
	_, _ = theirs.Write([]byte("y"))
	if err := <-read; err != nil {
		t.Error(err)
	}
}

// With always every Write is held, and Close sends the last one.
func TestAlways(t *testing.T) {
	ours, theirs := pair(t, "unix", true)
	ended := make(chan error, 1)
	go func() { ended <- answer(theirs) }()
	b := make([]byte, 1)
	for i := range byte(100) {
		if _, err := ours.Write([]byte{i}); err != nil {
			t.Fatal(err)
		}
		if _, err := ours.Read(b); err != nil || b[0] != i*2 {
			t.Fatal(err, b)
		}
	}
	_ = ours.Close()
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// What is larger than a socket's buffer waits for space, whatever is held before it.
func TestLargeWrite(t *testing.T) {
	kinds(t, func(t *testing.T, network string) {
		ours, theirs := pair(t, network, true)
		sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
		go func() {
			_, _ = ours.Write([]byte("held"))
			_, _ = ours.Write(sent)
			_ = ours.Close()
		}()
		got, err := io.ReadAll(theirs)
		if err != nil || string(got) != "held"+string(sent) {
			t.Fatalf("%d bytes arrived, want %d: %v", len(got), len(sent)+4, err)
		}
	})
}

// A request that the socket does not take at once goes out as soon as there is space.
func TestHeldWithoutRoom(t *testing.T) {
	ours, theirs := pair(t, "unix", false)
	_ = ours.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	filled, err := ours.Write(make([]byte, 8<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the buffer was never full: ", err)
	}
	_ = ours.SetWriteDeadline(time.Time{})
	Of(ours).Hold()
	request := bytes.Repeat([]byte("r"), longest)
	if _, err := ours.Write(request); err != nil {
		t.Fatal(err)
	}
	go func() {
		all := make([]byte, filled+len(request))
		if _, err := io.ReadFull(theirs, all); err == nil && bytes.Equal(all[filled:], request) {
			_, _ = theirs.Write([]byte("reply"))
		}
	}()
	b := make([]byte, 16)
	if n, err := ours.Read(b); err != nil || string(b[:n]) != "reply" {
		t.Fatal(string(b[:n]), err)
	}
}

// What a server sent before it went away is read, though the request reaches no server.
func TestLastWords(t *testing.T) {
	ours, theirs := pair(t, "unix", false)
	if _, err := theirs.Write([]byte("shutting down")); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	Of(ours).Hold()
	if _, err := ours.Write([]byte("request")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	if n, err := ours.Read(b); err != nil || string(b[:n]) != "shutting down" {
		t.Fatal(string(b[:n]), err)
	}
	if n, err := ours.Read(b); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatal(n, err)
	}
	if _, err := ours.Write([]byte("request")); err == nil {
		t.Error("nobody took it, and there is no error")
	}
}

// Without a last word the error names what failed.
func TestGone(t *testing.T) {
	ours, theirs := pair(t, "unix", false)
	_ = theirs.Close()
	Of(ours).Hold()
	_, _ = ours.Write([]byte("request"))
	n, err := ours.Read(make([]byte, 1))
	var op *net.OpError
	if n != 0 || !errors.As(err, &op) || op.Op != "write" {
		t.Fatal(n, err)
	}
}

// A connection is closed by others while its owner waits for a reply, as drivers do
// when a context ends.
func TestCloseMeanwhile(t *testing.T) {
	kinds(t, func(t *testing.T, network string) {
		for range 20 {
			ours, theirs := pair(t, network, true)
			ended := make(chan error, 1)
			go func() {
				_, _ = ours.Write([]byte("request"))
				_, err := ours.Read(make([]byte, 1))
				ended <- err
			}()
			if _, err := io.ReadFull(theirs, make([]byte, 7)); err != nil {
				t.Fatal(err)
			}
			if err := ours.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				t.Fatal(err)
			}
			if err := ours.Close(); !errors.Is(err, net.ErrClosed) {
				t.Fatal(err)
			}
		}
	})
}

func TestDeadline(t *testing.T) {
	ours, _ := pair(t, "unix", false)
	_ = ours.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	Of(ours).Hold()
	_, _ = ours.Write([]byte("request"))
	if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
}

// What is unread is read again, before what comes after it.
func TestUnread(t *testing.T) {
	ours, theirs := pair(t, "unix", false)
	if _, err := theirs.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	c, b := ours.(Conn), make([]byte, 8)
	n, err := io.ReadFull(c, b[:3])
	if err != nil {
		t.Fatal(err)
	}
	c.Unread(b[1:n])
	c.Unread([]byte("x"))
	if _, err := theirs.Write([]byte("d")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, b[:4]); err != nil || string(b[:4]) != "xbcd" {
		t.Fatalf("%q, %v", b[:4], err)
	}
}

// Only a socket can hold, also below TLS.
func TestOf(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	wrapped, err := Dialing(func(context.Context, string, string) (net.Conn, error) { return a, nil }, true)(t.Context(), "", "")
	if err != nil || wrapped != a {
		t.Fatal(wrapped, err)
	}
	Of(a).Hold()
	ours, _ := pair(t, "tcp", false)
	if Of(tls.Client(ours, &tls.Config{})) != ours.(Holder) {
		t.Error("the socket below TLS is not found")
	}
	refused := errors.New("refused")
	if _, err := Dialing(func(context.Context, string, string) (net.Conn, error) { return nil, refused }, true)(t.Context(), "",
		""); !errors.Is(err, refused) {
		t.Error(err)
	}
}

// Requests and replies allocate nothing.
func TestAllocations(t *testing.T) {
	ours, theirs := pair(t, "unix", false)
	go func() { _ = answer(theirs) }()
	request, reply := []byte{1}, make([]byte, 16)
	h := Of(ours)
	n := testing.AllocsPerRun(1000, func() {
		h.Hold()
		if _, err := ours.Write(request); err != nil {
			t.Fatal(err)
		}
		if _, err := ours.Read(reply); err != nil {
			t.Fatal(err)
		}
	})
	if n >= 1 {
		t.Errorf("%v allocations an exchange", n)
	}
}
