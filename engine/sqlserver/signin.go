// This file covers how to connect to SQL Server: addresses, TLS and the ways to sign in.

package sqlserver

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"
	_ "github.com/microsoft/go-mssqldb/integratedauth/krb5" // registers itself
	"github.com/microsoft/go-mssqldb/msdsn"

	"filewise"
)

// accessToken is the secret option that signs in to Microsoft Entra.
const accessToken = "accessToken"

// The driver's names for ways to sign in, and its options for Kerberos.
const (
	authenticator = "authenticator"
	byKerberos    = "krb5"
	byWindows     = "winsspi"
	byNTLM        = "ntlm"
	krbCache      = "krb5-credcachefile"
)

// signIn sets the way to sign in: as SQL Server's own user, as a Windows user (DOMAIN\name), by Kerberos, or with a
// token. Without a user it is the account that runs Filewise.
func signIn(c *msdsn.Config, a filewise.Address) error {
	way := c.Parameters[authenticator]
	switch {
	case way != "" && way != byKerberos && way != byNTLM && (way != byWindows || runtime.GOOS != "windows"):
		return loginUsage("use krb5, ntlm, or on Windows winsspi", "option authenticator=%s is unknown here", way)
	case tokenOf(a) != "":
		if a.User != "" || way != "" {
			return loginUsage("leave the user out", "an access token signs in by itself")
		}
		return nil
	case way == byNTLM && a.User == "":
		return loginUsage(`name the user: sqlserver://DOMAIN%%5Cname@HOST`, "NTLM signs in a user with a password")
	case way == "" && a.User == "" && runtime.GOOS == "windows":
		c.Parameters[authenticator] = byWindows
	case way == "" && a.User == "":
		c.Parameters[authenticator] = byKerberos
	}
	if c.Parameters[authenticator] == byKerberos && a.User == "" && c.Parameters[krbCache] == "" {
		c.Parameters[krbCache] = ticketCache()
	}
	return nil
}

// ticketCache returns the path where kinit stores the user's tickets.
func ticketCache() string {
	usual := filepath.Join(os.TempDir(), fmt.Sprintf("krb5cc_%d", os.Getuid()))
	return strings.TrimPrefix(cmp.Or(os.Getenv("KRB5CCNAME"), usual), "FILE:")
}

func tokenOf(a filewise.Address) filewise.Secret {
	for name, value := range a.Secrets {
		if strings.EqualFold(name, accessToken) {
			return value
		}
	}
	return ""
}

// connector returns a connector for a configuration of the address.
func connector(a filewise.Address, c msdsn.Config) *mssql.Connector {
	token := tokenOf(a)
	if token != "" {
		signed, err := mssql.NewSecurityTokenConnector(c, func(context.Context) (string, error) { return token.Reveal(), nil })
		if err == nil { // it fails only without a function
			return signed
		}
	}
	return mssql.NewConnectorConfig(c)
}
