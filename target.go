package filewise

import (
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Mode is the way in which a target's server comes about.
type Mode string

// The modes of a target.
const (
	Embedded Mode = "embedded" // the engine runs inside Filewise
	Managed  Mode = "managed"  // a server that Filewise starts, for itself alone
	External Mode = "external" // an existing server, by URL
)

// Volume is a directory, on some storage, for files.
type Volume struct {
	Name string `json:"name"`
	Dir  string `json:"dir"`
}

// Durability determines what a commit waits for.
type Durability string

// The durabilities, strongest first.
const (
	DurabilityFull   Durability = "full"   // every commit is synced to the storage
	DurabilityNormal Durability = "normal" // synced at checkpoints; a power cut may lose the last commits
	DurabilityOff    Durability = "off"    // never synced while measuring
)

// Target is a server to experiment on, with the scratch directories that the experiment may write to. Files are placed
// on the volumes in order.
type Target struct {
	Engine string `json:"engine"`
	Mode   Mode   `json:"mode"`
	// Address is the address of an external server.
	Address *Address `json:"address,omitempty"`
	// Database names the user's database whose backups are measured. If empty, databases are made.
	Database string `json:"database,omitempty"`
	// Part lists the only tables of Database to back up (filegroups on SQL Server, tablespaces on Oracle), so that
	// comparing settings costs less. If nil, all of Database is backed up. A backup of a part is never restored.
	Part []string `json:"part,omitempty"`
	// BackupsThere is set if the server itself writes the backups.
	BackupsThere bool `json:"backups_there,omitempty"`
	// Volumes of an external server are directories as the server sees them, or what its engine has instead. An empty Dir
	// is the server's default place. If a Database is backed up, they are directories of this machine unless BackupsThere
	// is set.
	Volumes    []Volume   `json:"volumes"`
	Durability Durability `json:"durability"`
	// Settings holds the user's own server settings (--set key=value).
	Settings map[string]string `json:"settings,omitempty"`
	// Memory limits a managed server's memory, in bytes, the system's cache of its files included. 0 means no limit.
	Memory int64 `json:"memory_bytes,omitempty"`
	// Cores is the number of processors that a managed server is bound to. 0 means all.
	Cores int `json:"cores,omitempty"`
	// Allowed lists the effects that the user accepts, by Finding.Consent.
	Allowed []string `json:"allowed,omitempty"`
	// ServerBin is the directory of a managed server's binaries. If empty, they are searched for.
	ServerBin string `json:"server_bin,omitempty"`
	// OnStart records a server process that was just started, so that a later start of Filewise ends the process if this
	// Filewise is killed. If nil, nothing is recorded.
	OnStart func(pid int) error `json:"-"`
	// OnLoad is OnStart for a server that is only loaded, whose memory is not limited. If nil, OnStart is called.
	OnLoad func(pid int) error `json:"-"`
}

// Starts returns the function that records a server process that was just started, for loading or for measuring.
func (t Target) Starts(loading bool) func(pid int) error {
	if loading && t.OnLoad != nil {
		return t.OnLoad
	}
	return t.OnStart
}

// Elsewhere reports whether volumes are places on a server rather than on this machine.
func (t Target) Elsewhere() bool { return t.Mode == External && (t.Database == "" || t.BackupsThere) }

// VolumesHere returns the volumes that are directories of this machine.
func (t Target) VolumesHere() []Volume {
	if t.Elsewhere() {
		return nil
	}
	return t.Volumes
}

// Cache returns the server's cache size: its usual size, but at most a quarter of its memory, in bytes.
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

// ValueOf returns the value of the fact with this name, or absent if there is none.
func ValueOf(facts []Fact, name, absent string) string {
	for _, f := range facts {
		if f.Name == name {
			return f.Value
		}
	}
	return absent
}

// Address holds an external server's address and account. Its only secrets are Password and Secrets, which are never
// stored.
type Address struct {
	Scheme string `json:"scheme"` // as given: "postgres", "mariadb", …
	// Host is a name or address, or the directory or path of a Unix socket. If empty, the driver's default is used.
	Host string `json:"host"`
	Port int    `json:"port,omitempty"` // 0 means the engine's usual one
	User string `json:"user,omitempty"`
	// Path is the part after the host: a database, an Oracle service, or a SQL Server instance.
	Path string `json:"path,omitempty"`
	// Options holds the driver's own options, such as for TLS, from the URL's query.
	Options map[string]string `json:"options,omitempty"`

	Password Secret            `json:"-"`
	Secrets  map[string]Secret `json:"-"` // options that are secret: "sslpassword"
}

// String returns the URL without any secret: it may be shown and stored.
func (a Address) String() string {
	u := url.URL{Scheme: a.Scheme, Host: a.Host, Path: a.Path}
	if a.User != "" {
		u.User = url.User(a.User)
	}
	query := url.Values{}
	for name, value := range a.Options {
		query.Set(name, value)
	}
	if len(a.Host) > 0 && (a.Host[0] == '/' || a.Host[0] == '@') { // a Unix socket
		u.Host = ""
		query.Set("host", a.Host)
		if a.Port != 0 { // the number in the name of a PostgreSQL socket
			query.Set("port", strconv.Itoa(a.Port))
		}
	} else if a.Port != 0 {
		u.Host = net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
	} else if strings.Contains(a.Host, ":") {
		u.Host = "[" + a.Host + "]"
	}
	if u.Path != "" || u.Host == "" {
		u.Path = "/" + u.Path
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// Here reports whether the server is certainly on this host: by a Unix socket or the loopback address.
func (a Address) Here() bool {
	if a.Host == "" || a.Host == "localhost" || a.Host[0] == '/' || a.Host[0] == '@' {
		return true
	}
	ip, err := netip.ParseAddr(a.Host)
	return err == nil && ip.IsLoopback()
}

// Hidden returns all secrets of the address, for HideIn.
func (a Address) Hidden() []Secret {
	all := []Secret{a.Password}
	for _, name := range slices.Sorted(maps.Keys(a.Secrets)) {
		all = append(all, a.Secrets[name])
	}
	// A driver that fails to parse a URL shows the password in its escaped form.
	for _, s := range slices.Clone(all) {
		if escaped := url.QueryEscape(string(s)); escaped != string(s) {
			all = append(all, Secret(escaped), Secret(url.PathEscape(string(s))))
		}
	}
	return all
}
