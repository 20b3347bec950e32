package server

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"filewise"
)

// Handles lets a server that runs as another user reach its directories. Their parents, Filewise's scratch directory
// and the user's own above it, can be closed to that user, and Filewise opens none of them up. Instead the server
// inherits each directory as an open file, and enters through that. So names that a server refuses and long paths do
// not matter. Systems without /proc cannot do this: there paths are left unchanged.
type Handles struct {
	dirs  []string
	files []*os.File
}

// firstInherited is the first descriptor of inherited files. Every process of a server has them.
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

// With returns these handles and more, for a program that works in the directories of two servers. The caller still
// closes both.
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

// Path returns a path in the form that the server can use.
func (h *Handles) Path(path string) string {
	for i, dir := range h.dirs {
		if rest, ok := strings.CutPrefix(path, dir); ok && i < len(h.files) && (rest == "" || rest[0] == '/') {
			return fmt.Sprintf("/proc/self/fd/%d%s", firstInherited+i, rest)
		}
	}
	return path
}

// Enter makes a process start in the first directory and inherit all of them. Its working directory identifies it as
// Filewise's while its environment cannot be read.
func (h *Handles) Enter(s *Spec) {
	s.Files, s.Dir = h.files, h.dirs[0]
	if len(h.files) > 0 { // until it inherits them, the process sees them under Filewise's descriptor numbers
		s.Dir = fmt.Sprintf("/proc/self/fd/%d", h.files[0].Fd())
	}
}
