package dialect

import "filewise/engine/customsql"

// CustomRules describes PostgreSQL's SQL syntax.
var CustomRules = customsql.Rules{Dollar: true, Numbered: "$"}
