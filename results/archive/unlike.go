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

// Unlikeness is a difference in something that must stay the same within a run, and between compared runs.
type Unlikeness struct {
	Meant               string // the value of --meant that allows it
	What, Before, After string
}

// ofMachine lists the ends of names of facts about the machine that must be the same. Free space and kernel versions
// are not listed, because they may change.
var ofMachine = []struct{ part, meant string }{
	{"cores", "cores"}, {"memory", "memory"}, {"memory limit of the container", "memory"}, {": file system", "file-system"},
	{": mount options", "file-system"}, {device, "device"}, {volumeSize, "volume-size"},
}

const (
	volumeSize = ": size"
	device     = ": device"
	// DeviceIdentity ends the name of the fact that identifies a device: two devices may have one name, and one device two
	// names.
	DeviceIdentity = device + " identity"
)

// Unlike compares the machines and servers of two runs. A fact that only one run has is not compared, since an older
// Filewise did not store it.
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

// renamed compares the volumes whose names only one of the runs has. All such volumes are compared together.
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

// only returns the values of facts with this part in their names that others lack.
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

// grown matches mount options that enlarge a volume for a run that ran out of space, or that differ with every mount.
var grown = regexp.MustCompile(`,(size|nr_inodes|mountport|rfd|wfd|fd)=[^,]*`)

// same reports whether two values of a fact are equal. Sizes of volumes are equal if they differ by less than a factor
// of two: storage sold by the gigabyte gets faster with size.
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

// setting matches the names of a server's settings. SQL Server's names consist of words, so its settings are known by
// their numeric values.
var setting = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// elsewhere lists facts that look like settings but are none, or that change by themselves.
var elsewhere = []string{"port", "server", "adapter", "pinned", "settling", "proven", "tempdb", "database"}

// ofServer returns the value of --meant for a fact of the server, or nothing if the fact is not compared. Paths and
// ports are not compared, since a managed server gets new ones.
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
