package server

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"filewise/internal/filesystem"
)

// No link that the server's user has put into its directory leads Filewise, which may
// be root, out of it.
func TestLinksOutOfADirectory(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	for name, try := range map[string]func(dir string) error{
		"read": func(dir string) error { _, err := filesystem.OpenIn(dir, filepath.Join(dir, "file")); return err },
		"read below": func(dir string) error {
			_, err := filesystem.OpenIn(dir, filepath.Join(dir, "sub", "secret"))
			return err
		},
		"a pipe": func(dir string) error { _, err := filesystem.OpenIn(dir, filepath.Join(dir, "pipe")); return err },
		"write":  func(dir string) error { return filesystem.WriteIn(dir, filepath.Join(dir, "file"), []byte("x")) },
		"make": func(dir string) error {
			_, err := filesystem.OpenFileIn(dir, filepath.Join(dir, "sub", "new"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			return err
		},
		"remove": func(dir string) error { return filesystem.RemoveIn(dir, filepath.Join(dir, "sub", "secret")) },
		"evict":  func(dir string) error { return filesystem.EvictIn(dir, filepath.Join(dir, "sub", "secret")) },
		"copy": func(dir string) error {
			in, err := filesystem.OpenIn(dir, filepath.Join(dir, "file"))
			if err != nil {
				return err
			}
			defer in.Close()
			return copyTo(t.Context(), in, dir, filepath.Join(dir, "new"))
		},
		"copy to": func(dir string) error {
			in, err := filesystem.OpenIn(outside, secret)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			return copyTo(t.Context(), in, dir, filepath.Join(dir, "file"))
		},
		"log": func(dir string) error {
			p, err := Start(Spec{Path: "/bin/true", Dir: dir, Log: filepath.Join(dir, "file")})
			if err == nil {
				p.Kill()
			}
			return err
		},
		"give": func(dir string) error {
			if err := os.Link(secret, filepath.Join(dir, "second")); err != nil {
				return err
			}
			return Give(dir, dir, &User{UID: 65534, GID: 65534})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(outside, name)
			for _, err := range []error{os.Mkdir(dir, 0o700), os.Symlink(secret, filepath.Join(dir, "file")),
				os.Symlink(outside, filepath.Join(dir, "sub")), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := try(dir); err == nil {
				t.Error("not refused")
			}
			if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
				t.Errorf("outside lies %q, %v", text, err)
			}
			info, err := os.Stat(secret)
			if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
				t.Errorf("given away: %v", err)
			}
			if _, err := os.Lstat(filepath.Join(outside, "new")); err == nil {
				t.Error("made outside")
			}
		})
	}
	if tail := Tail(filepath.Join(outside, "read", "file"), nil); tail != "" {
		t.Errorf("what a link in the place of a log points to is shown: %q", tail)
	}
}

// A snapshot holds nothing from outside, and a restore writes nothing there.
func TestSnapshotFollowsNoLink(t *testing.T) {
	outside, dir := t.TempDir(), filepath.Join(t.TempDir(), "server")
	secret := filepath.Join(outside, "file")
	for _, path := range []string{filepath.Join(dir, "sub", "file"), secret} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(path), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Take(t.Context(), []string{dir}, func(root string) string { return root + snapshotSuffix })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(t.Context()); err == nil {
		t.Error("restored through a link")
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != secret {
		t.Errorf("outside lies %q, %v", text, err)
	}
}
