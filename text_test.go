package filewise

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	for _, c := range []struct{ arg, sh, cmd, powerShell string }{
		{"a=/srv/x,y@z", "a=/srv/x,y@z", "", ""},
		{"", `""`, "", ""},
		{"active>5", `"active>5"`, "", ""},
		{"loss > 5 %", `"loss > 5 %"`, "", ""},
		{"a=/my disk/it's", `"a=/my disk/it's"`, "", ""},
		{"postgres://a@h/d?x=1&y=2", `"postgres://a@h/d?x=1&y=2"`, "", ""},
		{`data=D:\new`, `"data=D:\new"`, "", ""},
		{`data=D:\`, `"data=D:\\"`, "", ""},
		{"@file", `"@file"`, "", ""},
		{`\\host\share`, `'\\host\share'`, `"\\host\share"`, `"\\host\share"`},
		{"wow!", "'wow!'", `"wow!"`, `"wow!"`},
		{"it's $HOME", `'it'\''s $HOME'`, `"it's $HOME"`, "'it''s $HOME'"},
		{`say "x"`, `'say "x"'`, `"say \"x\""`, `'say \"x\"'`},
	} {
		if c.cmd == "" {
			c.cmd, c.powerShell = c.sh, c.sh
		}
		for s, want := range []string{c.sh, c.cmd, c.powerShell} {
			if got := shell(s).word(c.arg); got != want {
				t.Errorf("%q in shell %d: %s, want %s", c.arg, s, got, want)
			}
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s|' "+shellSh.word(c.arg)).Output()
		if err != nil || string(out) != c.arg+"|" {
			t.Errorf("sh reads %q as %q, %v", c.arg, out, err)
		}
		if got := readByWindows(shellCmd.word(c.arg)); !slices.Equal(got, []string{c.arg}) {
			t.Errorf("Windows reads %q as %q", c.arg, got)
		}
	}
}

func TestLiteralQuotes(t *testing.T) {
	for arg, want := range map[string]bool{`'data=D:\x'`: true, "--filter='name=x'": true, "it's": false, "--name=it's": false, "-": false} {
		if LiteralQuotes([]string{"run", arg}) != want {
			t.Errorf("%s: %v", arg, !want)
		}
	}
}

// readByWindows takes a command line apart as programs there do it (CommandLineToArgvW).
func readByWindows(line string) (args []string) {
	var arg strings.Builder
	quoted, slashes := false, 0
	for _, c := range line + " " {
		if c == '\\' {
			slashes++
			continue
		}
		if c == '"' {
			arg.WriteString(strings.Repeat(`\`, slashes/2))
			if slashes%2 == 1 {
				arg.WriteRune(c)
			} else {
				quoted = !quoted
			}
		} else {
			arg.WriteString(strings.Repeat(`\`, slashes))
			if c == ' ' && !quoted {
				args = append(args, arg.String())
				arg.Reset()
			} else {
				arg.WriteRune(c)
			}
		}
		slashes = 0
	}
	return args
}
