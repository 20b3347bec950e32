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
	Creates bool // its database's files, and will not answer
	Sockets int  // open
}

// ServersBelow finds the processes that name a scratch directory below dir in
// their command line, or work in one. It trusts no mark or registration of
// Filewise's.
func ServersBelow(dir string) []Server {
	var found []Server
	scratch := filepath.Join(dir, "filewise-")
	for _, proc := range glob("/proc/[0-9]*") {
		line, _ := os.ReadFile(filepath.Join(proc, "cmdline")) // it may just have ended
		cwd, _ := os.Readlink(filepath.Join(proc, "cwd"))
		if !strings.Contains(string(line), scratch) && !strings.HasPrefix(cwd, scratch) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(proc))
		id, err := process.Of(pid)
		if err != nil {
			continue // it has ended
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
		panic(err) // a malformed pattern
	}
	return paths
}

// Tree is a directory's content: what each path is, with a hash of files.
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
