package client

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/external"
)

// Port is the default port of both products.
const Port = 3306

// Config returns the driver's configuration for an address. It is a struct and never a text that would contain the
// password. Session variables are set on every connection, so that the result does not depend on the server's defaults.
func Config(p *dialect.Product, a filewise.Address) (*mysql.Config, error) {
	if a.Scheme != p.Name {
		return nil, filewise.Errorf(filewise.CodeUsage, "use --target "+p.Name+"://…", "the scheme of a target of %s is %s, not %q", p.Name,
			p.Name, a.Scheme)
	}
	if path := strings.Trim(a.Path, "/"); path != "" {
		return nil, filewise.Errorf(filewise.CodeUsage,
			"leave /"+path+" out of the URL: inspect looks at the whole server, and backup takes --database "+path,
			"the URL names the database %q, but Filewise measures in separate databases", path)
	}
	if a.User == "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "use --target "+p.Name+"://USER@HOST", "the target names no user")
	}
	c := mysql.NewConfig()
	c.User, c.Passwd = a.User, a.Password.Reveal()
	c.Logger = &mysql.NopLogger{} // errors are returned instead
	c.InterpolateParams = true
	c.ConnectionAttributes = "program_name:filewise"
	c.Params = p.External.Session(p.External.Oldest)
	if err := network(c, a, Port); err != nil {
		return nil, err
	}
	given, err := Options.Apply(c, a)
	if err != nil {
		return nil, err
	}
	if err := secure(c, given); err != nil {
		return nil, err
	}
	if _, err := mysql.NewConnector(c); err != nil {
		return nil, filewise.Errorf(filewise.CodeUsage, "correct the target's options", "%w", err)
	}
	return c, nil
}

// OptionCompress compresses packets, so that only the driver can read their numbers. OptionServerKey allows a server
// without TLS to send the key that encrypts the password. Connector/J uses the same name.
const OptionCompress, OptionServerKey = "compress", "allowPublicKeyRetrieval"

// On reports whether a URL turns an option on.
func On(a filewise.Address, option string) (yes bool) {
	_ = truth(&yes, a.Options[option]) // Config has refused other values
	return yes
}

// network sets the server's place: a Unix socket, given as the host or by an option, or a host and port.
func network(c *mysql.Config, a filewise.Address, port int) error {
	places := map[string]bool{}
	for _, path := range []string{a.Host, a.Options["host"], a.Options["socket"]} {
		if path != "" {
			places[path] = true
		}
	}
	if len(places) > 1 {
		return filewise.Errorf(filewise.CodeUsage, "leave all but one out", "the target is in several places: %s",
			strings.Join(slices.Sorted(maps.Keys(places)), ", "))
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

// Options describes the options of a URL's query. Names are the driver's own (README of go-sql-driver/mysql,
// “Parameters”). The options for TLS files are Filewise's, because the driver accepts those only from a program.
var Options = external.Options[mysql.Config]{
	Driver: "the driver of MySQL and MariaDB", Fold: func(name string) string { return name },
	Known: map[string]func(*mysql.Config, string) error{
		"host": nil, "socket": nil, // network
		"tls": nil, optionCA: nil, optionCert: nil, optionKey: nil, optionServerName: nil, // secure
		"allowCleartextPasswords":  func(c *mysql.Config, v string) error { return truth(&c.AllowCleartextPasswords, v) },
		"allowFallbackToPlaintext": func(c *mysql.Config, v string) error { return truth(&c.AllowFallbackToPlaintext, v) },
		"allowNativePasswords":     func(c *mysql.Config, v string) error { return truth(&c.AllowNativePasswords, v) },
		"allowOldPasswords":        func(c *mysql.Config, v string) error { return truth(&c.AllowOldPasswords, v) },
		"rejectReadOnly":           func(c *mysql.Config, v string) error { return truth(&c.RejectReadOnly, v) },
		OptionCompress: func(c *mysql.Config, v string) error {
			var on bool
			if err := truth(&on, v); err != nil {
				return err
			}
			return c.Apply(mysql.EnableCompression(on))
		},
		"timeout":      func(c *mysql.Config, v string) error { return duration(&c.Timeout, v) },
		"readTimeout":  func(c *mysql.Config, v string) error { return duration(&c.ReadTimeout, v) },
		"writeTimeout": func(c *mysql.Config, v string) error { return duration(&c.WriteTimeout, v) },
		"maxAllowedPacket": func(c *mysql.Config, v string) error {
			n, err := strconv.ParseUint(v, 10, 31)
			if err != nil {
				return fmt.Errorf("%q is not a number of bytes", v)
			}
			c.MaxAllowedPacket = int(n)
			return nil
		},
		"connectionAttributes": func(c *mysql.Config, v string) error { c.ConnectionAttributes += "," + v; return nil },
		"serverPubKey":         publicKey,
		OptionServerKey:        func(_ *mysql.Config, v string) error { return truth(new(bool), v) }, // the dial function
	},
	Unwanted: map[string]string{"allowAllFiles": decided, "charset": decided, "checkConnLiveness": decided, "clientFoundRows": decided,
		"collation": decided, "columnsWithAlias": decided, "interpolateParams": decided, "loc": decided, "multiStatements": decided,
		"parseTime": decided, "timeTruncate": decided},
}

// decided is the reason why the driver's options that Filewise sets itself are refused.
const decided = "Filewise decides it"

// truth reads the values that the driver accepts for true and false.
func truth(to *bool, value string) error {
	if external.Truth(to, value) != nil {
		return fmt.Errorf("%q is not true or false", value)
	}
	return nil
}

func duration(to *time.Duration, value string) (err error) {
	if *to, err = time.ParseDuration(value); err != nil || *to < 0 {
		return fmt.Errorf("%q is not a duration such as 30s", value)
	}
	return nil
}
