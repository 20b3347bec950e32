package hostlock

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"filewise"
)

// The lock is the host's, not the user's.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to run a process as another user")
	}
	setup(t)
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	binary := publicBinary(t)
	l := acquire(t, Holder{Run: "7"})
	if got := contend(t, binary, nobody).try(t); !strings.Contains(got, fmt.Sprintf("process %d of user root, run 7", os.Getpid())) {
		t.Errorf("another user: %s", got)
	}
	must(t, l.Release())
	c := contend(t, binary, nobody)
	if got := c.try(t); got != "won" {
		t.Fatalf("another user: %s", got)
	}
	_, err := Acquire(t.Context(), Holder{})
	if filewise.CodeOf(err) != filewise.CodeBusy || !strings.Contains(err.Error(),
		fmt.Sprintf("process %d of user nobody, run 12", c.cmd.Process.Pid)) {
		t.Errorf("root: %v", err)
	}
}

// Another program's text on the socket can neither garble the terminal nor pose as another process.
func TestAnotherProgramOnTheSocket(t *testing.T) {
	setup(t)
	for name, say := range map[string]string{
		"nothing":  "",
		"garbage":  "\x1b[2J\x00{{{",
		"a lie":    `{"pid": 1, "user": "ada", "run": "\u001b[2J\n12", "what": "` + strings.Repeat("x", 2000) + `"}`,
		"too much": `{"run": "` + strings.Repeat("x", 10000) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			addr, err := address()
			must(t, err)
			listener, err := net.ListenUnix("unix", addr)
			must(t, err)
			defer listener.Close()
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					conn.Write([]byte(say))
					conn.Close()
				}
			}()
			_, err = Acquire(t.Context(), Holder{})
			if filewise.CodeOf(err) != filewise.CodeBusy || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
				t.Errorf("%v", err)
			}
			if text := err.Error(); strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || len(text) > 400 {
				t.Errorf("%q", text)
			}
		})
	}
}

// Clients that never read keep the lock neither from being released nor from answering others.
func TestSilentAskers(t *testing.T) {
	setup(t)
	l := acquire(t, Holder{})
	for range 20 {
		conn, err := net.Dial("unix", "@"+name())
		must(t, err)
		defer conn.Close()
	}
	if _, err := Acquire(t.Context(), Holder{}); filewise.CodeOf(err) != filewise.CodeBusy {
		t.Error(err)
	}
	must(t, l.Release())
}

// A holder that does not answer is still identified by the kernel.
func TestStoppedHolder(t *testing.T) {
	setup(t)
	c := contend(t, os.Args[0], nil)
	if got := c.try(t); got != "won" {
		t.Fatalf("child: %s", got)
	}
	must(t, c.cmd.Process.Signal(syscall.SIGSTOP))
	begin := time.Now()
	_, err := Acquire(t.Context(), Holder{})
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("waited %v", took)
	}
	if filewise.CodeOf(err) != filewise.CodeBusy || !strings.Contains(err.Error(), fmt.Sprint("process ", c.cmd.Process.Pid)) {
		t.Errorf("%v", err)
	}
}
