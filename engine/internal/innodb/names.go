package innodb

import "regexp"

// ownNames are the tables and procedures of the workloads, and of no one else:
// those of NewSchema, and what their SQL creates besides.
var ownNames = regexp.MustCompile(`^fw_((rows|inserts)(_\d{4,})?|frag[1-4]|loaded|insert|select|update|delete)$`)

// OwnName says whether Filewise gives this name to a table or procedure within its
// databases.
func OwnName(name string) bool { return ownNames.MatchString(name) }
