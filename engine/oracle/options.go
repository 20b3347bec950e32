package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sijms/go-ora/v2/configurations"

	"filewise/engine/internal/external"
)

// options describes the options of go-ora 2.9.0, by the driver's names (configurations.ParseConfig).
var options = external.Options[config]{
	Driver: "the Oracle driver", Fold: squeeze,
	Known: map[string]func(*config, string) error{
		"SSL":                          func(c *config, v string) error { return external.Truth(&c.SSL, v) },
		"SSL VERIFY":                   func(c *config, v string) error { return external.Truth(&c.SSLVerify, v) },
		"WALLET":                       nil, // see readWallet
		"WALLET PASSWORD":              nil,
		"CONNSTR":                      func(c *config, v string) error { return c.UpdateDatabaseInfo(v) }, // a whole connect descriptor
		"SID":                          func(c *config, v string) error { c.SID = v; return nil },
		"SERVICE NAME":                 func(c *config, v string) error { c.ServiceName = v; return nil },
		"INSTANCE NAME":                func(c *config, v string) error { c.InstanceName = v; return nil },
		"AUTH TYPE":                    setAuthType,
		"AUTH SERV":                    func(c *config, v string) error { c.AuthService = list(v); return nil },
		"OS USER":                      func(c *config, v string) error { c.OSUserName = v; return nil },
		"OS PASSWORD":                  func(c *config, v string) error { c.ClientInfo.OSPassword = v; return nil },
		"OS PASSWORD HASH":             func(c *config, v string) error { c.ClientInfo.OSPassword = v; return nil },
		"DOMAIN":                       func(c *config, v string) error { c.DomainName = v; return nil },
		"ENCRYPTION":                   func(c *config, v string) error { return setLevel(&c.EncServiceLevel, v) },
		"DATA INTEGRITY":               func(c *config, v string) error { return setLevel(&c.IntServiceLevel, v) },
		"TIMEOUT":                      func(c *config, v string) error { return external.Seconds(&c.Timeout, v) },
		"CONNECTION TIMEOUT":           func(c *config, v string) error { return external.Seconds(&c.ConnectTimeout, v) },
		"ENABLE URGENT DATA TRANSPORT": func(c *config, v string) error { return external.Truth(&c.EnableOOB, v) },
		"PREFETCH_ROWS":                setPrefetch,
		"UNIX SOCKET":                  func(c *config, v string) error { c.UnixAddress = v; return nil },
		"PROXY CLIENT NAME":            func(c *config, v string) error { c.ProxyClientName = v; return nil },
		"LANGUAGE":                     func(c *config, v string) error { c.Language = v; return nil },
		"TERRITORY":                    func(c *config, v string) error { c.Territory = v; return nil },
		"SERVER LOCATION":              func(c *config, v string) error { c.Location = v; return nil },
		"CID":                          func(c *config, v string) error { c.Cid = v; return nil },
	},
	Unwanted: map[string]string{
		"SERVER":          "one server is measured: give its own URL",
		"DBA PRIVILEGE":   "Filewise needs an ordinary account with the rights that `filewise engines` lists",
		"TRACE FILE":      "the driver would write all traffic to a file, the log-on among it",
		"TRACE DIR":       "the driver would write all traffic to a file, the log-on among it",
		"TRACE FOLDER":    "the driver would write all traffic to a file, the log-on among it",
		"TRACE DIRECTORY": "the driver would write all traffic to a file, the log-on among it",
		"OS PASS":         "write it as OS PASSWORD, so that it is kept as a secret",
		"OS HASH":         "write it as OS PASSWORD HASH, so that it is kept as a secret",
		"OS PASSHASH":     "write it as OS PASSWORD HASH, so that it is kept as a secret",
		"PROGRAM":         "Filewise recognises its own sessions by the program's name",
		"LOB FETCH":       "Filewise reads no LOBs",
		"CHARSET":         "what Filewise sends is ASCII",
		"CLIENT CHARSET":  "what Filewise sends is ASCII",
	},
	Synonyms: map[string]string{
		"READ TIMEOUT": "TIMEOUT", "SOCKET TIMEOUT": "TIMEOUT", "CONNECT TIMEOUT": "CONNECTION TIMEOUT",
		"USE_OOB": "ENABLE URGENT DATA TRANSPORT", "ENABLE_OOB": "ENABLE URGENT DATA TRANSPORT",
	},
	Secret: map[string]bool{"WALLET PASSWORD": true, "OS PASSWORD": true, "OS PASSWORD HASH": true},
}

type config = configurations.ConnectionConfig

// squeeze makes names equal that differ only in hyphens and underscores between words: "sslverify", "wallet_password".
func squeeze(name string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToUpper(name))
}

func setPrefetch(c *config, value string) error {
	n, err := strconv.ParseUint(value, 10, 16)
	if err != nil || n == 0 {
		return fmt.Errorf("it is not a number of rows")
	}
	c.PrefetchRows = int(n)
	return nil
}

func setLevel(into *int, value string) error {
	levels := []string{"ACCEPTED", "REJECTED", "REQUESTED", "REQUIRED"}
	n := slices.Index(levels, strings.ToUpper(value))
	if n < 0 {
		return fmt.Errorf("it must be one of %s", strings.Join(levels, ", "))
	}
	*into = n
	return nil
}

func setAuthType(c *config, value string) error {
	types := map[string]configurations.AuthType{
		"NORMAL": configurations.Normal, "OS": configurations.OS, "KERBEROS": configurations.Kerberos, "TCPS": configurations.TCPS,
	}
	t, ok := types[strings.ToUpper(value)]
	if !ok {
		return fmt.Errorf("it must be NORMAL, OS, KERBEROS or TCPS")
	}
	c.AuthType = t
	return nil
}

func list(value string) []string {
	var all []string
	for s := range strings.SplitSeq(value, ",") {
		if s = strings.ToUpper(strings.TrimSpace(s)); s != "" {
			all = append(all, s)
		}
	}
	return all
}
