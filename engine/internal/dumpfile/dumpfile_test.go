package dumpfile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
)

func TestLine(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader("a\n"+strings.Repeat("b", 100)+"\nc"), 16)
	for _, want := range []string{"a\n", strings.Repeat("b", 100) + "\n"} {
		if got, err := Line(in, 0); got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got, err := Line(in, 0); got != "c" || !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Line(bufio.NewReader(strings.NewReader("one line of many\n")), Longest); err == nil {
		t.Error("a statement without end")
	}
}

// What is to be done is said as the program failed.
func TestTake(t *testing.T) {
	program := filepath.Join(t.TempDir(), "pg_dump")
	for said, want := range map[string]string{"pg_dump: error: aborting because of server version mismatch": "--server-bin",
		"permission denied for table orders": "the rights", "SHOW FIELDS FROM late: View references invalid table(s) (1356)": "definer"} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho '"+said+"' >&2\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		err := Take(t.Context(), io.Discard, nil, program)
		if err == nil || !strings.Contains(err.Error(), said) || !strings.Contains(filewise.RemedyOf(err), want) {
			t.Errorf("%v; %s", err, filewise.RemedyOf(err))
		}
	}
}
