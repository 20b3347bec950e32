//go:build unix && !linux

package machine

const (
	managedServers = true
	lacks          = "counters of the processors, the storage and other processes, and the eviction of cached pages, need Linux"
)
