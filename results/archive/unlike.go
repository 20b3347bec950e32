package archive

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/results/store"
)

// Unlikeness is a difference in what must be the same in all of a run, and in runs that are compared.
type Unlikeness struct {
	Meant               string // its name for --meant
	What, Before, After string
}

// ofMachine are the ends of names of facts about the machine that must be the same. Free space and versions of the
// kernel may change.
var ofMachine = []struct{ part, meant string }{
	{"cores", "cores"}, {"memory", "memory"}, {"memory limit of the container", "memory"}, {": file system", "file-system"},
	{": mount options", "file-system"}, {device, "device"}, {volumeSize, "volume-size"},
}

const (
	volumeSize = ": size"
	device     = ": device"
	// DeviceIdentity ends the name of the fact that distinguishes devices of one name, and one device under two names.
	DeviceIdentity = device + " identity"
)

// Unlike compares the machines and servers of two runs. What only one of them has, as an older Filewise did not store
// it, is not compared.
func Unlike(before, after store.Run) []Unlikeness {
	out := unlike(before.Machine, after.Machine, func(f filewise.Fact) string {
		for _, of := range ofMachine {
			if strings.TrimPrefix(f.Name, "client: ") == of.part || of.part[0] == ':' && strings.HasSuffix(f.Name, of.part) {
				return of.meant
			}
		}
		return ""
	})
	out = append(out, renamed(before.Machine, after.Machine)...)
	server := unlike(before.Server, after.Server, ofServer)
	for i := range server {
		server[i].What = "server: " + server[i].What
	}
	return append(out, server...)
}

func unlike(before, after []filewise.Fact, meant func(filewise.Fact) string) (out []Unlikeness) {
	for _, f := range before {
		i := slices.IndexFunc(after, func(g filewise.Fact) bool { return g.Name == f.Name })
		if i < 0 {
			continue
		}
		is := filewise.ValueOf(before, f.Name+" identity", "")
		if strings.HasSuffix(f.Name, device) && is != "" && is == filewise.ValueOf(after, f.Name+" identity", "") {
			continue
		}
		if name := meant(f); name != "" && meant(after[i]) != "" && !same(f.Name, f.Value, after[i].Value) {
			out = append(out, Unlikeness{name, f.Name, f.Value, after[i].Value})
		}
	}
	return out
}

// renamed compares volumes that only one of the runs has by that name, all of them together.
func renamed(before, after []filewise.Fact) (out []Unlikeness) {
	for _, of := range ofMachine {
		if of.part[0] != ':' {
			continue
		}
		a, b := only(before, after, of.part), only(after, before, of.part)
		if a != "" && b != "" && !same(of.part, a, b) {
			out = append(out, Unlikeness{of.meant, "volumes" + of.part, a, b})
		}
	}
	return out
}

// only returns the values of facts that others lack.
func only(facts, others []filewise.Fact, part string) string {
	var out []string
	for _, f := range facts {
		if strings.HasSuffix(f.Name, part) && !slices.ContainsFunc(others, func(o filewise.Fact) bool { return o.Name == f.Name }) {
			out = append(out, f.Value)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " + ")
}

// grown are mount options by which room is made for a run that ran out of it, or that every mount has anew.
var grown = regexp.MustCompile(`,(size|nr_inodes|mountport|rfd|wfd|fd)=[^,]*`)

// same compares two values of a fact. Sizes of volumes are of one class up to twice the size: storage by
// the gigabyte is the faster the more of it there is.
func same(name, a, b string) bool {
	if strings.HasSuffix(name, volumeSize) {
		x, errX := humanize.ParseBytes(a)
		y, errY := humanize.ParseBytes(b)
		if cmp.Or(errX, errY) == nil {
			return max(x, y) < 2*min(x, y)
		}
	}
	return grown.ReplaceAllString(a, "") == grown.ReplaceAllString(b, "")
}

// setting matches the names of a server's settings; SQL Server's have words and numbers.
var setting = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// elsewhere are facts with such names that are no settings, or change by themselves.
var elsewhere = []string{"port", "server", "adapter", "pinned", "settling", "proven", "tempdb", "database"}

// ofServer leaves out paths and ports, which a managed server is given again.
func ofServer(f filewise.Fact) string {
	_, err := strconv.ParseInt(f.Value, 10, 64)
	switch {
	case f.Name == "version" || f.Name == "edition":
		return "version"
	case slices.Contains(elsewhere, f.Name) || strings.ContainsAny(f.Value, `/\`):
		return ""
	case setting.MatchString(f.Name) || err == nil || f.Name == "trace flags":
		return "settings"
	}
	return ""
}
