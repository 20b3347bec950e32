package filewisetest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"filewise/internal/process"
)

// Server is a running process that works on files of a scratch directory.
type Server struct {
	ID      process.Identity
	Creates bool // it creates its database's files, and does not answer
	Sockets int  // open sockets
}

// ServersBelow returns the processes that name a scratch directory below dir in their command line, or work in one. It
// trusts none of Filewise's marks and registrations.
func ServersBelow(dir string) []Server {
	var found []Server
	scratch := filepath.Join(dir, "filewise-")
	for _, proc := range glob("/proc/[0-9]*") {
		line, _ := os.ReadFile(filepath.Join(proc, "cmdline")) // the process may just have ended
		cwd, _ := os.Readlink(filepath.Join(proc, "cwd"))
		if !strings.Contains(string(line), scratch) && !strings.HasPrefix(cwd, scratch) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(proc))
		id, err := process.Of(pid)
		if err != nil {
			continue // the process has ended
		}
		s := Server{ID: id, Creates: strings.Contains(string(line), "--bootstrap")}
		for _, fd := range glob(filepath.Join(proc, "fd", "*")) {
			if to, _ := os.Readlink(fd); strings.HasPrefix(to, "socket:") {
				s.Sockets++
			}
		}
		found = append(found, s)
	}
	return found
}

func glob(pattern string) []string {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		panic(err) // the pattern is malformed
	}
	return paths
}

// Tree returns a directory's contents by path: each entry's type, with a hash for files.
func Tree(root string) (map[string]string, error) {
	out := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			out[rel] = fmt.Sprintf("%d bytes %x", len(b), sha256.Sum256(b))
			return err
		}
		out[rel] = d.Type().String()
		return nil
	})
	return out, err
}
