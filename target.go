package filewise

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Mode is the origin of a target's server.
type Mode string

// The modes of a target.
const (
	Embedded Mode = "embedded" // the engine runs inside Filewise
	Managed  Mode = "managed"  // a server that Filewise starts, for itself alone
	External Mode = "external" // an existing server, by URL
)

// Volume is a directory on some storage for files.
type Volume struct {
	Name string `json:"name"`
	Dir  string `json:"dir"`
}

// Durability is the event that a commit waits for.
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
	// Address is an external server's address.
	Address *Address `json:"address,omitempty"`
	// Database is the user's own, whose backups are measured. Empty means databases are made.
	Database string `json:"database,omitempty"`
	// Part are the only tables of Database (on SQL Server filegroups, on Oracle tablespaces) that are backed up, so
	// that settings are compared at less cost. Nil means all of it. A backup of a part is never restored.
	Part []string `json:"part,omitempty"`
	// BackupsThere: the server writes these backups itself.
	BackupsThere bool `json:"backups_there,omitempty"`
	// Volumes of an external server are directories as *it* sees them, or what its engine has instead; an empty Dir
	// is the server's own default place. If a Database is backed up they are directories of this machine, unless
	// BackupsThere.
	Volumes    []Volume   `json:"volumes"`
	Durability Durability `json:"durability"`
	// Settings are the user's own server settings (--set key=value).
	Settings map[string]string `json:"settings,omitempty"`
	// Memory is the limit of a managed server, the system's cache of its files included, in bytes. 0 means not
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

// Starts returns the function that notes a server process that was just started, to be loaded or to be measured.
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

// Cache returns the part of a server's usual cache that it gets: a quarter of its memory at most, in bytes.
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

// Address holds an external server's address and account. It has no secret except Password and Secrets, which are
// never stored.
type Address struct {
	Scheme string `json:"scheme"` // as given: "postgres", "mariadb", …
	// Host is a name or address, or the directory or path of a Unix socket. Empty means the driver's default.
	Host string `json:"host"`
	Port int    `json:"port,omitempty"` // 0 means the engine's usual one
	User string `json:"user,omitempty"`
	// Path is the part behind the host: a database, an Oracle service, a SQL Server instance.
	Path string `json:"path,omitempty"`
	// Options are the driver's own, TLS among them, from the URL's query.
	Options map[string]string `json:"options,omitempty"`

	Password Secret            `json:"-"`
	Secrets  map[string]Secret `json:"-"` // options that are secret: "sslpassword"
}

// String is the URL without any secret: it may be shown and stored.
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
		if a.Port != 0 { // the number in the name of PostgreSQL's socket
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

// Here reports whether the server is on this host for sure: by a Unix socket or the loopback address.
func (a Address) Here() bool {
	if a.Host == "" || a.Host == "localhost" || a.Host[0] == '/' || a.Host[0] == '@' {
		return true
	}
	ip, err := netip.ParseAddr(a.Host)
	return err == nil && ip.IsLoopback()
}

// Hidden are all secrets of the address, for HideIn.
func (a Address) Hidden() []Secret {
	all := []Secret{a.Password}
	for _, name := range slices.Sorted(maps.Keys(a.Secrets)) {
		all = append(all, a.Secrets[name])
	}
	// A driver that fails to parse a URL shows the password as it was escaped.
	for _, s := range slices.Clone(all) {
		if escaped := url.QueryEscape(string(s)); escaped != string(s) {
			all = append(all, Secret(escaped), Secret(url.PathEscape(string(s))))
		}
	}
	return all
}

// hidden stands for a secret wherever it would be shown.
const hidden = "********"

// Secret is a password or another text that is never shown, stored or logged:
// every way of formatting it gives asterisks. Reveal gives the text.
type Secret string

// Reveal is the secret's text, for the driver and nothing else.
func (s Secret) Reveal() string { return string(s) }

// Format writes asterisks, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// LogValue returns the text for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns the text for JSON and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText refuses: a secret is never read from what was stored.
func (s *Secret) UnmarshalText([]byte) error { *s = ""; return nil }

// Hide returns the text with every secret in it, of at least three bytes,
// replaced by asterisks.
func Hide(text string, secrets ...Secret) string {
	for _, s := range secrets {
		if len(s) >= 3 {
			text = strings.ReplaceAll(text, string(s), hidden)
		}
	}
	return text
}

// HideIn wraps an error, of a driver for instance, so that its text shows no
// secret; errors.Is and errors.As still see the cause.
func HideIn(err error, secrets ...Secret) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); Hide(text, secrets...) != text {
		return &masked{Hide(text, secrets...), err}
	}
	return err
}

type masked struct {
	text  string
	cause error
}

func (m *masked) Error() string { return m.text }
func (m *masked) Unwrap() error { return m.cause }
