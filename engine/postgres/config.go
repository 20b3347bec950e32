package postgres

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/installed"
)

// durabilities maps each durability to fsync and synchronous_commit, which decide what a commit on a managed server
// waits for:
//
//	full    its WAL is synced to the storage (synchronous_commit=on)
//	normal  nothing: the WAL writer syncs it up to 0.6 s later (synchronous_commit=off),
//	        and a crash may lose the last commits, never consistency
//	off     nothing is ever synced while measuring (fsync=off)
//
// full_page_writes stays on, so that all three write the same.
var durabilities = map[filewise.Durability][2]string{
	filewise.DurabilityFull:   {"on", "on"},
	"":                        {"on", "on"},
	filewise.DurabilityNormal: {"on", "off"},
	filewise.DurabilityOff:    {"off", "off"},
}

func checkDurability(t filewise.Target) error {
	if _, ok := durabilities[t.Durability]; !ok {
		return filewise.Errorf(filewise.CodeUsage, "durability is full, normal or off", "durability %q is unknown", t.Durability)
	}
	if t.Mode == filewise.External && t.Durability == filewise.DurabilityOff {
		return refuse("use --durability normal, with which no commit waits, or full",
			"durability off on an external server: fsync is a setting of the whole server, which Filewise never changes")
	}
	return nil
}

// workloadSettings adds the settings that the workload needs in every session, the same in all layouts. Settings that
// the user gave for the server take precedence.
func (d *design) workloadSettings(all map[string]string) map[string]string {
	own := map[string]string{}
	switch {
	case d.program.Table().Temporary:
		own = d.tempSettings()
	case d.keepsPlans():
		own[planCache] = keptPlans
	}
	for name, value := range own {
		if _, given := d.target.Settings[name]; !given {
			all[name] = value
		}
	}
	return all
}

// WAL and buffers scale with the data. On a database of a few MiB, the server's defaults (1 GB, 128 MB) would keep all
// writes to data files out of the measured time, so that only the WAL would be measured. With so little WAL, several
// checkpoints fall into a trial of the usual size.
const (
	leastWAL, mostWAL   = 32 * mib, 1024 * mib // at least two segments of 16 MiB
	turnWAL             = 160 * mib
	leastPool, mostPool = 16 * mib, 128 * mib
	walPart, poolPart   = 4, 8 // one part in so many of the data's size
)

func (d *design) walBytes() int64 {
	if d.checkpointsByTurns() { // pages anywhere are written to it whole after each checkpoint: that before a turn is enough
		return turnWAL
	}
	return min(max(d.layout.ServerBytes()/walPart, leastWAL), mostWAL) / mib * mib
}

// walRoom returns the disk space for the WAL. Unless a checkpoint comes before each turn, it is twice walBytes, because
// a checkpoint can be late.
func (d *design) walRoom() int64 {
	if d.checkpointsByTurns() {
		return d.walBytes()
	}
	return 2 * d.walBytes()
}

func (d *design) checkpointsByTurns() bool { return d.program.Preload > 0 }

// poolBytes returns the size of the buffers. It is at most a sixth of a limited memory. Sessions need the rest, and so does
// the system's cache, through which files are read.
func (d *design) poolBytes() int64 {
	pool := min(max(d.layout.ServerBytes()/poolPart, leastPool), mostPool)
	if d.target.Memory > 0 {
		pool = min(pool, d.target.Memory/6)
	}
	return pool / mib * mib
}

// buffers returns shared_buffers. For scan it is as small compared with the data as in the experiment that scan
// repeats.
func (d *design) buffers() string {
	if d.program.Queries() {
		return fmt.Sprintf("%dkB", d.scanPool()/1024)
	}
	return fmt.Sprintf("%dMB", d.poolBytes()/mib)
}

// ownConnections counts the connections that Filewise opens in addition to the workload's, and the connections that
// PostgreSQL reserves for superusers.
const ownConnections = client.ControlConnections + 1 + 3 + 9

// fsync reports whether the managed server syncs what a checkpoint writes.
func (d *design) fsync() bool {
	value := durabilities[d.target.Durability][0]
	if set, ok := d.target.Settings["fsync"]; ok {
		value = strings.ToLower(set)
	}
	return value == "on"
}

// settings returns the managed server's settings in the order of its configuration file. The user's settings come last
// and take precedence.
func (d *design) settings(version int) []filewise.Fact {
	durability := durabilities[d.target.Durability]
	s := []filewise.Fact{
		{Name: "fsync", Value: durability[0]},
		{Name: "synchronous_commit", Value: durability[1]},
		{Name: "shared_buffers", Value: d.buffers()},
		{Name: "max_wal_size", Value: fmt.Sprintf("%dMB", d.walBytes()/mib)},
		{Name: "min_wal_size", Value: fmt.Sprintf("%dMB", leastWAL/mib)},
		{Name: "max_connections", Value: strconv.Itoa(max(d.connections()+ownConnections, 50))},
		{Name: "max_locks_per_transaction", Value: strconv.Itoa(max(64, 4*len(d.leaves(true))/50))},
		// A server that crashed stays down, and the trial fails with the reason.
		{Name: "restart_after_crash", Value: "off"},
		// Other types would leave a segment in /dev/shm if Filewise is killed.
		{Name: "dynamic_shared_memory_type", Value: "mmap"},
		{Name: "lc_messages", Value: "C"},
		{Name: "log_checkpoints", Value: "off"},
		{Name: "statement_timeout", Value: "0"},
		// track_io_timing measures how long I/O takes. Reading the clock twice costs about 50 ns per request.
		{Name: "track_io_timing", Value: "on"},
	}
	if version >= 140000 {
		s = append(s, filewise.Fact{Name: "track_wal_io_timing", Value: "on"})
	}
	if d.program.BacksUp() && !d.program.Dumps() { // a backup needs this WAL until it has copied it
		s = append(s, filewise.Fact{Name: "wal_keep_size", Value: fmt.Sprintf("%dMB", d.walBytes()/mib)})
	}
	if version >= 140000 { // a call whose client was killed ends within that time
		s = append(s, filewise.Fact{Name: "client_connection_check_interval", Value: "500ms"})
	}
	for _, name := range slices.Sorted(maps.Keys(d.target.Settings)) {
		s = append(s, filewise.Fact{Name: name, Value: d.target.Settings[name]})
	}
	return s
}

// closed lists the settings that keep other users out of the server. They are on its command line, and so take
// precedence.
var closed = []filewise.Fact{
	{Name: "listen_addresses", Value: ""},
	{Name: "unix_socket_directories", Value: "."}, // the data directory, which is the server's working directory
	{Name: "port", Value: "5432"},                 // only part of the socket's name
	{Name: "logging_collector", Value: "off"},
	{Name: "log_destination", Value: "stderr"},
	{Name: "ssl", Value: "off"},
}

// owned lists settings that Filewise decides in addition to closed.
var owned = []string{"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file", "unix_socket_group",
	"dynamic_shared_memory_type", "restart_after_crash", "include", "include_dir", "include_if_exists"}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// checkSettings refuses settings that would open the server to others, or that cannot be written to the file.
func (d *design) checkSettings() error {
	for _, name := range slices.Sorted(maps.Keys(d.target.Settings)) {
		value := d.target.Settings[name]
		if !settingName.MatchString(name) || strings.ContainsAny(value, "\n\r\x00") {
			return filewise.Errorf(filewise.CodeUsage, "give --set name=value", "--set %s=%s is no setting of PostgreSQL", name, value)
		}
		low := strings.ToLower(name)
		if slices.Contains(owned, low) || slices.ContainsFunc(closed, func(f filewise.Fact) bool { return f.Name == low }) {
			return refuse("leave it out", "--set %s: Filewise decides that itself, so that no one else reaches its server", name)
		}
		need := d.connections() + ownConnections
		if n, err := strconv.Atoi(value); low == "max_connections" && err == nil && n < need {
			return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("leave it out, or give %d or more", need),
				"--set %s=%s is too few: %d connections work, and Filewise and PostgreSQL need %d", name, value, d.connections(), ownConnections)
		}
	}
	return nil
}

// file returns the text of the server's own configuration file.
func (d *design) file(version int) string {
	var b strings.Builder
	b.WriteString("# Made by Filewise for a managed server.\n")
	for _, s := range d.settings(version) {
		fmt.Fprintf(&b, "%s = '%s'\n", s.Name, strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s.Value))
	}
	return b.String()
}

// command returns the server's command line. While the server is loaded, it has further arguments.
func (d *design) command(in installed.Server, dataDir string, loading bool) []string {
	command := []string{in.Path(), "-D", dataDir}
	for _, s := range closed {
		command = append(command, "-c", s.Name+"="+s.Value)
	}
	if loading {
		command = append(command, d.loadArguments()...)
	}
	return command
}
