package dumpfile

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
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
