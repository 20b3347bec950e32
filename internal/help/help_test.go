package help

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Lines are folded below the last column of their table or a little further in, and what is
// typed is left in one line.
func TestFold(t *testing.T) {
	typed := "    $ filewise run inserts --target sqlite:/srv/data --files 1,2,4"
	text := "  note     tool pgbackrest: not installed here\n  the server: it has one log for all of them\n" + typed + "\nshort"
	want := "  note     tool pgbackrest: not\n           installed here\n  the server: it has one log for\n    all of them\n" +
		typed + "\nshort"
	if got := Fold(text, 34); got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
	if got := Fold("What can be seen here: filewise doctor --resolve measures it.", 42); !strings.Contains(got, "\n  --resolve measures") {
		t.Errorf("a flag was parted:\n%s", got)
	}
}

// What a command is for fits the terminal, paragraph by paragraph; a list stays one.
func TestText(t *testing.T) {
	long := "Filewise measures, and\nsays how sure it is of that.\n\nExit codes:\n  0    done\n  3    space, rights or versions do not suffice"
	got := Text(long, 30)
	for _, l := range strings.Split(got, "\n") {
		if ansi.StringWidth(l) > 30 {
			t.Errorf("too wide: %q", l)
		}
	}
	if !strings.HasPrefix(got, "Filewise measures, and says\nhow sure it is of that.\n\nExit codes:\n  0    done\n  3    space, rights or\n"+
		"       versions") {
		t.Errorf("it is\n%s", got)
	}
}
