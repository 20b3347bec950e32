package external

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"

	"filewise/engine/innodb/dialect"
	"filewise/internal/mark"
)

// ours is the pattern of Filewise's databases in a GRANT: a plain “_” would stand
// for any character.
const ours = "`filewise\\_%`.*"

// needed are the rights on Filewise's own databases.
var needed = []string{"CREATE", "DROP", "ALTER", "INDEX", "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE ROUTINE", "ALTER ROUTINE",
	"EXECUTE", "EVENT", "TRIGGER"} // the server hides events and triggers of others without the last two

const lockTables = "LOCK TABLES"

// Rights returns the statements that give an account what Filewise needs, and no
// more.
func (d Engine) Rights() []string {
	return []string{
		grant(append(needed[:len(needed):len(needed)], lockTables), ours),
		grant([]string{"PROCESS"}, "*.*"),
		grant([]string{d.External.FlushRight}, "*.*"),
	}
}

// account stands for the user's if it is not known yet.
const account = "`filewise`@`%`"

// grant returns the statement for an account that is still to be made.
func grant(rights []string, on string) string { return grantTo(account, rights, on) }

func grantTo(account string, rights []string, on string) string {
	return "GRANT " + strings.Join(rights, ", ") + " ON " + on + " TO " + account
}

// rights holds what the account has, upper-case: on the whole server, and on
// databases with Filewise's names. The rights of active roles are among them.
type rights struct {
	global, ours map[string]bool
}

// on has the right on Filewise's databases.
func (r rights) on(right string) bool { return r.global[right] || r.ours[right] }

// missing returns the given rights that the account does not have on
// Filewise's databases.
func (r rights) missing(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), r.on)
}

// readRights reads the account's grants. Databases are matched by pattern
// unless the server takes names literally (MySQL's partial_revokes).
func readRights(ctx context.Context, db *sql.DB, literal bool) (rights, error) {
	r := rights{global: map[string]bool{}, ours: map[string]bool{}}
	for _, statement := range []string{"SHOW GRANTS", rolesGrants} {
		if statement == rolesGrants {
			var err error
			if statement, err = usingRoles(ctx, db); err != nil || statement == "" {
				continue // MariaDB's SHOW GRANTS has the role's already
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

// usingRoles is MySQL's statement for the grants of active roles. Empty means none.
func usingRoles(ctx context.Context, db *sql.DB) (string, error) {
	var roles sql.NullString
	if err := db.QueryRowContext(ctx, "SELECT CURRENT_ROLE()").Scan(&roles); err != nil {
		return "", err
	}
	if !strings.Contains(roles.String, "`@`") { // MariaDB's have no host; NONE
		return "", nil
	}
	return rolesGrants + roles.String, nil
}

var grantLine = regexp.MustCompile("^(GRANT|REVOKE) (.*?) ON (?:TABLE |SCHEMA )?(\\*|`(?:[^`]|``)*`)\\.(\\*|`(?:[^`]|``)*`) (?:TO|FROM) ")

// add reads a line of SHOW GRANTS.
func (r rights) add(line string, literal bool) {
	m := grantLine.FindStringSubmatch(line)
	if m == nil || m[4] != "*" {
		return // of a table, a routine, a role, a proxy
	}
	to := r.global
	if m[3] != "*" {
		name := strings.ReplaceAll(strings.Trim(m[3], "`"), "``", "`")
		if literal || !like(mark.PlanName, name) {
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
		if right == "RELOAD" { // on MySQL it has in it what FLUSH_TABLES gives alone
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

// like matches by the rules of LIKE: “%” any text, “_” any character, a backslash
// takes the next as it is.
func like(name, pattern string) bool {
	re := strings.NewReplacer(`\\\\`, `\\`, `\\_`, "_", `\\%`, "%", "_", ".", "%", ".*").Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile("^" + re + "$").MatchString(name)
}
