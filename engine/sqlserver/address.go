package sqlserver

import (
	"crypto/tls"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/microsoft/go-mssqldb/msdsn"

	"filewise"
	"filewise/engine/internal/external"
)

// loginApp is the prefix of the program name of all of Filewise's sessions. It distinguishes others' activity.
const loginApp = "filewise"

// loginOptions describes the options of a URL, by the driver's names (msdsn). TLS depends on several options at once:
// see setTLS.
var loginOptions = external.Options[msdsn.Config]{
	Driver: "SQL Server's driver", Fold: strings.ToLower, Secret: map[string]bool{accessToken: true},
	Known: map[string]func(*msdsn.Config, string) error{
		accessToken:                  nil,
		authenticator:                loginParameter(authenticator),
		"krb5-configfile":            loginParameter("krb5-configfile"),
		"krb5-keytabfile":            loginParameter("krb5-keytabfile"),
		krbCache:                     loginParameter(krbCache),
		"krb5-realm":                 loginParameter("krb5-realm"),
		"krb5-dnslookupkdc":          loginParameter("krb5-dnslookupkdc"),
		"krb5-udppreferencelimit":    loginParameter("krb5-udppreferencelimit"),
		msdsn.Database:               func(c *msdsn.Config, v string) error { c.Database = v; return nil },
		msdsn.Encrypt:                nil,
		msdsn.TrustServerCertificate: nil,
		msdsn.Certificate:            nil,
		msdsn.ServerCertificate:      nil,
		msdsn.HostNameInCertificate:  nil,
		msdsn.TLSMin:                 nil,
		"trusted_connection":         trusted,
		"integrated security":        trusted,
		msdsn.EpaEnabled:             func(c *msdsn.Config, v string) error { return external.Truth(&c.EpaEnabled, v) },
		msdsn.MultiSubnetFailover:    func(c *msdsn.Config, v string) error { return external.Truth(&c.MultiSubnetFailover, v) },
		msdsn.NoTraceID:              func(c *msdsn.Config, v string) error { return external.Truth(&c.NoTraceID, v) },
		msdsn.ServerSpn:              func(c *msdsn.Config, v string) error { c.ServerSPN = v; return nil },
		msdsn.WorkstationID:          func(c *msdsn.Config, v string) error { c.Workstation = v; return nil },
		msdsn.KeepAlive:              func(c *msdsn.Config, v string) error { return external.Seconds(&c.KeepAlive, v) },
		msdsn.DialTimeout:            func(c *msdsn.Config, v string) error { return external.Seconds(&c.DialTimeout, v) },
		msdsn.PacketSize: func(c *msdsn.Config, v string) error {
			n, err := strconv.ParseUint(v, 10, 16)
			if err != nil || n < leastPacket || n > 32767 { // TDS 2.2.3.1.3
				return errors.New("it is 4096 to 32767 bytes")
			}
			c.PacketSize = uint16(n)
			return nil
		},
	},
	Unwanted: map[string]string{
		msdsn.AppName:            "Filewise names its sessions itself, and recognises them by that name",
		msdsn.ApplicationIntent:  "Filewise writes, a read-only replica cannot be measured",
		msdsn.FailoverPartner:    "a failover while measuring would compare two servers",
		msdsn.FailOverPort:       "a failover while measuring would compare two servers",
		msdsn.FailoverPartnerSpn: "a failover while measuring would compare two servers",
		msdsn.LogParam:           "the driver's log shows parameters of statements",
		msdsn.UserID:             "give the user before the @: sqlserver://USER@HOST",
		msdsn.Server:             "give the server behind the @: sqlserver://USER@HOST",
		msdsn.Port:               "give the port behind the server: HOST:1433",
		msdsn.ConnectionTimeout:  "it would end long statements; dial timeout is for connecting",
		msdsn.DisableRetry:       "Filewise itself decides what is tried again",
		msdsn.Protocol:           "only TCP is used",
		msdsn.Pipe:               "only TCP is used",
		"columnencryption":       "no column of Filewise's is encrypted",
		msdsn.GuidConversion:     "no column of Filewise's is a GUID",
		msdsn.Timezone:           "no column of Filewise's is a time",
	},
}

// trusted accepts an option that other drivers need. Without a user, the account that runs Filewise is signed in.
func trusted(_ *msdsn.Config, v string) error {
	var yes bool
	switch {
	case strings.EqualFold(v, "sspi"):
		return nil
	case external.Truth(&yes, v) != nil || !yes:
		return errors.New("it is yes; else give a user, sqlserver://USER@HOST")
	}
	return nil
}

// leastPacket is the server's default packet size. TDS allows 512 bytes, with which the driver's TLS handshake fails.
const leastPacket = 4096

// loginParameter returns a setter for an option that the driver reads by name.
func loginParameter(name string) func(*msdsn.Config, string) error {
	return func(c *msdsn.Config, v string) error { c.Parameters[name] = v; return nil }
}

// checkOptions refuses options that the driver does not read.
func checkOptions(a filewise.Address) error { return loginOptions.Check(a) }

// loginConfig returns the driver's configuration for an address. Errors have CodeUsage.
func loginConfig(a filewise.Address) (msdsn.Config, error) {
	c := msdsn.Config{
		Host: a.Host, Port: uint64(a.Port), Instance: a.Path, User: a.User, Password: a.Password.Reveal(),
		Database: "master", AppName: loginApp, Workstation: hostName(), DisableRetry: true,
		Protocols: []string{"tcp"}, ProtocolParameters: map[string]any{}, Parameters: map[string]string{},
		KeepAlive: 30 * time.Second, DialTimeout: 15 * time.Second, MultiSubnetFailover: true,
		BrowserMessage: msdsn.BrowserAllInstances,
	}
	switch {
	case a.Host == "":
		c.Host = "localhost"
	case a.Host[0] == '/' || a.Host[0] == '@':
		return c, loginUsage("name the server: sqlserver://USER@HOST", "SQL Server has no Unix sockets")
	}
	given, err := loginOptions.Apply(&c, a)
	if err == nil {
		err = signIn(&c, a)
	}
	if err != nil {
		return c, err
	}
	return c, setTLS(&c, given)
}

// setTLS follows the driver's rules (msdsn.parseTLS, which is not exported). Without encrypt only the login is
// encrypted, and any certificate is accepted.
func setTLS(c *msdsn.Config, given map[string]string) error {
	encrypt, encrypted := given[msdsn.Encrypt]
	switch strings.ToLower(encrypt) {
	case "mandatory", "yes", "1", "t", "true":
		c.Encryption = msdsn.EncryptionRequired
	case "strict":
		c.Encryption = msdsn.EncryptionStrict
	case "disable":
		c.Encryption = msdsn.EncryptionDisabled
	case "optional", "no", "0", "f", "false", "":
		c.Encryption = msdsn.EncryptionOff
	default:
		return loginUsage("use mandatory, strict, optional or disable", "option encrypt=%s is unknown", encrypt)
	}
	trust := !encrypted
	if v, ok := given[msdsn.TrustServerCertificate]; ok {
		if err := external.Truth(&trust, v); err != nil {
			return loginUsage("use true or false", "option TrustServerCertificate=%s: %w", v, err)
		}
	}
	if c.Encryption == msdsn.EncryptionStrict {
		trust = false
	}
	c.TrustServerCertificate = trust
	inCertificate, provided := given[msdsn.HostNameInCertificate]
	server, certificate := given[msdsn.ServerCertificate], given[msdsn.Certificate]
	switch {
	case server != "" && (certificate != "" || provided):
		return loginUsage("leave one out", "serverCertificate names the very certificate of the server: certificate and "+
			"hostNameInCertificate cannot be given too")
	case c.Encryption == msdsn.EncryptionDisabled:
		return nil
	}
	least := given[msdsn.TLSMin]
	if least != "" && msdsn.TLSVersionFromString(least) == 0 {
		return loginUsage("use 1.2 or 1.3; 1.0 and 1.1 are for old servers", "option tlsmin=%s is unknown", least)
	}
	if c.HostInCertificateProvided = provided; !provided {
		inCertificate = c.Host
	}
	var err error
	if c.TLSConfig, err = msdsn.SetupTLS(certificate, server, trust, inCertificate, least); err != nil {
		return loginUsage("name a readable file that ends in .pem or .der", "TLS: %w", err)
	}
	if c.Encryption == msdsn.EncryptionStrict {
		c.TLSConfig.MinVersion = max(c.TLSConfig.MinVersion, tls.VersionTLS12)
	}
	return nil
}

// loginUsage returns an error about the user's input.
func loginUsage(remedy, format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, format, args...)
}

// hostName returns this host's name, or "" if it is not known.
func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return host
}
