package server

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"filewise"
)

// Root of a container that has no other users gets an error with that reason.
func TestGiveWithoutTheServersUser(t *testing.T) {
	const inside = "TEST_FILEWISE_GIVE"
	if dir := os.Getenv(inside); dir != "" {
		var fault *filewise.Error
		err := Give(dir, dir, &User{UID: 4711, GID: 4711})
		if !errors.As(err, &fault) || fault.Code != filewise.CodePreflight || fault.Remedy == "" {
			t.Error(err)
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	if out, err := cmd.CombinedOutput(); errors.Is(err, syscall.EPERM) {
		t.Skip("users may not make namespaces here")
	} else if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
