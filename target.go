package filewise

// Mode is the origin of a target's server.
type Mode string

// The modes of a target.
const (
	Embedded Mode = "embedded" // the engine runs inside Filewise
	Managed  Mode = "managed"  // a server that Filewise starts, for itself alone
	External Mode = "external" // an existing server, by URL
)

// Volume is a directory on some storage where files may be placed.
type Volume struct {
	Name string `json:"name"`
	Dir  string `json:"dir"`
}

// Durability states what a commit waits for.
type Durability string

// Durabilities, strongest first.
const (
	DurabilityFull   Durability = "full"   // every commit is synced to the storage
	DurabilityNormal Durability = "normal" // synced at checkpoints; a power cut may lose the last commits
	DurabilityOff    Durability = "off"    // never synced while measuring
)

// Target is one server to experiment on, with the scratch directories that it
// may write to. Volumes are in the order in which files are placed on them.
type Target struct {
	Engine string `json:"engine"`
	Mode   Mode   `json:"mode"`
	// Address is where an external server is.
	Address *Address `json:"address,omitempty"`
	// Database is the user's own, whose backups are measured. Empty means databases are made.
	Database string `json:"database,omitempty"`
	// Part are the only tables of Database (on SQL Server filegroups, on Oracle tablespaces) that are backed up, so
	// that settings are compared at less cost. Nil means all of it. A backup of a part is never restored.
	Part []string `json:"part,omitempty"`
	// BackupsThere: the server writes these backups itself.
	BackupsThere bool `json:"backups_there,omitempty"`
	// Volumes of an external server are directories as *it* sees them, or what its
	// engine has instead; an empty Dir is the server's own default place. Where a Database is
	// backed up they are directories of this machine, unless BackupsThere.
	Volumes    []Volume   `json:"volumes"`
	Durability Durability `json:"durability"`
	// Settings are the user's own server settings (--set key=value).
	Settings map[string]string `json:"settings,omitempty"`
	// Memory holds what a managed server may use, the system's cache of its files included, in bytes. 0 means not
	// limited.
	Memory int64 `json:"memory_bytes,omitempty"`
	// Cores are the processors that a managed server is bound to. 0 means all.
	Cores int `json:"cores,omitempty"`
	// Allowed are the consequences that the user accepts, by Finding.Consent.
	Allowed []string `json:"allowed,omitempty"`
	// ServerBin is the directory of a managed server's binaries. Empty means search.
	ServerBin string `json:"server_bin,omitempty"`
	// OnStart notes a server process that was just started, so that a later start of Filewise ends it should this one
	// be killed. Nil means not noted.
	OnStart func(pid int) error `json:"-"`
	// OnLoad is the same for a server that is only loaded, whose memory is not limited. Nil means OnStart is.
	OnLoad func(pid int) error `json:"-"`
}

// Starts returns what notes a server process that was just started, to be loaded or to be measured.
func (t Target) Starts(loading bool) func(pid int) error {
	if loading && t.OnLoad != nil {
		return t.OnLoad
	}
	return t.OnStart
}

// Elsewhere reports whether volumes are places of a server, and not of this machine.
func (t Target) Elsewhere() bool { return t.Mode == External && (t.Database == "" || t.BackupsThere) }

// VolumesHere are the volumes that are directories of this machine.
func (t Target) VolumesHere() []Volume {
	if t.Elsewhere() {
		return nil
	}
	return t.Volumes
}

// Cache returns how much of what a server's own cache would have it gets: a quarter of its memory at most, in bytes.
func (t Target) Cache(wanted int64) int64 {
	if t.Memory == 0 {
		return wanted
	}
	return min(wanted, t.Memory/4)
}

// Fact is one line in a report about a server or a machine.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ValueOf is the value of the fact of that name, or absent if there is none.
func ValueOf(facts []Fact, name, absent string) string {
	for _, f := range facts {
		if f.Name == name {
			return f.Value
		}
	}
	return absent
}
