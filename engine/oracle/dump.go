// This file handles names of Oracle Data Pump's dumps in directories of the server, and what importing them needs.

package oracle

import (
	"regexp"
	"strings"

	"filewise"
)

// dumpForm is the form in which --from names a dump. Without the file, Filewise exports the schema to there.
const dumpForm = "datapump:DIRECTORY/FILE.dmp?schema=SCHEMA"

// dump is a schema in a dump. If the dump has several files, their name contains %U.
type dump struct {
	Directory, File, Schema string
	Taken                   bool // Filewise exports it
}

var form = regexp.MustCompile(`^datapump:([A-Za-z][A-Za-z0-9_$#]{0,127})(?:/([A-Za-z0-9_][A-Za-z0-9_.%+-]{0,199}))?` +
	`\?schema=([^"'\x00-\x1f\x7f]{1,128})$`)

// parseDump reads the value of --from. Names of directories and schemas have no quotes and are folded as the server
// does. But a schema with small letters between large ones is taken as it is.
func parseDump(from string) (dump, error) {
	m := form.FindStringSubmatch(from)
	if m == nil {
		return dump{}, filewise.Errorf(filewise.CodeUsage, "give it as "+dumpForm+", with a directory object that the account may read; "+
			"without /FILE.dmp it is taken",
			"%q names no dump of a schema", from)
	}
	d := dump{Directory: strings.ToUpper(m[1]), File: m[2], Schema: m[3], Taken: m[2] == ""}
	if d.Schema == strings.ToLower(d.Schema) {
		d.Schema = strings.ToUpper(d.Schema)
	}
	return d, nil
}

// First returns the dump's first file.
func (d dump) First() string {
	return strings.NewReplacer("%U", "01", "%u", "01").Replace(d.File)
}

// Grants returns the rights that an account needs to import the dump.
func (d dump) Grants(account string) string {
	return "GRANT " + strings.Join(d.Roles(), ", ") + " TO " + account + "; GRANT READ, WRITE ON DIRECTORY " + d.Directory + " TO " + account
}

// Roles returns the roles that an account needs to import the dump.
func (d dump) Roles() []string {
	if d.Taken {
		return []string{dumpRole, exportRole}
	}
	return []string{dumpRole}
}

// dumpRole is the role that an import into another account's schema needs.
const dumpRole = "DATAPUMP_IMP_FULL_DATABASE"

// exportRole is the role that an export of another account's schema needs.
const exportRole = "DATAPUMP_EXP_FULL_DATABASE"
