package external

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"

	"filewise/engine/innodb/dialect"
	"filewise/internal/marker"
)

// ours is the pattern of Filewise's databases in a GRANT. A plain “_” would match any character.
const ours = "`filewise\\_%`.*"

// needed lists the rights on Filewise's own databases.
var needed = []string{"CREATE", "DROP", "ALTER", "INDEX", "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE ROUTINE", "ALTER ROUTINE",
	"EXECUTE", "EVENT", "TRIGGER"} // without the last two, the server hides events and triggers of others

const lockTables = "LOCK TABLES"

// Rights returns the statements that give an account exactly the rights that Filewise needs.
func (d Engine) Rights() []string {
	return []string{
		grant(append(needed[:len(needed):len(needed)], lockTables), ours),
		grant([]string{"PROCESS"}, "*.*"),
		grant([]string{d.External.FlushRight}, "*.*"),
	}
}

// account is shown for the user's account if that is not known yet.
const account = "`filewise`@`%`"

// grant returns the GRANT for an account that does not exist yet.
func grant(rights []string, on string) string { return grantTo(account, rights, on) }

func grantTo(account string, rights []string, on string) string {
	return "GRANT " + strings.Join(rights, ", ") + " ON " + on + " TO " + account
}

// rights holds the account's rights, in upper case: on the whole server, and on databases with Filewise's names. It
// includes the rights of active roles.
type rights struct {
	global, ours map[string]bool
}

// on reports whether the account has a right on Filewise's databases.
func (r rights) on(right string) bool { return r.global[right] || r.ours[right] }

// missing returns the given rights that the account lacks on Filewise's databases.
func (r rights) missing(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), r.on)
}

// readRights reads the account's grants. Database names are patterns, unless the server takes them literally (MySQL's
// partial_revokes).
func readRights(ctx context.Context, db *sql.DB, literal bool) (rights, error) {
	r := rights{global: map[string]bool{}, ours: map[string]bool{}}
	for _, statement := range []string{"SHOW GRANTS", rolesGrants} {
		if statement == rolesGrants {
			var err error
			if statement, err = usingRoles(ctx, db); err != nil || statement == "" {
				continue // MariaDB's SHOW GRANTS already includes the role's
			}
		}
		lines, err := dialect.Column(ctx, db, statement)
		if err != nil {
			return r, err
		}
		for _, line := range lines {
			r.add(line, literal)
		}
	}
	return r, nil
}

const rolesGrants = "SHOW GRANTS FOR CURRENT_USER() USING "

// usingRoles returns MySQL's clause for the grants of active roles, or "" if there are none.
func usingRoles(ctx context.Context, db *sql.DB) (string, error) {
	var roles sql.NullString
	if err := db.QueryRowContext(ctx, "SELECT CURRENT_ROLE()").Scan(&roles); err != nil {
		return "", err
	}
	if !strings.Contains(roles.String, "`@`") { // MariaDB's roles have no host; or NONE
		return "", nil
	}
	return rolesGrants + roles.String, nil
}

var grantLine = regexp.MustCompile("^(GRANT|REVOKE) (.*?) ON (?:TABLE |SCHEMA )?(\\*|`(?:[^`]|``)*`)\\.(\\*|`(?:[^`]|``)*`) (?:TO|FROM) ")

// add reads a line of SHOW GRANTS.
func (r rights) add(line string, literal bool) {
	m := grantLine.FindStringSubmatch(line)
	if m == nil || m[4] != "*" {
		return // on a table or routine, or of a role or proxy
	}
	to := r.global
	if m[3] != "*" {
		name := strings.ReplaceAll(strings.Trim(m[3], "`"), "``", "`")
		if literal || !like(marker.PlanName, name) {
			return
		}
		to = r.ours
	}
	for right := range strings.SplitSeq(m[2], ",") {
		right = strings.ToUpper(strings.TrimSpace(right))
		names := []string{right}
		if right == "ALL PRIVILEGES" {
			names = append(slices.Clone(needed), lockTables, "EVENT", "TRIGGER", "PROCESS", "RELOAD", "FILE", "FLUSH_TABLES", "REFERENCES")
		}
		if right == "RELOAD" { // MySQL's RELOAD includes FLUSH_TABLES
			names = append(names, "FLUSH_TABLES")
		}
		for _, name := range names {
			if m[1] == "REVOKE" {
				delete(to, name)
			} else {
				to[name] = true
			}
		}
	}
}

// like matches a name by the rules of LIKE: “%” is any text, “_” any character, and a backslash makes the next one
// literal.
func like(name, pattern string) bool {
	re := strings.NewReplacer(`\\\\`, `\\`, `\\_`, "_", `\\%`, "%", "_", ".", "%", ".*").Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile("^" + re + "$").MatchString(name)
}
