package dialect

import "regexp"

// knownNames are the tables and procedures of the workloads, and of no one else:
// those of NewSchema, and what their SQL creates besides.
var knownNames = regexp.MustCompile(`^fw_((rows|inserts)(_\d{4,})?|frag[1-4]|loaded|insert|select|update|delete|` +
	`warehouse|district|customer|history|new_order|orders|order_line|item|stock|payment|order_status|delivery|stock_level|churn_\d+)$`)

// KnownName says whether Filewise gives this name to a table or procedure within its
// databases.
func KnownName(name string) bool { return knownNames.MatchString(name) }
