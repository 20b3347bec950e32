package doctor

import (
	"regexp"
	"slices"
	"strings"

	"filewise"
)

// publicNames tell nobody anything.
var publicNames = []string{"", "localhost", "127.0.0.1", "::1", "filewise", "root", "postgres", "sa", "system"}

// anonymous takes secrets out of what the report shows, and host and user out of
// all but the remedies, which are to be executed as they are.
func (d *Diagnosis) anonymous(t filewise.Target, hide func(string) string) {
	if t.Address == nil {
		return
	}
	d.clean = func(s string) string {
		for _, x := range []struct{ name, as string }{{t.Address.Host, "HOST"}, {t.Address.User, "USER"}} {
			if !slices.Contains(publicNames, x.name) && !strings.HasPrefix(x.name, "/") && x.name != t.Engine {
				s = regexp.MustCompile(`\b`+regexp.QuoteMeta(x.name)+`\b`).ReplaceAllString(s, x.as)
			}
		}
		return s
	}
	clean := func(s string) string { return d.clean(hide(s)) }
	d.Server = slices.DeleteFunc(d.Server, func(f filewise.Fact) bool { return f.Name == "hostname" })
	for _, list := range [][]filewise.Finding{d.Findings, d.SelfCheck} {
		for i := range list {
			list[i].Detail, list[i].Remedy = clean(list[i].Detail), hide(list[i].Remedy)
		}
	}
	for i := range d.Server {
		d.Server[i].Value = clean(d.Server[i].Value)
	}
	for c, why := range d.Offers {
		d.Offers[c] = clean(why)
	}
}

// HideRemedies takes host and user out of the remedies.
func (d *Diagnosis) HideRemedies() {
	if d.clean == nil { // no server, so that they name none
		return
	}
	for _, list := range [][]filewise.Finding{d.Findings, d.SelfCheck} {
		for i := range list {
			list[i].Remedy = d.clean(list[i].Remedy)
		}
	}
}
