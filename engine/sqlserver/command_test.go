package sqlserver

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestCommandOverTCP has a program look at this server and plan for it, such as a build for Windows under Wine
// (scripts/prove-windows). The password comes from a file as PowerShell 5 writes it.
func TestCommandOverTCP(t *testing.T) {
	command := strings.Fields(os.Getenv("TEST_FILEWISE_COMMAND"))
	if len(command) == 0 {
		t.Skip("NO program of another build: TEST_FILEWISE_COMMAND names none")
	}
	l := newLab(t, func(m *model) { m.password = "pä ss 1" })
	text := []byte{0xff, 0xfe}
	for _, c := range utf16.Encode([]rune(l.model.password + "\r\n")) {
		text = append(text, byte(c), byte(c>>8))
	}
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	target := fmt.Sprintf("sqlserver://filewise@127.0.0.1:%d?encrypt=disable", l.wire.Port())
	for _, args := range [][]string{{"doctor"}, {"plan", "inserts"}, {"plan", "scan", "--abort-if", "active>5"}} {
		args = append(args, "--target", target, "--password-file", file)
		out, err := osexec.CommandContext(t.Context(), command[0], append(command[1:], args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		t.Logf("%v\n%s", args, out)
	}
	if len(l.wire.Received()) == 0 {
		t.Error("it has asked nothing")
	}
}
