package target

import (
	"regexp"
	"slices"
	"strings"

	"filewise"
)

const sqlserver = "sqlserver"

// otherForms parses the forms in which SQL Server's own tools and drivers name a server: HOST\INSTANCE, HOST,PORT,
// tcp:HOST, (local), and connection strings of ADO.NET or JDBC. ok is false if the text is none of these.
func otherForms(text string, schemes []string) (a filewise.Address, ok bool, err error) {
	if !slices.Contains(schemes, sqlserver) {
		return a, false, nil
	}
	a.Scheme = sqlserver
	jdbc, isJDBC := cutFold(text, "jdbc:sqlserver://")
	switch pairs, isPairs := pairsOf(text); {
	case isJDBC:
		server, rest, _ := strings.Cut(jdbc, ";")
		pairs, _ := pairsOf(rest)
		// An IPv6 address is in brackets.
		if colon := strings.LastIndex(server, ":"); colon > strings.LastIndex(server, "]") {
			server = server[:colon] + "," + server[colon+1:]
		}
		if server != "" {
			pairs = append([][2]string{{"server", server}}, pairs...)
		}
		return a, true, setPairs(&a, pairs)
	case isPairs:
		return a, true, setPairs(&a, pairs)
	case serverForm.MatchString(text):
		return a, true, setServer(&a, text)
	}
	return a, false, nil
}

// serverForm matches a server's name that cannot be a file or a word.
var serverForm = regexp.MustCompile(`(?i)^((tcp|np|lpc|admin):.+|\.|\\\\.+|\(local\)(\\.*)?|\(localdb\).*|` +
	`[\pL\pN._-]+(\\[\pL\pN_$#-]+)?(,\d+)|[\pL\pN._-]+\\[\pL\pN_$#-]+)$`)

func setServer(a *filewise.Address, text string) error {
	const tcp = "have TCP/IP enabled in SQL Server Configuration Manager, and give HOST or HOST,PORT"
	if rest, ok := cutFold(text, "tcp:"); ok {
		text = rest
	}
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "(localdb)"):
		return wrong("use an instance of Express or Developer Edition with TCP/IP enabled", "LocalDB takes no connections by TCP")
	case strings.HasPrefix(lower, "np:"), strings.HasPrefix(lower, "lpc:"), strings.HasPrefix(text, `\\`):
		return wrong(tcp, "it names a pipe or shared memory, and only TCP is used")
	case strings.HasPrefix(lower, "admin:"):
		return wrong("leave admin: out", "the administrator's own connection is not for measuring")
	}
	host, port, _ := strings.Cut(text, ",")
	host, a.Path, _ = strings.Cut(strings.TrimSpace(host), `\`)
	if lower := strings.ToLower(host); lower == "(local)" || lower == "." {
		host = "localhost"
	}
	if inner, ok := strings.CutPrefix(host, "["); ok && ipForm.MatchString(strings.TrimSuffix(inner, "]")) {
		host = strings.TrimSuffix(inner, "]")
	}
	if !hostForm.MatchString(host) && !ipForm.MatchString(host) {
		return wrong(tcp, "the server is not a name or address")
	}
	a.Host = host
	return setPort(a, strings.TrimSpace(port))
}

// keywords sets parts of an address from connection strings. Names are as documented for SqlConnectionStringBuilder and
// the JDBC driver, in lower case and without spaces.
var keywords = map[string]func(a *filewise.Address, value string) error{
	"server": setServer, "datasource": setServer, "address": setServer, "addr": setServer, "networkaddress": setServer,
	"servername":   setServer,
	"port":         setPort,
	"portnumber":   setPort,
	"instancename": func(a *filewise.Address, v string) error { a.Path = v; return nil },
	"database":     inOptions("database"), "initialcatalog": inOptions("database"), "databasename": inOptions("database"),
	"userid": setUserID, "uid": setUserID, "user": setUserID, "username": setUserID,
	"password":               setPassword,
	"pwd":                    setPassword,
	"encrypt":                inOptions("encrypt"),
	"trustservercertificate": inOptions("TrustServerCertificate"),
	"hostnameincertificate":  inOptions("hostNameInCertificate"),
	"multisubnetfailover":    inOptions("multisubnetfailover"),
	"applicationintent":      setIntent,
	"networklibrary":         setLibrary, "network": setLibrary, "net": setLibrary,
	"trusted_connection": nil, "integratedsecurity": nil,
}

// harmless lists keywords that change nothing for Filewise.
var harmless = []string{"applicationname", "app", "multipleactiveresultsets", "connecttimeout", "connectiontimeout", "timeout",
	"logintimeout", "pooling", "persistsecurityinfo", "driver", "provider", "maxpoolsize", "minpoolsize", "workstationid", "wsid",
	"packetsize", "currentlanguage", "commandtimeout", "connectretrycount", "connectretryinterval", "enlist", "failoverpartner",
	"loadbalancetimeout", "poolblockingperiod", "typesystemversion", "columnencryptionsetting", "sendstringparametersasunicode",
	"selectmethod", "responsebuffering", "locktimeout", "sockettimeout"}

// setPairs sets the values of a connection string. A trusted connection signs in as the user who runs Filewise.
func setPairs(a *filewise.Address, pairs [][2]string) error {
	trusted := false
	for _, p := range pairs {
		name := strings.ReplaceAll(strings.ToLower(p[0]), " ", "")
		set, known := keywords[name]
		switch {
		case known && set == nil:
			trusted = !slices.Contains([]string{"no", "false", "0"}, strings.ToLower(p[1]))
		case known:
			if err := set(a, p[1]); err != nil {
				return err
			}
		case name == "host" || name == "hostaddr" || name == "dbname":
			return wrong("give a URL instead: postgres://USER@HOST:PORT/DATABASE", "it is a connection string of PostgreSQL")
		case !slices.Contains(harmless, name):
			return wrong("give a URL instead: sqlserver://USER@HOST?OPTION=VALUE (docs/engine-sqlserver.md)",
				"the connection string has a keyword that Filewise does not read")
		}
	}
	switch {
	case a.Host == "":
		return wrong("begin it with Server=HOST", "the connection string names no server")
	case trusted && (a.User != "" || a.Password != ""):
		return wrong("leave the user and the password out, or Trusted_Connection", "it has a user and a trusted connection")
	}
	return checkWhole(a)
}

func setPassword(a *filewise.Address, value string) error {
	a.Password = filewise.Secret(value)
	return nil
}

func setUserID(a *filewise.Address, value string) error { a.User = value; return nil }

func setIntent(_ *filewise.Address, value string) error {
	if strings.EqualFold(value, "ReadOnly") {
		return wrong("leave ApplicationIntent out", "Filewise writes, and a read-only replica cannot be measured")
	}
	return nil
}

// setLibrary takes TCP's library alone: the others are for pipes and shared memory.
func setLibrary(a *filewise.Address, value string) error {
	if strings.EqualFold(value, "dbmssocn") {
		return nil
	}
	return setServer(a, "np:")
}

func inOptions(name string) func(*filewise.Address, string) error {
	return func(a *filewise.Address, value string) error {
		if a.Options == nil {
			a.Options = map[string]string{}
		}
		a.Options[name] = value
		return nil
	}
}

// pairsOf divides a connection string into its pairs NAME=VALUE, whose values may be quoted or in braces. ok is false
// if the text is none.
func pairsOf(text string) (out [][2]string, ok bool) {
	for text = strings.TrimLeft(text, "; \t"); text != ""; text = strings.TrimLeft(text, "; \t") {
		name, rest, found := strings.Cut(text, "=")
		if !found || strings.ContainsAny(name, `;/\:`) {
			return nil, false
		}
		rest = strings.TrimLeft(rest, " ")
		end := map[byte]byte{'"': '"', '\'': '\'', '{': '}'}
		var value string
		if rest != "" && end[rest[0]] != 0 {
			quote := end[rest[0]]
			var b strings.Builder
			i := 1
			for ; i < len(rest); i++ {
				if rest[i] != quote {
					b.WriteByte(rest[i])
				} else if i+1 < len(rest) && rest[i+1] == quote { // a doubled quote is the quote itself
					b.WriteByte(quote)
					i++
				} else {
					break
				}
			}
			if i >= len(rest) {
				return nil, false
			}
			value = b.String()
			if text = strings.TrimLeft(rest[i+1:], " "); text != "" && text[0] != ';' {
				return nil, false
			}
		} else {
			value, text, _ = strings.Cut(rest, ";")
			value = strings.TrimSpace(value)
		}
		out = append(out, [2]string{strings.TrimSpace(name), value})
	}
	return out, len(out) > 0
}

// cutFold is strings.CutPrefix that ignores case.
func cutFold(text, prefix string) (string, bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return text, false
	}
	return text[len(prefix):], true
}
