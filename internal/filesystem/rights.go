package filesystem

import (
	"regexp"
	"strconv"
	"strings"
)

// everybody holds the groups of users who were given no rights by name, by their abbreviations in SDDL.
var everybody = map[string]string{"WD": "Everyone", "S-1-1-0": "Everyone", "AU": "Authenticated Users", "S-1-5-11": "Authenticated Users",
	"BU": "Users", "S-1-5-32-545": "Users", "IU": "Interactive", "S-1-5-4": "Interactive", "NU": "Network", "S-1-5-2": "Network",
	"AN": "Anonymous", "S-1-5-7": "Anonymous", "BG": "Guests", "S-1-5-32-546": "Guests", "DU": "Domain Users"}

// telling holds the rights that let a user read or write a file, or give himself such rights (winnt.h, sddl.h).
const telling = 0x1 | 0x2 | 0x4 | 0x40000 | 0x80000 | 0x10000000 | 0x40000000 | 0x80000000

var namedRights = map[string]uint32{"CC": 0x1, "DC": 0x2, "LC": 0x4, "WD": 0x40000, "WO": 0x80000, "GA": 0x10000000, "GW": 0x40000000,
	"GR": 0x80000000, "FA": 0x1f01ff, "FR": 0x120089, "FW": 0x120116, "KA": 0xf003f, "KR": 0x20019, "KW": 0x20006}

var (
	aces    = regexp.MustCompile(`\(([^;()]*);([^;()]*);([^;()]*);[^;()]*;[^;()]*;([^;()]*)(?:;[^()]*)?\)`)
	domains = regexp.MustCompile(`^S-1-5-21-.*-513$`) // each domain's Domain Users
	owners  = regexp.MustCompile(`^O:(S(?:-(?:0x[0-9A-Fa-f]+|[0-9]+))+|[A-Z]{2})`)
)

// openTo returns the group of everybody that may read or write, by a Windows security descriptor in SDDL. It is empty
// if none may.
func openTo(sddl string) string {
	_, list, present := strings.Cut(sddl, "D:")
	list, _, _ = strings.Cut(list, "S:(") // the second list is for auditing
	if !present || strings.HasPrefix(list, "NO_ACCESS_CONTROL") {
		return "Everyone"
	}
	denied := map[string]uint32{}
	for _, ace := range aces.FindAllStringSubmatch(list, -1) {
		group := everybody[ace[4]]
		if domains.MatchString(ace[4]) {
			group = "Domain Users"
		}
		if group == "" || strings.Contains(ace[2], "IO") { // a right for files made in a directory
			continue
		}
		switch rights := rightsOf(ace[3]); ace[1] {
		case "D":
			denied[group] |= rights
		case "A", "XA":
			if rights&^(denied[group]|denied["Everyone"])&telling != 0 {
				return group
			}
		}
	}
	return ""
}

func rightsOf(text string) (mask uint32) {
	if n, err := strconv.ParseUint(text, 0, 32); err == nil {
		return uint32(n)
	}
	for ; len(text) >= 2; text = text[2:] {
		mask |= namedRights[text[:2]]
	}
	return mask
}

// foreign returns the owner in a security descriptor, unless it is this user (me, a SID), an administrator or the
// system. It is empty otherwise.
func foreign(sddl, me string) string {
	m := owners.FindStringSubmatch(sddl)
	switch {
	case m == nil || m[1] == me:
		return ""
	case m[1] == "BA", m[1] == "SY", m[1] == "LA", m[1] == "S-1-5-32-544", m[1] == "S-1-5-18", strings.HasPrefix(m[1], "S-1-5-80-"),
		strings.HasPrefix(m[1], "S-1-5-21-") && strings.HasSuffix(m[1], "-500"):
		return ""
	}
	return m[1]
}
