package archive

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func never(string) bool { return false }

// A tree that is copied into several files, compressed or not, is the same when it is
// unpacked, but for what is left out, and for what has changed meanwhile.
func TestCopyAndUnpack(t *testing.T) {
	from := t.TempDir()
	for name, content := range map[string]string{"a": strings.Repeat("a", 70_000), "sub/b": "b", "sub/c": "", "wal/log": "left out",
		"pid": "left out", "grows": "1234", "shrinks": "12345678"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(from, name), []byte(content), 0o600))
	}
	must(t, os.Symlink("a", filepath.Join(from, "link")))
	members, err := Walk(from, from, "in", func(rel string) bool { return rel == "pid" }, func(rel string) bool { return rel == "wal" })
	must(t, err)
	must(t, os.WriteFile(filepath.Join(from, "grows"), []byte("123456"), 0o600))
	must(t, os.WriteFile(filepath.Join(from, "shrinks"), []byte("12"), 0o600))
	dir := t.TempDir()
	var stripes []*Stripe
	for _, name := range []string{"1.tar", "2.tar" + Gzipped} {
		s, err := Create(dir, filepath.Join(dir, name))
		must(t, err)
		stripes = append(stripes, s)
	}
	must(t, Copy(t.Context(), members, stripes, 16<<10))
	must(t, stripes[0].AddText("label", "the begin"))
	to := t.TempDir()
	for _, s := range stripes {
		must(t, s.Finish())
		must(t, s.Close())
		must(t, Unpack(t.Context(), s.Path, "", func(name string) (string, error) { return filepath.Join(to, name), nil }))
	}
	for name, want := range map[string]string{"in/a": strings.Repeat("a", 70_000), "in/sub/b": "b", "in/sub/c": "", "label": "the begin",
		"in/grows": "1234", "in/shrinks": "12\x00\x00\x00\x00\x00\x00"} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for _, name := range []string{"in/pid", "in/wal/log", "in/link"} {
		if _, err := os.Lstat(filepath.Join(to, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	if info, err := os.Stat(filepath.Join(to, "in/wal")); err != nil || !info.IsDir() {
		t.Errorf("the emptied directory: %v", err)
	}
}

func TestUnpackDamaged(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte(strings.Repeat("a", 70_000)), 0o600))
	members, err := Walk(dir, dir, "", never, never)
	must(t, err)
	backups := t.TempDir()
	s, err := Create(backups, filepath.Join(backups, "1.tar"))
	must(t, err)
	must(t, Copy(t.Context(), members, []*Stripe{s}, 1<<20))
	must(t, s.Finish())
	must(t, s.Close())
	must(t, os.Truncate(s.Path, 100))
	place := func(name string) (string, error) { return filepath.Join(dir, "to", name), nil }
	if err := Unpack(t.Context(), s.Path, "", place); !errors.Is(err, filewise.ErrCheck) {
		t.Errorf("a damaged archive: %v", err)
	}
	if _, err := Create(backups, s.Path); !errors.Is(err, os.ErrExist) {
		t.Errorf("over another's file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	null, err := Create("", os.DevNull)
	must(t, err)
	defer null.Close()
	if err := Copy(ctx, members, []*Stripe{null}, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
