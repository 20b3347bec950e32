package machine

const (
	managedServers = false
	lacks          = "managed servers, counters of the processors and the storage, and the eviction of cached pages, need Linux; " +
		"who may rename what is above a volume is not looked at, nor what is mounted in one (docs/windows.md)"
)
