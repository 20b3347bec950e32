package machine

const (
	privateServers = false
	lacks          = "private servers, counters of the processors and the storage, and the eviction of cached pages, need Linux"
)
