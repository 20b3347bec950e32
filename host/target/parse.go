package target

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/nearest"
)

const form = "give it as SCHEME://USER@HOST:PORT/DATABASE?OPTION=VALUE"

// escape is the remedy for a password that looks like another part of the URL.
const escape = "in a user name or password write : / ? # @ % as %3A %2F %3F %23 %40 %25, or give the password by --password-file or " +
	"FILEWISE_PASSWORD"

var schemeForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]{0,19}$`)

// Parse parses a server's URL, whose scheme must be one of schemes. Errors have CodeUsage, and show no part of the URL
// except a scheme.
//
//	postgres://ada@db.example:5433/bench?sslmode=verify-full
//	postgres:///bench?host=/run/postgresql        a Unix socket
//	mysql://ada@[fe80::1%25eth0]:3307/
//	HOST\INSTANCE, HOST,PORT, Server=HOST;Trusted_Connection=yes      as SQL Server's own tools have it
//
// The options host (or socket), port, user and password replace parts that are missing in the URL. Options whose names
// mean secrets go into Secrets.
func Parse(text string, schemes []string) (filewise.Address, error) {
	var a filewise.Address
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || !schemeForm.MatchString(scheme) {
		if other, is, err := otherForms(text, schemes); err != nil {
			return filewise.Address{}, err
		} else if is {
			return other, nil
		}
		if len(text) > 5 && strings.EqualFold(text[:5], "jdbc:") {
			return a, wrong(form+", where jdbc: and what belongs to the driver are left out", "it is a URL of JDBC")
		}
		if text != "" && hostForm.MatchString(text) && slices.Contains(schemes, sqlserver) {
			return a, wrong(form+`; a SQL Server as tcp:HOST, HOST,PORT or HOST\INSTANCE`, "it is not a URL")
		}
		return a, wrong(form, "it is not a URL")
	}
	a.Scheme = strings.ToLower(scheme)
	if !slices.Contains(schemes, a.Scheme) {
		return filewise.Address{}, wrong(nearest.Remedy(a.Scheme, schemes), "the scheme %q is unknown", a.Scheme)
	}
	if strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return filewise.Address{}, wrong(form, "it holds a control character")
	}
	if strings.Contains(rest, "#") {
		return filewise.Address{}, wrong(escape, "it has a fragment (#), which no server has")
	}
	authority, path, query := split(rest)
	// An @ there may follow a password that holds / or ?, whose beginning would be taken for a host. A socket in the
	// abstract namespace is given as host=@name.
	if strings.Contains(path+strings.ReplaceAll(query, "=@", "="), "@") {
		return filewise.Address{}, wrong(escape, "an @ stands behind the first / or ?")
	}
	for _, step := range []func(*filewise.Address) error{
		func(a *filewise.Address) error { return setUser(a, authority) },
		func(a *filewise.Address) error { return setHost(a, authority[strings.LastIndex(authority, "@")+1:]) },
		func(a *filewise.Address) error { return setPath(a, path) },
		func(a *filewise.Address) error { return setOptions(a, query) },
		checkWhole,
	} {
		if err := step(&a); err != nil {
			return filewise.Address{}, err
		}
	}
	return a, nil
}

// wrong returns the error for a URL. Its arguments must hold no part of the URL.
func wrong(remedy, format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "the URL of --target cannot be understood: %s", fmt.Sprintf(format, args...))
}

// split divides the part after :// into authority, path and query.
func split(rest string) (authority, path, query string) {
	rest, query, _ = strings.Cut(rest, "?")
	authority, path, _ = strings.Cut(rest, "/")
	return authority, path, query
}

func setUser(a *filewise.Address, authority string) error {
	at := strings.LastIndex(authority, "@")
	if at < 0 {
		return nil
	}
	user, password, _ := strings.Cut(authority[:at], ":")
	var err error
	if a.User, err = url.PathUnescape(user); err != nil {
		return wrong(escape, "the user name holds a %% that begins no %%XX")
	}
	decoded, err := url.PathUnescape(password)
	if err != nil {
		return wrong(escape, "the password holds a %% that begins no %%XX")
	}
	a.Password = filewise.Secret(decoded)
	return nil
}

// hostForm are the host names and addresses there are; a zone (%eth0) belongs to
// IPv6 only.
var (
	hostForm = regexp.MustCompile(`^[\pL\pN._-]*$`)
	ipForm   = regexp.MustCompile(`^[0-9A-Fa-f:.]+(%[A-Za-z0-9._~-]+)?$`)
)

func setHost(a *filewise.Address, text string) error {
	if host, port, is := strings.Cut(text, ","); is && host != "" && allDigits(port) { // as SQL Server's tools write it
		return wrong("write it behind a colon: HOST:PORT", "the port stands behind a comma")
	}
	if strings.Contains(text, ",") {
		return wrong("give the URL of the one that is to be measured", "it names several servers, and one is measured")
	}
	if strings.Contains(text, ";") { // as JDBC writes it
		return wrong("write them behind a question mark, and the database behind a slash: HOST:PORT/DATABASE?OPTION=VALUE",
			"options stand behind a semicolon")
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		host, after, closed := strings.Cut(inner, "]")
		if !closed {
			return wrong(form, "the address lacks its closing ]")
		}
		if after != "" && after[0] != ':' {
			return wrong(form, "between the address in [ ] and the port is no colon")
		}
		decoded, err := url.PathUnescape(host)
		if err != nil || !ipForm.MatchString(decoded) {
			return wrong("give it as [::1] or [fe80::1%25eth0]", "invalid IPv6 address in [ ]")
		}
		a.Host = decoded
		return setPort(a, strings.TrimPrefix(after, ":"))
	}
	host, port, _ := strings.Cut(text, ":")
	if strings.Contains(port, ":") {
		return wrong("write an IPv6 address in brackets, as [::1]; "+escape, "the host holds several colons")
	}
	decoded, err := url.PathUnescape(host)
	if strings.Contains(decoded, `\`) {
		return wrong("write it behind a slash: sqlserver://USER@HOST/INSTANCE", "an instance stands behind a backslash")
	}
	socket := strings.HasPrefix(decoded, "/")
	if err != nil || !socket && !hostForm.MatchString(decoded) {
		return wrong(escape, "the host is not a name or address")
	}
	a.Host = decoded
	return setPort(a, port)
}

func allDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func setPort(a *filewise.Address, text string) error {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || text[0] == '+' {
		if allDigits(text) {
			return wrong("give the server's port, or leave it out for the usual one", "the port is not a number from 1 to 65535")
		}
		return wrong(escape, "the port is not a number from 1 to 65535")
	}
	if a.Port != 0 && a.Port != int(n) {
		return wrong(form, "it has two ports")
	}
	a.Port = int(n)
	return nil
}

func setPath(a *filewise.Address, path string) (err error) {
	if a.Path, err = url.PathUnescape(path); err != nil {
		return wrong(escape, "the name behind the host holds a %% that begins no %%XX")
	}
	return nil
}

// checkWhole checks what depends on several parts of the address.
func checkWhole(a *filewise.Address) error {
	switch {
	case a.Password != "" && a.User == "":
		return wrong(form, "it has a password and no user")
	case strings.ContainsRune(a.User+a.Host+a.Path+a.Password.Reveal(), 0):
		return wrong(form, "it holds a zero byte")
	}
	return nil
}
