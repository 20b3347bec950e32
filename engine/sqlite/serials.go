package sqlite

import "sync"

// serials keep the file names of builds apart that stand side by side: instances
// of one layout, or layouts whose names make the same file name.
type serials struct {
	mu    sync.Mutex
	taken map[string]map[int]bool
}

// take gives a build the lowest free number of its name, from 1.
func (n *serials) take(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.taken == nil {
		n.taken = map[string]map[int]bool{}
	}
	if n.taken[name] == nil {
		n.taken[name] = map[int]bool{}
	}
	i := 1
	for n.taken[name][i] {
		i++
	}
	n.taken[name][i] = true
	return i
}

// release frees a number once the build's files are gone.
func (n *serials) release(name string, number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.taken[name], number)
}
