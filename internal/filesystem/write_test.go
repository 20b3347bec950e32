//go:build unix

package filesystem

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A file keeps its rights; another user's link, or file, is not written to.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	write := func(path string) error {
		return WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err })
	}
	file := func(name string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	link := func(to, name string) string {
		path := filepath.Join(dir, name)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o444} {
		path := file(mode.String(), mode)
		if err := write(path); err != nil || text(path) != "new" {
			t.Fatalf("%v: %v", mode, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%v has become %v, %v", mode, info.Mode(), err)
		}
	}
	mine := file("mine", 0o600)
	own := link(mine, "own")
	if err := write(own); err != nil || text(mine) != "new" {
		t.Errorf("through a link of one's own: %v", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can make what belongs to others")
	}
	victim := file("victim", 0o600)
	for _, theirs := range []string{link(victim, "theirs"), link(filepath.Join(dir, "nowhere"), "dangling"), file("their file", 0o666)} {
		if err := os.Lchown(theirs, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if err := write(theirs); err == nil || !strings.Contains(err.Error(), "another user") {
			t.Errorf("%s: %v", theirs, err)
		}
	}
	if text(victim) != "old" {
		t.Error("another user's link was followed")
	}
	if runtime.GOOS != "linux" {
		return
	}
	// A directory on the way is a link, or becomes one while the file is written.
	to := link(dir, "their directory")
	if err := os.Lchown(to, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	for _, through := range []string{filepath.Join(to, "victim"), filepath.Join(to, "new"),
		link(filepath.Join(to, "victim"), "mine to theirs")} {
		if err := write(through); err == nil || !strings.Contains(err.Error(), "another user") || strings.Contains(err.Error(), "/proc/") {
			t.Errorf("%s: %v", through, err)
		}
	}
	swapped := filepath.Join(dir, "swapped")
	if err := os.Mkdir(swapped, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(swapped, "victim"), func(w io.Writer) error {
		return errors.Join(os.Rename(swapped, swapped+" away"), os.Symlink(dir, swapped))
	}); err != nil || text(victim) != "old" || text(filepath.Join(swapped+" away", "victim")) != "" {
		t.Errorf("a directory that is swapped while it is written to: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Paths of all kinds lead to the same files as before.
func TestWriteFileByOddPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, err := range []error{os.MkdirAll("a/b", 0o700), os.Symlink("a/b", "l"), os.Symlink("../l/new", "a/dangling"),
		os.Symlink("loop", "loop")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	say := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	for path, lands := range map[string]string{"x": "x", "./l//y": "a/b/y", "l/../z": "a/z", dir + "/l/w": "a/b/w", "a/dangling": "a/b/new"} {
		if err := WriteFile(path, say); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, lands)); string(b) != "new" {
			t.Errorf("%s: %s holds %q, %v", path, lands, b, err)
		}
	}
	for _, path := range []string{"none/x", "loop", "x/y", "a", ""} {
		if err := WriteFile(path, say); err == nil || strings.Contains(err.Error(), "/proc/") {
			t.Errorf("%s: %v", path, err)
		}
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := errors.Join(WriteFile(fmt.Sprintf("/dev/fd/%d", out.Fd()), say), WriteFile("/dev/null", say), out.Close()); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(in); string(b) != "new" {
		t.Errorf("through a pipe came %q, %v", b, err)
	}
}

// What a writer has left that was killed goes; what another one writes stays, as do
// others' files.
func TestPartsThatWereLeftGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.html")
	for _, name := range []string{".1.part", ".2.part", ".x.part", ".3.parts"} {
		if err := os.WriteFile(path+name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writing, err := os.OpenFile(path+".2.part", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writing.Close()
	if err := Lock(writing); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"": true, ".1.part": false, ".2.part": true, ".x.part": true, ".3.parts": true} {
		if _, err := os.Stat(path + name); (err == nil) != want {
			t.Errorf("out.html%s is there: %v", name, err == nil)
		}
	}
}
