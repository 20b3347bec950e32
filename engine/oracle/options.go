package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sijms/go-ora/v2/configurations"

	"filewise"
	"filewise/internal/nearest"
)

// option is one option of go-ora 2.9.0 and how it is set in the driver's config.
// The names are the driver's (configurations.ParseConfig), case ignored.
type option struct {
	name string
	set  func(c *configurations.ConnectionConfig, value string) error
}

var options = []option{
	{"SSL", func(c *config, v string) error { return setBool(&c.SSL, v) }},
	{"SSL VERIFY", func(c *config, v string) error { return setBool(&c.SSLVerify, v) }},
	{"WALLET", func(*config, string) error { return nil }}, // see readWallet
	{"WALLET PASSWORD", func(*config, string) error { return nil }},
	{"CONNSTR", func(c *config, v string) error { return c.UpdateDatabaseInfo(v) }}, // a whole descriptor
	{"SID", func(c *config, v string) error { c.SID = v; return nil }},
	{"SERVICE NAME", func(c *config, v string) error { c.ServiceName = v; return nil }},
	{"INSTANCE NAME", func(c *config, v string) error { c.InstanceName = v; return nil }},
	{"AUTH TYPE", setAuthType},
	{"AUTH SERV", func(c *config, v string) error { c.AuthService = list(v); return nil }},
	{"OS USER", func(c *config, v string) error { c.OSUserName = v; return nil }},
	{"OS PASSWORD", func(c *config, v string) error { c.ClientInfo.OSPassword = v; return nil }},
	{"OS PASSWORD HASH", func(c *config, v string) error { c.ClientInfo.OSPassword = v; return nil }},
	{"DOMAIN", func(c *config, v string) error { c.DomainName = v; return nil }},
	{"ENCRYPTION", func(c *config, v string) error { return setLevel(&c.EncServiceLevel, v) }},
	{"DATA INTEGRITY", func(c *config, v string) error { return setLevel(&c.IntServiceLevel, v) }},
	{"TIMEOUT", func(c *config, v string) error { return setSeconds(&c.Timeout, v) }},
	{"CONNECTION TIMEOUT", func(c *config, v string) error { return setSeconds(&c.ConnectTimeout, v) }},
	{"ENABLE URGENT DATA TRANSPORT", func(c *config, v string) error { return setBool(&c.EnableOOB, v) }},
	{"PREFETCH_ROWS", setPrefetch},
	{"UNIX SOCKET", func(c *config, v string) error { c.UnixAddress = v; return nil }},
	{"PROXY CLIENT NAME", func(c *config, v string) error { c.ProxyClientName = v; return nil }},
	{"LANGUAGE", func(c *config, v string) error { c.Language = v; return nil }},
	{"TERRITORY", func(c *config, v string) error { c.Territory = v; return nil }},
	{"SERVER LOCATION", func(c *config, v string) error { c.Location = v; return nil }},
	{"CID", func(c *config, v string) error { c.Cid = v; return nil }},
}

// synonyms are other names that the driver has for an option.
var synonyms = map[string]string{
	"READ TIMEOUT": "TIMEOUT", "SOCKET TIMEOUT": "TIMEOUT", "CONNECT TIMEOUT": "CONNECTION TIMEOUT",
	"USE_OOB": "ENABLE URGENT DATA TRANSPORT", "ENABLE_OOB": "ENABLE URGENT DATA TRANSPORT",
}

// notHere are options of the driver that would break what Filewise promises.
var notHere = map[string]string{
	"SERVER":          "one server is measured: give its own URL",
	"DBA PRIVILEGE":   "Filewise needs an ordinary account with the rights that `filewise engines` lists",
	"TRACE FILE":      "the driver would write all traffic to a file, the log-on among it",
	"TRACE DIR":       "the driver would write all traffic to a file, the log-on among it",
	"TRACE FOLDER":    "the driver would write all traffic to a file, the log-on among it",
	"TRACE DIRECTORY": "the driver would write all traffic to a file, the log-on among it",
	"OS PASS":         "write it as OS PASSWORD, so that it is kept as a secret",
	"OS HASH":         "write it as OS PASSWORD HASH, so that it is kept as a secret",
	"OS PASSHASH":     "write it as OS PASSWORD HASH, so that it is kept as a secret",
	"PROGRAM":         "Filewise knows its own sessions by the program's name",
	"LOB FETCH":       "Filewise reads no LOBs",
	"CHARSET":         "what Filewise sends is ASCII",
	"CLIENT CHARSET":  "what Filewise sends is ASCII",
}

type config = configurations.ConnectionConfig

// secretOptions may only come as secrets, so that they are not stored.
var secretOptions = map[string]bool{"WALLET PASSWORD": true, "OS PASSWORD": true, "OS PASSWORD HASH": true}

// canonical is an option's name as the driver writes it; words may be divided by
// a hyphen, an underscore or nothing at all: "sslverify", "wallet_password".
func canonical(name string) string {
	plain := squeeze(name)
	for _, o := range options {
		if squeeze(o.name) == plain {
			return o.name
		}
	}
	for other, known := range synonyms {
		if squeeze(other) == plain {
			return known
		}
	}
	for other := range notHere {
		if squeeze(other) == plain {
			return other
		}
	}
	return strings.ToUpper(strings.TrimSpace(name))
}

func squeeze(name string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToUpper(name))
}

// apply sets the address's options. Errors have CodeUsage and show no value.
func apply(c *config, a filewise.Address) error {
	given := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(a.Options)) {
		full := canonical(name)
		if secretOptions[full] {
			return filewise.Errorf(filewise.CodeUsage, "write its name as the driver does: "+full, "option %q is a secret and was not given as one", name)
		}
		if _, twice := given[full]; twice {
			return filewise.Errorf(filewise.CodeUsage, "give it once", "option %s is given twice", full)
		}
		given[full] = a.Options[name]
	}
	for _, name := range slices.Sorted(maps.Keys(a.Secrets)) {
		full := canonical(name)
		if _, twice := given[full]; twice {
			return filewise.Errorf(filewise.CodeUsage, "give it once", "option %s is given twice", full)
		}
		given[full] = a.Secrets[name].Reveal()
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if why, ok := notHere[name]; ok {
			return filewise.Errorf(filewise.CodeUsage, "leave it out: "+why, "option %s of the driver cannot be used here", name)
		}
		o := slices.IndexFunc(options, func(o option) bool { return o.name == name })
		if o < 0 {
			return filewise.Errorf(filewise.CodeUsage, nearest.Remedy(name, optionNames()), "the Oracle driver has no option %q", strings.ToLower(name))
		}
		if err := options[o].set(c, given[name]); err != nil {
			return filewise.Errorf(filewise.CodeUsage, "correct it", "option %s: %w", name, err)
		}
	}
	return nil
}

func optionNames() []string {
	var names []string
	for _, o := range options {
		names = append(names, o.name)
	}
	return names
}

// setBool is stricter than the driver, for which a mistyped "SSL VERIFY=ture" is off.
func setBool(into *bool, value string) error {
	switch strings.ToUpper(value) {
	case "TRUE", "ENABLE", "ENABLED", "ON", "YES", "1":
		*into = true
	case "FALSE", "DISABLE", "DISABLED", "OFF", "NO", "0":
		*into = false
	default:
		return fmt.Errorf("it is neither true nor false")
	}
	return nil
}

func setSeconds(into *time.Duration, value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return fmt.Errorf("it is not a number of seconds")
	}
	*into = time.Duration(n) * time.Second
	return nil
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
		return fmt.Errorf("it is none of %s", strings.Join(levels, ", "))
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
		return fmt.Errorf("it is none of NORMAL, OS, KERBEROS, TCPS")
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
