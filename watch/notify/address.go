package notify

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/nearest"
)

// Address is a receiver of messages, and the way to reach it.
type Address struct {
	kind    kind
	url     *url.URL // of an HTTP service, as it is called
	mail    mailbox
	shown   string
	secrets []filewise.Secret
}

// kind is the way to reach a receiver.
type kind string

const (
	mailKind kind = "mail"
	slack    kind = "slack"
	teams    kind = "teams"
	ntfy     kind = "ntfy"
	webhook  kind = "webhook"
)

// schemes maps the schemes of addresses to the way, and to the scheme that is called.
var schemes = map[string]struct {
	kind kind
	by   string
}{
	"smtp": {mailKind, "smtp"}, "smtps": {mailKind, "smtps"},
	"http": {"", "http"}, "https": {"", "https"},
	"slack": {slack, "https"}, "slack+https": {slack, "https"}, "slack+http": {slack, "http"},
	"teams": {teams, "https"}, "teams+https": {teams, "https"}, "teams+http": {teams, "http"},
	"ntfy": {ntfy, "https"}, "ntfy+https": {ntfy, "https"}, "ntfy+http": {ntfy, "http"},
	"webhook": {webhook, "https"}, "webhook+https": {webhook, "https"}, "webhook+http": {webhook, "http"},
}

// form lists the forms of an address, for errors.
const form = "give smtp://USER:PASSWORD@HOST:PORT/?from=ME&to=YOU, the https:// URL of a webhook, or Slack's, Teams' or ntfy's as " +
	"slack://, teams:// or ntfy://"

// Parse reads a URL:
//
//	smtp://ada:secret@mail.example:587/?from=filewise@example.org&to=ada@example.org,bob@example.org
//	smtps://…                                      TLS from the first byte
//	slack://hooks.slack.com/services/T0/B0/XXX     what Slack shows, with slack for https
//	teams://….logic.azure.com/workflows/…?sig=…    a webhook of Teams' Workflows
//	ntfy://ntfy.sh/TOPIC
//	https://example.org/hook                       a webhook that gets JSON
//
// If Slack, Teams and ntfy.sh are recognized by their host, https:// will do; SCHEME+http calls a service without
// TLS. Errors have CodeUsage and show nothing of the URL except its scheme.
func Parse(text string) (Address, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return Address{}, wrong(form, "it is not a URL")
	}
	scheme = strings.ToLower(scheme)
	way, ok := schemes[scheme]
	if !ok {
		return Address{}, wrong(form, "its scheme is unknown; the nearest: %s", strings.Join(known(scheme), ", "))
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return Address{}, wrong(form+"; write a space as %20", "it holds a space or a control character")
	}
	u, err := url.Parse(way.by + "://" + rest) // whose errors show the URL
	switch {
	case err != nil:
		return Address{}, wrong("in a user name, password or option write : / ? # @ % & as %3A %2F %3F %23 %40 %25 %26",
			"it cannot be read as one")
	case u.Hostname() == "":
		return Address{}, wrong(form, "it has no host")
	case u.Fragment != "":
		return Address{}, wrong("write # as %23", "it has a fragment (#)")
	}
	if way.kind == mailKind {
		return parseMail(u)
	}
	return parseService(way.kind, scheme, u)
}

// known returns the scheme that was probably meant, or otherwise all schemes.
func known(given string) []string {
	all := []string{"smtp", "smtps", "https", "http", "slack", "teams", "ntfy"}
	if n := nearest.Name(given, all); n != "" && len(given) < 16 {
		return []string{n}
	}
	return all
}

// wrong returns the error for a refused URL. Its arguments must not contain secrets of the URL.
func wrong(remedy, format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "the URL of --notify cannot be understood: %s", fmt.Sprintf(format, args...))
}

// parseService parses the URL of a service that is called by HTTP.
func parseService(k kind, scheme string, u *url.URL) (Address, error) {
	if k == "" {
		k, scheme = kindOf(u.Hostname()), u.Scheme
	}
	path := strings.Trim(u.Path, "/")
	switch {
	case k == slack && (path == "" || u.User != nil):
		return Address{}, wrong("copy the URL of the incoming webhook as Slack shows it, such as slack://hooks.slack.com/services/T…/B…/…",
			"it is not one of Slack's webhooks")
	case k == teams && path == "":
		return Address{}, wrong("copy the URL of the workflow as Teams shows it, with teams:// for https://", "it is not one of Teams' webhooks")
	case k == ntfy && (path == "" || strings.Contains(path, "/")):
		return Address{}, wrong("give ntfy://HOST/TOPIC", "ntfy has one topic behind the host")
	}
	a := Address{kind: k, url: u}
	if k != webhook && !strings.Contains(scheme, "+") && scheme != string(k) {
		scheme = string(k)
	}
	a.shown = scheme + "://" + u.Host
	if path != "" || u.RawQuery != "" {
		a.shown += "/" + filewise.Secret("x").String()
	}
	a.secrets = serviceSecrets(u)
	return a, nil
}

// kindOf returns the service that a plain http:// or https:// URL stands for, from its host.
func kindOf(host string) kind {
	host = strings.ToLower(host)
	switch {
	case host == "hooks.slack.com":
		return slack
	case host == "ntfy.sh":
		return ntfy
	case slices.ContainsFunc([]string{".logic.azure.com", ".powerplatform.com", ".webhook.office.com"},
		func(s string) bool { return strings.HasSuffix(host, s) }):
		return teams
	}
	return webhook
}

// part is the least length of a part of a path that counts as a secret by itself. Shorter parts are words.
const part = 12

// serviceSecrets returns the secrets in a service's URL: the password, and path and query, whole and in parts.
func serviceSecrets(u *url.URL) []filewise.Secret {
	var out []filewise.Secret
	add := func(s string, least int) {
		if len(s) >= least {
			out = append(out, filewise.Secret(s))
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		add(password, 3)
		add(url.QueryEscape(password), 3)
	}
	add(strings.TrimPrefix(u.RequestURI(), "/"), 6)
	add(strings.Trim(u.Path, "/"), 6)
	for p := range strings.SplitSeq(u.Path, "/") {
		add(p, part)
	}
	for _, values := range u.Query() {
		for _, v := range values {
			add(v, part)
			add(url.QueryEscape(v), part)
		}
	}
	return out
}

// SecretsIn returns the secrets in a text that may be an address, for masking output. If the text has an address's
// scheme but cannot be parsed, everything after the scheme is secret.
func SecretsIn(text string) []filewise.Secret {
	scheme, rest, ok := strings.Cut(text, "://")
	if _, known := schemes[strings.ToLower(scheme)]; !ok || !known {
		return nil
	}
	a, err := Parse(text)
	if err != nil {
		return []filewise.Secret{filewise.Secret(rest)}
	}
	return a.secrets
}

// String returns the address without its secrets.
func (a Address) String() string { return a.shown }

// Secrets returns the parts that only the address's owner may see.
func (a Address) Secrets() []filewise.Secret { return slices.Clone(a.secrets) }

// Mail reports whether the address is a mailbox, which gets reports.
func (a Address) Mail() bool { return a.kind == mailKind }
