package sqlserver

import (
	"fmt"
	"sync"

	"filewise/internal/marker"
)

// stays holds the names of backups that stay on the server, by layout. A layout's builds take turns at these names, so
// that one set of files stays for each layout and not for each turn.
type stays struct {
	mu   sync.Mutex
	free map[string][]*staying
}

// staying is the name of a backup that stays.
type staying struct {
	name    string
	written bool // a backup has begun to write its files
}

// take returns a name that no living build of the layout uses.
func (s *stays) take(layout string) *staying {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.free[layout]
	if len(free) == 0 {
		return &staying{name: marker.NewName() + "_backup_1"}
	}
	s.free[layout] = free[:len(free)-1]
	return free[len(free)-1]
}

// give returns a name for the layout's next build to use.
func (s *stays) give(layout string, name *staying) {
	if name == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == nil {
		s.free = map[string][]*staying{}
	}
	s.free[layout] = append(s.free[layout], name)
}

// next returns the name for the next backup's files, and whether an earlier backup of this run has used it.
func (k *backuper) next() (name string, again bool) {
	if k.removes || k.of.discard {
		k.number++
		return fmt.Sprintf("%s_backup_%d", k.of.prefix, k.number), false
	}
	if k.stay == nil {
		k.stay = k.server.stays.take(k.of.layout)
	}
	again, k.stay.written = k.stay.written, true
	return k.stay.name, again
}

// leave lets another build of the layout use the name of the backuper's files.
func (k *backuper) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.server.stays.give(k.of.layout, k.stay)
	k.stay = nil
}
