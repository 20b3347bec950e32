//go:build linux

package main

import "time"

// rows are all attacks. The minute has no servers: the tests beside it have.
var rows = []row{
	{name: "kill-sqlite", what: "SIGKILL of run and resume, then resume", few: 12, many: 500, share: 8, try: killRuns(2*time.Second, sqliteRun...)},
	{name: "kill-commands", what: "SIGKILL of clean, import, export, list, judge, report", few: 12, many: 300, share: 3, try: killCommand},
	{name: "kill-migration", what: "SIGKILL while an old store is migrated", few: 4, many: 100, share: 2, try: killMigration},
	{name: "damaged-store", what: "a store with damaged bytes: list, show, judge, resume", few: 10, many: 2000, share: 4, try: damagedStore},
	{name: "inputs", what: "mutated bundles, study files and CSVs in 1 GiB", few: 100, many: 10_000, share: 10, try: mutatedInput},
}
