package server

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/host/machine"
	"filewise/internal/userdir"
)

// Binary is a program of a server and where it comes from.
type Binary struct {
	Names   []string // any of them will do, the preferred one first
	Places  []string // directories to search in addition to PATH, patterns allowed
	Package string   // the Debian package that brings it
	Remedy  string   // how it is installed if no package brings it
}

// Fetched returns where the scripts of Filewise's source put a server's programs for the user:
// the programs of a release, or by a pattern of all.
func Fetched(release string) string {
	return filepath.Join(cmp.Or(userdir.Find("XDG_DATA_HOME", ".local", "share"), "/nonexistent"), "servers", release, "bin")
}

// Find returns the path of the binary: in bin alone when that is not empty,
// else in PATH, else in the usual places. The error has code preflight and names
// what to install.
func (b Binary) Find(bin string) (string, error) {
	return b.FindWhere(bin, func(string) error { return nil })
}

// FindWhere is Find for names that several products share: a binary that is does
// not accept is passed over. In bin, which the user named, it is refused with
// that error; so it is if no other is found.
func (b Binary) FindWhere(bin string, is func(path string) error) (string, error) {
	if err := machine.ManagedServers(); err != nil {
		return "", err
	}
	if bin != "" {
		path, err := b.findIn(bin)
		if err == nil {
			err = is(path)
		}
		return path, err
	}
	var passed error
	for _, path := range b.candidates() {
		err := is(path)
		if err == nil {
			return path, nil
		}
		passed = err
	}
	if passed != nil {
		return "", passed
	}
	return "", filewise.Errorf(filewise.CodePreflight,
		b.remedy()+", or name the directory that holds it: --server-bin DIR",
		"there is no %s on this machine: neither in PATH nor in %s", b.Names[0], strings.Join(b.Places, ", "))
}

// remedy returns how the binary is installed.
func (b Binary) remedy() string {
	if b.Remedy != "" {
		return b.Remedy
	}
	return "install it: " + machine.Install(b.Package)
}

// candidates returns the binaries on this machine: those in PATH, then those in the
// usual places, of several versions the last first.
func (b Binary) candidates() []string {
	var all []string
	for _, name := range b.Names {
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			if path, err := filepath.Abs(filepath.Join(dir, name)); dir != "" && err == nil && runnable(path) == nil {
				all = append(all, path)
			}
		}
	}
	for _, place := range b.Places {
		dirs, err := filepath.Glob(place)
		if err != nil {
			continue // a malformed pattern: find_test looks at each
		}
		for i := len(dirs) - 1; i >= 0; i-- { // of several versions the last
			for _, name := range b.Names {
				if path := filepath.Join(dirs[i], name); runnable(path) == nil {
					all = append(all, path)
				}
			}
		}
	}
	return all
}

// findIn looks in the directory that the user named, where a server's own tree
// can keep it in bin, sbin or libexec.
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
		"name the directory that holds it, or leave --server-bin out to use the one that is installed",
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

// TryIt runs the smallest server with a user's settings, and returns what it
// reports itself.
type TryIt func(ctx context.Context, settings map[string]string) ([]filewise.Fact, error)

// Try tries a user's settings before anything is built: what would fail later
// fails here. Servers often do not name the setting that they do not take ("Invalid
// page size=5120"). So it is found by leaving out each in turn, and blamed makes the
// error that names it. If leaving out one of them does not help, the error stands.
func Try(ctx context.Context, settings map[string]string, try TryIt, blamed func(name string, err error) error) ([]filewise.Fact, error) {
	facts, err := try(ctx, settings)
	if err == nil || filewise.CodeOf(err) == filewise.CodeUsage {
		return facts, err
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if ctx.Err() != nil {
			return nil, err
		}
		without := maps.Clone(settings)
		delete(without, name)
		if _, still := try(ctx, without); still == nil {
			return nil, blamed(name, err)
		}
	}
	return nil, err
}
