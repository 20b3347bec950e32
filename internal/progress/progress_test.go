package progress

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// What lasts is reported every half minute, on a terminal drawn over and gone when something else is written.
func TestShow(t *testing.T) {
	var b Board
	var out strings.Builder
	b.Show(&out, false, nil)
	release := b.Own() // the test shows it
	s := Begin(With(context.Background(), &b), "reading a.log", 4<<20, "")
	if _, err := io.Copy(io.Discard, s.Reader(strings.NewReader(strings.Repeat("x", 1<<20)))); err != nil {
		t.Fatal(err)
	}
	release()
	s.begun = b.said
	for _, after := range []time.Duration{10, 31, 40, 62} {
		b.show(s.begun.Add(after * time.Second))
	}
	const want = "filewise: reading a.log: 25 %, 1.0 MiB of 4.0 MiB, 33 KiB/s, 1 min 33 s left\n"
	if got := strings.Split(out.String(), "\n"); len(got) != 3 || got[0]+"\n" != want {
		t.Errorf("it has told %q instead of two lines, the first %q", got, want)
	}
	out.Reset()
	b.Show(&out, true, func() int { return 60 })
	b.show(b.said.Add(time.Second))
	if out.Len() > 0 {
		t.Errorf("after a second it has drawn %q", &out)
	}
	b.show(b.said.Add(3 * time.Second))
	b.Before([]byte("a warning\n"), false)
	if got := out.String(); !strings.HasPrefix(got, "\rreading a.log: [###·········]") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("it has drawn %q", got)
	}
	out.Reset()
	b.Before([]byte("begun"), false)
	if b.show(b.said.Add(3 * time.Second)); out.Len() > 0 {
		t.Errorf("within a line of another's it has drawn %q", &out)
	}
	if s.End(); b.show(time.Now()) || b.Text(time.Now()) != "" {
		t.Error("the step is over, and shown")
	}
}
