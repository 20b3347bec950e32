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

// Address is where an external server is and who asks. It has no secret but
// Password and Secrets, which are never stored.
type Address struct {
	Scheme string `json:"scheme"` // as given: "postgres", "mariadb", …
	// Host is a name or address, or the directory or path of a Unix socket. Empty means the driver's default.
	Host string `json:"host"`
	Port int    `json:"port,omitempty"` // 0: the engine's usual one
	User string `json:"user,omitempty"`
	// Path holds what stands behind the host: a database, an Oracle service, a SQL Server instance.
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
