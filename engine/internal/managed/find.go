package managed

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"filewise"
)

// Binary is a program of a server and where it comes from.
type Binary struct {
	Names   []string // any of them will do, the preferred one first
	Places  []string // directories to look in besides PATH, patterns allowed
	Package string   // the Debian package that brings it
}

// Find returns the path of the binary: in bin alone when that is not empty,
// else in PATH, else in the usual places. The error has code preflight and names
// what to install.
func (b Binary) Find(bin string) (string, error) {
	if bin != "" {
		return b.findIn(bin)
	}
	for _, name := range b.Names {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	for _, place := range b.Places {
		dirs, err := filepath.Glob(place)
		if err != nil {
			return "", filewise.Errorf(filewise.CodeInternal, "", "place %q: %w", place, err)
		}
		for i := len(dirs) - 1; i >= 0; i-- { // of several versions the last
			for _, name := range b.Names {
				if path := filepath.Join(dirs[i], name); runnable(path) == nil {
					return path, nil
				}
			}
		}
	}
	return "", filewise.Errorf(filewise.CodePreflight,
		"install it: apt-get install "+b.Package+", or name the directory that holds it: --server-bin DIR",
		"there is no %s on this machine: neither in PATH nor in %s", b.Names[0], strings.Join(b.Places, ", "))
}

// findIn looks in the directory that the user named, where a server's own tree
// may keep it in bin, sbin or libexec.
func (b Binary) findIn(dir string) (string, error) {
	var why error = fs.ErrNotExist
	for _, sub := range []string{"", "bin", "sbin", "libexec"} {
		for _, name := range b.Names {
			path := filepath.Join(dir, sub, name)
			err := runnable(path)
			if err == nil {
				return filepath.Abs(path)
			}
			if !errors.Is(err, fs.ErrNotExist) {
				why = err
			}
		}
	}
	return "", filewise.Errorf(filewise.CodePreflight,
		"name the directory that holds it, or leave --server-bin out to use the installed package "+b.Package,
		"--server-bin %s has no %s that can be run: %w", dir, b.Names[0], why)
}

func runnable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return &fs.PathError{Op: "run", Path: path, Err: fs.ErrPermission}
	}
	return nil
}
