package plan

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"filewise/experiment"
)

// mostName is the length of a name or tag.
const mostName = 100

// Naming is what a user calls a run.
type Naming struct {
	Name string
	Tags []string // KEY=VALUE
}

// Apply gives a plan its name and tags. A name that could be a number, or "last", would name
// another run.
func (n Naming) Apply(p *experiment.Plan) error {
	_, err := strconv.ParseInt(n.Name, 10, 64)
	switch {
	case n.Name != "" && (err == nil || n.Name == "last" || strings.TrimSpace(n.Name) != n.Name || utf8.RuneCountInString(n.Name) > mostName):
		return BadValue("name", n.Name, "give a name that is no number, not \"last\", and at most 100 letters long")
	case n.Name != "":
		p.Name = n.Name
	}
	for _, tag := range n.Tags {
		if pair := ParsePair(tag); pair.Bare || pair.Name == "" || utf8.RuneCountInString(tag) > mostName {
			return BadValue("tag", tag, "give KEY=VALUE, such as env=prod, of at most 100 letters")
		}
	}
	p.Tags = append(p.Tags, n.Tags...)
	return nil
}
