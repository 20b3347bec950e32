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

// Binary describes a program of a server and where to find it.
type Binary struct {
	Names   []string // any of them will do, the preferred one first
	Places  []string // directories to search after PATH; can be patterns
	Package string   // the Debian package that contains it
	Remedy  string   // how to install it if no package contains it
}

// Fetched returns the directory where the scripts in Filewise's source put a server's programs for the user. release
// can be a pattern that matches all releases.
func Fetched(release string) string {
	return filepath.Join(cmp.Or(userdir.Find("XDG_DATA_HOME", ".local", "share"), "/nonexistent"), "servers", release, "bin")
}

// Find returns the path of the binary. It searches bin alone if bin is not empty, else PATH and then the usual places.
// The error has CodePreflight and names what to install.
func (b Binary) Find(bin string) (string, error) {
	return b.FindWhere(bin, func(string) error { return nil })
}

// FindWhere does what Find does for names that several products share: it skips a binary that function is refuses.
// In bin, which the user named, that error is returned. It is also returned if no other binary is found.
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

// remedy returns how to install the binary.
func (b Binary) remedy() string {
	if b.Remedy != "" {
		return b.Remedy
	}
	return "install it: " + machine.Install(b.Package)
}

// candidates returns the binaries on this machine: first those in PATH, then those in the usual places. Of several
// versions there the last comes first.
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
			continue // a malformed pattern; find_test checks each one
		}
		for i := len(dirs) - 1; i >= 0; i-- { // the last version first
			for _, name := range b.Names {
				if path := filepath.Join(dirs[i], name); runnable(path) == nil {
					all = append(all, path)
				}
			}
		}
	}
	return all
}

// findIn searches the directory that the user named, and its bin, sbin and libexec.
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

// TryIt starts the smallest server with a user's settings, and returns the facts that the server reports.
type TryIt func(ctx context.Context, settings map[string]string) ([]filewise.Fact, error)

// Try tests a user's settings before anything is built, so that bad ones fail early. Servers often do not name the
// setting that they refuse ("Invalid page size=5120"). So Try leaves out each in turn to find it, and blamed makes the
// error that names it. If leaving out one setting never helps, the first error is returned.
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
