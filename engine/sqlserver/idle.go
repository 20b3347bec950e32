package sqlserver

import (
	"database/sql"
	"sync"
)

// mostIdle sets how many connections of workers a server keeps open from one turn to the next, over all builds. Without
// them each turn is as many logins in the server's audit.
const mostIdle = 64

// idle holds connections of workers between turns, each in a pool of its own: the driver has the server reset the
// session at its next use, which ends its transactions, locks, options and temporary tables.
type idle struct {
	mu    sync.Mutex
	pools map[*build]map[int]*sql.DB // by worker
	n     int
}

// take returns the connection that a worker of the build had, or nil.
func (i *idle) take(b *build, worker int) *sql.DB {
	i.mu.Lock()
	defer i.mu.Unlock()
	pool := i.pools[b][worker]
	if pool != nil {
		delete(i.pools[b], worker)
		i.n--
	}
	return pool
}

// keep keeps it for the next turn, or reports false if there are enough.
func (i *idle) keep(b *build, worker int, pool *sql.DB) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.n >= mostIdle || i.pools[b][worker] != nil {
		return false
	}
	if i.pools == nil {
		i.pools = map[*build]map[int]*sql.DB{}
	}
	if i.pools[b] == nil {
		i.pools[b] = map[int]*sql.DB{}
	}
	i.pools[b][worker] = pool
	i.n++
	return true
}

// end closes the connections of a build, whose database is to be left.
func (i *idle) end(b *build) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, pool := range i.pools[b] {
		_ = pool.Close()
	}
	i.n -= len(i.pools[b])
	delete(i.pools, b)
}
