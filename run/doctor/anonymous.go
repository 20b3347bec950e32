package doctor

import (
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"filewise"
)

// publicNames lists names that reveal nothing.
var publicNames = []string{"", ".", "/", "localhost", "127.0.0.1", "::1", "filewise", "root", "postgres", "sa", "system"}

// anonymous removes secrets from the report. It also removes host and user, except in the remedies, which users must be
// able to execute.
func (d *Diagnosis) anonymous(t filewise.Target, hide func(string) string) {
	if t.Address == nil {
		return
	}
	d.hosts = append(d.hosts, t.Address.Host)
	if t.Address.User != t.Engine {
		d.users = append(d.users, t.Address.User)
	}
	d.Server = slices.DeleteFunc(d.Server, func(f filewise.Fact) bool {
		if f.Name == "hostname" {
			d.hosts = append(d.hosts, f.Value) // findings may contain it
		}
		return f.Name == "hostname"
	})
	d.each(hide)
	d.eachButRemedies(d.withoutNames)
}

// Anonymous removes hosts, users and paths in home directories from the whole report, including remedies.
func (d *Diagnosis) Anonymous() {
	if host, err := os.Hostname(); err == nil {
		first, _, _ := strings.Cut(host, ".")
		d.hosts = append(d.hosts, host, first)
	}
	var homes []string
	if me, err := user.Current(); err == nil {
		d.users, homes = append(d.users, me.Username), append(homes, me.HomeDir)
	}
	if home, err := os.UserHomeDir(); err == nil {
		d.users, homes = append(d.users, filepath.Base(home)), append(homes, home)
	}
	d.users = append(d.users, os.Getenv("SUDO_USER"))
	d.each(func(s string) string {
		for _, home := range homes {
			if len(home) > 1 {
				s = regexp.MustCompile(regexp.QuoteMeta(home)+`\b`).ReplaceAllString(s, "~")
			}
		}
		s = someHome.ReplaceAllString(s, "${1}USER")
		s = someURL.ReplaceAllString(s, "${1}HOST")
		return d.withoutNames(someAddress.ReplaceAllStringFunc(s, withoutAddress))
	})
}

var (
	someHome    = regexp.MustCompile(`((?:/home|/Users|\\Users)[/\\])[^/\\\s:]+`)
	someURL     = regexp.MustCompile(`(\b[a-z][a-z0-9+.-]*://)[^/?\s]+`)
	someAddress = regexp.MustCompile(`[0-9A-Fa-f]*(?:[:.][0-9A-Fa-f]*){2,}`)
)

// withoutAddress hides the address of a host. A version of five numbers is not an address.
func withoutAddress(text string) string {
	end := strings.TrimRight(text, ".:")
	a, err := netip.ParseAddr(end)
	if err != nil {
		var with netip.AddrPort
		with, err = netip.ParseAddrPort(end)
		a = with.Addr()
	}
	if err == nil && !a.IsLoopback() && !a.IsUnspecified() {
		return "ADDRESS" + text[len(end):]
	}
	return text
}

// withoutNames removes the names of hosts and users from a text.
func (d *Diagnosis) withoutNames(s string) string {
	for i, name := range slices.Concat(d.hosts, d.users) {
		as := "HOST"
		if i >= len(d.hosts) {
			as = "USER"
		}
		if !slices.Contains(publicNames, name) && !strings.HasPrefix(name, "/") {
			s = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllString(s, as)
		}
	}
	return s
}

// each applies a function to every text of the report.
func (d *Diagnosis) each(change func(string) string) {
	d.eachButRemedies(change)
	for _, list := range d.lists() {
		for i := range list {
			list[i].Remedy = change(list[i].Remedy)
		}
	}
}

func (d *Diagnosis) eachButRemedies(change func(string) string) {
	for _, list := range d.lists() {
		for i := range list {
			list[i].Detail = change(list[i].Detail)
		}
	}
	for i := range d.Server {
		d.Server[i].Value = change(d.Server[i].Value)
	}
	for c, why := range d.Offers {
		d.Offers[c] = change(why)
	}
}

func (d *Diagnosis) lists() [][]filewise.Finding {
	return [][]filewise.Finding{d.Machine, d.Findings, d.SelfCheck, d.Notifications}
}
