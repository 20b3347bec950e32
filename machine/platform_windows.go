package machine

const (
	managedServers = false
	lacks          = "managed servers, counters of the processors and the storage, and the eviction of cached pages, need Linux"
)
