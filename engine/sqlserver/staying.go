package sqlserver

import (
	"fmt"
	"sync"

	"filewise/internal/mark"
)

// stays holds the names of backups that stay on the server, by layout. The builds of a layout take turns at them, so
// that one set of files is left for each layout, not one for each turn.
type stays struct {
	mu   sync.Mutex
	free map[string][]*staying
}

// staying is one such name.
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
		return &staying{name: mark.NewName() + "_backup_1"}
	}
	s.free[layout] = free[:len(free)-1]
	return free[len(free)-1]
}

// give lets the next build of the layout have a name.
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

// next returns the name of the next backup's files, and whether a backup of this run has them already.
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

// leave gives the name back.
func (k *backuper) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.server.stays.give(k.of.layout, k.stay)
	k.stay = nil
}
