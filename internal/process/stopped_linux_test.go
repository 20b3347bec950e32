package process

import (
	"bufio"
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A stopped child is seen, and so is one that has a socket of a port.
func TestStopped(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	cmd := exec.Command("sh", "-c", "echo; exec sleep 60")
	cmd.Stdout, cmd.ExtraFiles = nil, append(cmd.ExtraFiles, file)
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if ChildStopped() || StoppedAt(port) {
		t.Error("seen stopped before it was")
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); !ChildStopped() || !StoppedAt(port); {
		if time.Now().After(end) {
			t.Fatalf("child stopped %v, at the port %v", ChildStopped(), StoppedAt(port))
		}
		time.Sleep(time.Millisecond)
	}
	if StoppedAt(port+1) && port < 65535 {
		t.Error("stopped at another port")
	}
}
