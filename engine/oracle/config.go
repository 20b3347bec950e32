package oracle

import (
	"net"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	go_ora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/advanced_nego"
	"github.com/sijms/go-ora/v2/configurations"

	"filewise"
)

// program is the name of Filewise's sessions in v$session.
const program = "filewise"

// configOf returns the driver's configuration for an address. Errors have CodeUsage and show no secret.
func configOf(a *filewise.Address) (*config, error) {
	if a == nil {
		return nil, filewise.Errorf(filewise.CodeUsage, "give it with --target oracle://USER@HOST:1521/SERVICE",
			"Oracle is only measured on an existing server, and none is named")
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "", "name of this machine: %w", err)
	}
	c := &config{
		ClientInfo: configurations.ClientInfo{
			ProgramPath: program, ProgramName: program, HostName: host, PID: os.Getpid(),
			DriverName: "OracleClientGo", Territory: "AMERICA", Language: "AMERICAN",
		},
		DatabaseInfo: configurations.DatabaseInfo{
			UserID: a.User, Password: a.Password.Reveal(), ServiceName: strings.Trim(a.Path, "/"),
		},
		SessionInfo: configurations.SessionInfo{
			ConnectTimeout: time.Minute, TransportDataUnitSize: 0xFFFF, SessionDataUnitSize: 0xFFFF,
			Protocol: "tcp", SSLVerify: true,
		},
		PrefetchRows: 500,
	}
	if a.Host != "" {
		c.Servers = []configurations.ServerAddr{{Addr: a.Host, Port: portOf(a)}}
	}
	given, err := options.Apply(c, *a)
	if err == nil {
		err = complete(c, a, given)
	}
	if err != nil {
		return nil, filewise.HideIn(err, a.Hidden()...)
	}
	return c, nil
}

func portOf(a *filewise.Address) int {
	if a.Port != 0 {
		return a.Port
	}
	return port
}

// complete derives some settings from others, which the driver does only for URLs.
func complete(c *config, a *filewise.Address, given map[string]string) error {
	if len(c.Servers) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "oracle://USER@HOST:1521/SERVICE", "the URL names no host")
	}
	if c.ServiceName == "" && c.SID == "" {
		return filewise.Errorf(filewise.CodeUsage, "name the service of the pluggable database: oracle://USER@HOST:1521/SERVICE",
			"the URL names no service")
	}
	if err := readWallet(c, a, given["WALLET"], given["WALLET PASSWORD"]); err != nil {
		return err
	}
	switch {
	case strings.EqualFold(c.UserID, "SYS"):
		return filewise.Errorf(filewise.CodeUsage, "create an ordinary account with the rights that `filewise engines` lists",
			"Filewise does not work as SYS, which may do everything")
	case c.UserID == "" && c.AuthType == configurations.Normal:
		return filewise.Errorf(filewise.CodeUsage, "oracle://USER@HOST:1521/SERVICE, or an AUTH TYPE that needs no user", "the URL names no user")
	case c.Password == "" && c.AuthType == configurations.Normal:
		return filewise.Errorf(filewise.CodeUsage, "give it with --password-file or FILEWISE_PASSWORD", "there is no password for user %s",
			c.UserID)
	}
	if c.SSL {
		c.Protocol = "tcps"
	}
	switch c.AuthType {
	case configurations.Kerberos:
		c.AuthService = append(c.AuthService, "KERBEROS5")
	case configurations.TCPS:
		c.AuthService = append(c.AuthService, "TCPS")
	}
	if c.ClientInfo.OSPassword != "" {
		go_ora.SetNTSAuth(&advanced_nego.NTSAuthHash{})
	}
	if c.OSUserName == "" {
		if me, err := user.Current(); err == nil {
			domain, name, ok := strings.Cut(me.Username, `\`)
			if !ok {
				domain, name = c.DomainName, me.Username
			}
			c.OSUserName, c.DomainName = name, domain
		}
	}
	return nil
}

// readWallet reads a wallet: certificates, and the user's password if none is given. The driver opens a wallet with a
// password only if a URL names it, so the driver is given a URL with nothing else in it.
func readWallet(c *config, a *filewise.Address, dir, password string) error {
	if dir == "" {
		if password != "" {
			return filewise.Errorf(filewise.CodeUsage, "add WALLET=DIRECTORY", "there is a password for a wallet, and no wallet")
		}
		return nil
	}
	service := c.ServiceName
	if service == "" {
		service = c.SID
	}
	server := c.Servers[0]
	u := url.URL{Scheme: "oracle", Host: net.JoinHostPort(server.Addr, strconv.Itoa(server.Port)), Path: "/" + service,
		RawQuery: url.Values{"WALLET": {dir}, "WALLET PASSWORD": {password}}.Encode()}
	if c.UserID != "" && c.Password == "" && c.AuthType == configurations.Normal {
		u.User = url.User(c.UserID) // in this case the wallet must have it
	}
	read, err := go_ora.ParseConfig(u.String())
	if err != nil {
		return filewise.Errorf(filewise.CodeUsage, "WALLET is a directory with cwallet.sso, or with ewallet.p12 and its WALLET PASSWORD",
			"the wallet in %s: %w", dir, filewise.HideIn(err, a.Hidden()...))
	}
	c.Wallet = read.Wallet
	if c.UserID != "" && c.Password == "" && c.AuthType == configurations.Normal {
		c.UserID, c.Password = read.UserID, read.DatabaseInfo.Password
	}
	return nil
}
