package external

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/internal/nearest"
)

// config is the driver's configuration for an address: a struct, never a text
// that would hold the password. Session variables are set on every connection,
// so that what is measured does not depend on the server's defaults.
func (d *Dialect) config(a filewise.Address) (*mysql.Config, error) {
	if !slices.Contains(d.Schemes, a.Scheme) {
		return nil, filewise.Errorf(filewise.CodeUsage, "use --target "+d.Schemes[0]+"://…", "the scheme of a target of %s is %s, not %q", d.Name, strings.Join(d.Schemes, " or "), a.Scheme)
	}
	if path := strings.Trim(a.Path, "/"); path != "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "leave /"+path+" out of the URL",
			"Filewise works in databases of its own, and in no database that is there already: %q", path)
	}
	if a.User == "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "use --target "+d.Schemes[0]+"://USER@HOST", "the target names no user")
	}
	for name := range a.Secrets {
		return nil, filewise.Errorf(filewise.CodeUsage, "leave it out", "option %q is not one of %s's driver", name, d.Name)
	}
	c := mysql.NewConfig()
	c.User, c.Passwd = a.User, a.Password.Reveal()
	c.Logger = &mysql.NopLogger{} // its errors come back as errors
	c.InterpolateParams = true
	c.DialFunc = innodb.Dialing(new(net.Dialer).DialContext)
	c.ConnectionAttributes = "program_name:filewise"
	c.Params = maps.Clone(d.Session)
	if err := network(c, a, d.Port); err != nil {
		return nil, err
	}
	o := options{Config: c, given: a.Options}
	for _, name := range slices.Sorted(maps.Keys(a.Options)) {
		if err := o.set(name, a.Options[name]); err != nil {
			return nil, err
		}
	}
	if err := o.secure(); err != nil {
		return nil, err
	}
	return c, nil
}

// network sets where the server is: a Unix socket, named as host or by an option,
// or a host and port.
func network(c *mysql.Config, a filewise.Address, port int) error {
	places := map[string]bool{}
	for _, path := range []string{a.Host, a.Options["host"], a.Options["socket"]} {
		if path != "" {
			places[path] = true
		}
	}
	if len(places) > 1 {
		return filewise.Errorf(filewise.CodeUsage, "leave all but one out", "the target is in several places: %s", strings.Join(slices.Sorted(maps.Keys(places)), ", "))
	}
	host := "127.0.0.1" // the driver's own default
	for place := range places {
		host = place
	}
	if host[0] == '/' || host[0] == '@' {
		c.Net, c.Addr = "unix", host
		if a.Port != 0 {
			return filewise.Errorf(filewise.CodeUsage, "leave the port out", "%s is a Unix socket, which has no port", host)
		}
		return nil
	}
	if a.Options["socket"] != "" {
		return filewise.Errorf(filewise.CodeUsage, "give its absolute path", "socket=%s is no absolute path", a.Options["socket"])
	}
	if a.Port != 0 {
		port = a.Port
	}
	c.Net, c.Addr = "tcp", net.JoinHostPort(host, strconv.Itoa(port))
	return nil
}

// options are those of a URL's query on their way into the configuration.
type options struct {
	*mysql.Config
	given map[string]string
}

// decided are the driver's options that Filewise sets itself.
var decided = []string{"allowAllFiles", "charset", "checkConnLiveness", "clientFoundRows", "collation", "columnsWithAlias",
	"interpolateParams", "loc", "multiStatements", "parseTime", "timeTruncate"}

// set sets one option. Names are the driver's own (README of go-sql-driver/mysql,
// “Parameters”); the files of TLS are Filewise's, as the driver takes those from a
// program only.
func (o options) set(name, value string) error {
	switch name {
	case "host", "socket": // network
	case "tls", optionCA, optionCert, optionKey, optionServerName: // secure
	case "allowCleartextPasswords":
		return truth(&o.AllowCleartextPasswords, name, value)
	case "allowFallbackToPlaintext":
		return truth(&o.AllowFallbackToPlaintext, name, value)
	case "allowNativePasswords":
		return truth(&o.AllowNativePasswords, name, value)
	case "allowOldPasswords":
		return truth(&o.AllowOldPasswords, name, value)
	case "rejectReadOnly":
		return truth(&o.RejectReadOnly, name, value)
	case "compress":
		var on bool
		if err := truth(&on, name, value); err != nil {
			return err
		}
		return o.Apply(mysql.EnableCompression(on))
	case "timeout":
		return duration(&o.Timeout, name, value)
	case "readTimeout":
		return duration(&o.ReadTimeout, name, value)
	case "writeTimeout":
		return duration(&o.WriteTimeout, name, value)
	case "maxAllowedPacket":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return badValue(name, value, "a number of bytes")
		}
		o.MaxAllowedPacket = n
	case "connectionAttributes":
		o.ConnectionAttributes += "," + value
	case "serverPubKey":
		return o.publicKey(value)
	default:
		return unknown(name)
	}
	return nil
}

// known are all options that set understands.
var known = []string{"host", "socket", "tls", optionCA, optionCert, optionKey, optionServerName, "allowCleartextPasswords",
	"allowFallbackToPlaintext", "allowNativePasswords", "allowOldPasswords", "rejectReadOnly", "compress", "timeout", "readTimeout",
	"writeTimeout", "maxAllowedPacket", "connectionAttributes", "serverPubKey"}

// unknown refuses an option, and names the one that was probably meant.
func unknown(name string) error {
	if slices.Contains(decided, name) {
		return filewise.Errorf(filewise.CodeUsage, "leave it out", "option %s is Filewise's own to decide", name)
	}
	return filewise.Errorf(filewise.CodeUsage, nearest.Remedy(name, known), "the driver of MySQL and MariaDB has no option %q", name)
}
