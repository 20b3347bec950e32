package server

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"filewise"
)

// Handles describes how a server that runs as another user reaches its directories. Their
// parents, Filewise's scratch directory and the user's own ones above it, can be closed
// to that user, and none is opened for it: it inherits each directory as an open file,
// and goes in through that. Nor do names that a server refuses or the length of paths
// matter then. Systems without /proc have no open files: paths stay as they are.
type Handles struct {
	dirs  []string
	files []*os.File
}

// firstInherited is the descriptor that inherited files begin at. Every process of a
// server has them.
const firstInherited = 3

// OpenHandles opens the directories.
func OpenHandles(dirs []string) (*Handles, error) {
	h := &Handles{dirs: dirs}
	if runtime.GOOS != "linux" {
		return h, nil
	}
	for _, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			h.Close()
			return nil, filewise.Errorf(filewise.CodePreflight, "", "directory of the server: %w", err)
		}
		h.files = append(h.files, f)
	}
	return h, nil
}

// With returns the handles and further ones, for a program that works in the directories of
// two servers. Each is closed by itself.
func (h *Handles) With(more *Handles) *Handles {
	return &Handles{dirs: slices.Concat(h.dirs, more.dirs), files: slices.Concat(h.files, more.files)}
}

// Dirs returns the directories.
func (h *Handles) Dirs() []string { return h.dirs }

// Close closes the open directories.
func (h *Handles) Close() {
	for _, f := range h.files {
		f.Close()
	}
	h.files = nil
}

// Path returns a path as the server can use it.
func (h *Handles) Path(path string) string {
	for i, dir := range h.dirs {
		if rest, ok := strings.CutPrefix(path, dir); ok && i < len(h.files) && (rest == "" || rest[0] == '/') {
			return fmt.Sprintf("/proc/self/fd/%d%s", firstInherited+i, rest)
		}
	}
	return path
}

// Enter has a process begin in the first directory, if it is known as Filewise's
// while its environment cannot be read, and inherit all of them.
func (h *Handles) Enter(s *Spec) {
	s.Files, s.Dir = h.files, h.dirs[0]
	if len(h.files) > 0 { // before it inherits them, it has them under Filewise's numbers
		s.Dir = fmt.Sprintf("/proc/self/fd/%d", h.files[0].Fd())
	}
}
