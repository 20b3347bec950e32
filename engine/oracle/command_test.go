package oracle

import (
	"encoding/binary"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
)

// TestCommandOverTCP has a program connect to a listener without the service that it asks for, such as a build for
// Windows under Wine (scripts/prove-windows). The fake answers statements, not Oracle Net, so nothing after that is shown.
func TestCommandOverTCP(t *testing.T) {
	command := strings.Fields(os.Getenv("TEST_FILEWISE_COMMAND"))
	if len(command) == 0 {
		t.Skip("NO program of another build: TEST_FILEWISE_COMMAND names none")
	}
	const text = "(DESCRIPTION=(TMP=)(VSNNUM=318767104)(ERR=12514)(ERROR_STACK=(ERROR=(CODE=12514)(EMFI=4))))"
	port := listening(t, packet(4, false, "\x22\x00"+string(binary.BigEndian.AppendUint16(nil, uint16(len(text))))+text))
	target := fmt.Sprintf("oracle://filewise@127.0.0.1:%d/absent", port)
	for _, args := range [][]string{{"doctor"}, {"plan", "inserts"}} {
		args = append(args, "--target", target)
		cmd := osexec.CommandContext(t.Context(), command[0], append(command[1:], args...)...)
		cmd.Env = append(os.Environ(), "FILEWISE_PASSWORD=p")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(string(out), "lsnrctl services") {
			t.Errorf("%v: exit code %d, expected 3 and what to do:\n%s", args, code, out)
		}
	}
}
