package machine

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filewise"
)

func TestFacts(t *testing.T) {
	dir := t.TempDir()
	facts := Facts(t.Context(), []filewise.Volume{{Name: "main", Dir: dir}, {Name: "gone", Dir: dir + "/gone"}})
	got := map[string]string{}
	for _, f := range facts {
		if _, twice := got[f.Name]; twice || f.Name == "" || f.Value == "" {
			t.Errorf("fact %+v", f)
		}
		got[f.Name] = f.Value
	}
	for _, name := range []string{"cores", "memory", "kernel", "virtualisation", "volume main: directory",
		"volume main: file system", "volume main: mount point", "volume main: free", "volume gone: directory"} {
		if got[name] == "" {
			t.Errorf("no fact %q in %v", name, facts)
		}
	}
	if !strings.Contains(got["kernel"], runtime.GOARCH) {
		t.Errorf("kernel %q", got["kernel"])
	}
	if _, ok := got["volume gone: free"]; ok {
		t.Error("free space of a volume that does not exist")
	}
}

// Reports are shown to others: the host's name is in no fact.
func TestFactsHideTheHost(t *testing.T) {
	name, err := os.Hostname()
	if err != nil || len(name) < 5 { // a short name could be part of a word
		t.Skipf("the host's name %q cannot be looked for", name)
	}
	for _, f := range Facts(t.Context(), []filewise.Volume{{Name: "main", Dir: "/"}}) {
		if strings.Contains(f.Value, name) {
			t.Errorf("fact %+v holds the host's name", f)
		}
	}
}

func TestPublicOptions(t *testing.T) {
	got := publicOptions([]string{"rw", "addr=10.0.0.1", "vers=4.2", "username=ann", "Password=x", "lowerdir=/a:/b", "uid"})
	if d := cmp.Diff([]string{"rw", "vers=4.2", "uid"}, got); d != "" {
		t.Errorf("(−want +got):\n%s", d)
	}
}

func TestOSName(t *testing.T) {
	for text, want := range map[string]string{
		"NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n": "Debian GNU/Linux 12 (bookworm)",
		"PRETTY_NAME=Alpine": "Alpine", "PRETTY_NAME='A B'": "A B", "": "", "PRETTY": "",
	} {
		if got := osName(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCountList(t *testing.T) {
	for text, want := range map[string]int64{"0": 1, "0-3": 4, "0-3,8": 5, "": 0, "3-1": 0, "a": 0, "0-": 0, "-1": 0,
		"0-9223372036854775807": 0} {
		if got := countList(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestCurrent(t *testing.T) {
	for text, want := range map[string]string{"none [mq-deadline] kyber": "mq-deadline", "[none]": "none", "none": "none", "": "",
		"[x": "[x"} {
		if got := current(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
