package sqlserver

import (
	"database/sql"
	"sync"
)

// mostIdle limits how many workers' connections stay open between turns, over all builds. Without them each turn adds
// as many logins to the server's audit.
const mostIdle = 64

// idle keeps workers' connections between turns, each in its own pool. At its next use the driver has the server reset
// the session, which ends its transactions, locks, options and temporary tables.
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

// keep stores a connection for the next turn. It returns false if there are enough.
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

// end closes a build's connections, because they must leave its database.
func (i *idle) end(b *build) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, pool := range i.pools[b] {
		_ = pool.Close()
	}
	i.n -= len(i.pools[b])
	delete(i.pools, b)
}
