//go:build linux

package main

import (
	"syscall"
	"time"
)

// rows are all attacks. The minute has no servers: the tests beside it have.
var rows = []row{
	{name: "kill-sqlite", what: "SIGKILL of run and resume, then resume", few: 12, many: 500, share: 8,
		try: killRuns(2*time.Second, sqliteRun...)},
	{name: "kill-commands", what: "SIGKILL of plan, doctor, inspect, serve, import, export, compare, clean, report …",
		few: 18, many: 300, share: 3, try: killCommand},
	{name: "kill-migration", what: "SIGKILL while an old store is migrated", few: 4, many: 100, share: 2, try: killMigration},
	{name: "damaged-store", what: "a store with damaged bytes: list, show, judge, resume", few: 10, many: 2000, share: 4, try: damagedStore},
	{name: "inputs", what: "mutated bundles, study files and CSVs in 1 GiB", few: 100, many: 10_000, share: 10, try: mutatedInput},
	{name: "addresses", what: "a bundle that names a server here: show, judge, backup, resume, apply, stop …, with a password given",
		few: 1, many: 50, share: 1, try: addresses},
	{name: "numbers", what: "a bundle in which a number is an extreme: import, show, judge, report, list", few: 5, many: 5000, share: 4,
		try: lyingNumbers},
	{name: "other-user", what: "root's run on volumes of another user, or that he may write to", few: 1, many: 5, share: 1, try: otherUser,
		why: notRoot},
	{name: "disk-full", what: "the volume, the store's or the state's file system fills up", few: 3, many: 200, share: 3,
		try: diskFull, why: noMount},
	{name: "read-only", what: "the volume becomes read-only in mid-run", many: 100, share: 2, try: readOnly, why: noMount},
	{name: "unmount", what: "the volume goes away in mid-run, and comes back", many: 100, share: 2, try: unmounted, why: noMount},
	{name: "clocks", what: "run, resume, stop, clean and list in PID, mount and time namespaces (± 1 hour and day), beside a run, after kills",
		few: 1, many: 50, share: 1, try: elsewhere, why: noTimes},
	{name: "kill-postgres", what: "SIGKILL of runs with managed PostgreSQL", many: 150, share: 8, try: killServers("postgres"),
		why: noServer("postgres")},
	{name: "kill-mariadb", what: "SIGKILL of runs with managed MariaDB", many: 150, share: 8, try: killServers("mariadb"),
		why: noServer("mariadb")},
	{name: "kill-mysql", what: "SIGKILL of runs with managed MySQL", many: 100, share: 6, try: killServers("mysql"), why: noServer("mysql")},
	{name: "server-killed", what: "SIGKILL of a managed PostgreSQL", many: 30, share: 3,
		try: hitServers("postgres", syscall.SIGKILL), why: noServer("postgres")},
	{name: "server-killed-mariadb", what: "SIGKILL of a managed MariaDB", many: 30, share: 3,
		try: hitServers("mariadb", syscall.SIGKILL), why: noServer("mariadb")},
	{name: "stood-still", what: "SIGSTOP and SIGCONT of a run in its windows: the trial is void, and the run complete",
		few: 1, many: 30, share: 2, try: stoodStill},
	{name: "server-stopped", what: "SIGSTOP and SIGCONT of a managed MariaDB", many: 30, share: 3,
		try: hitServers("mariadb", syscall.SIGSTOP, syscall.SIGCONT), why: noServer("mariadb")},
	{name: "dumps", what: "dumps of a user's servers before and after 100 runs by URL, a kill and clean", many: 100, share: 5,
		try: tests("filewise/cmd/filewise", "^TestExternalServer$"), why: noServer("mysql")},
	{name: "dumps-mysql", what: "listings of a user's MySQL before and after all that is done by URL", many: 20, share: 3,
		try: tests("filewise/engine/innodb/external", "^TestServer$/^mysql$/^Life$"), why: noServer("mysql")},
	{name: "cut-line", what: "servers by URL: the line silent, reset, and silent at Filewise's SIGKILL", many: 30, share: 3,
		try: tests("filewise/cmd/filewise", "^TestCut(Line|AndKilled)$"), why: noServer("mysql")},
	{name: "server-gone", what: "servers by URL: SIGKILL in mid-run, started again later", many: 30, share: 2,
		try: tests("filewise/cmd/filewise", "^TestServerGone$"), why: noServer("mysql")},
	{name: "lost-lock", what: "sessions ended by the server, the measuring lock taken by another", many: 20, share: 2,
		try: tests("filewise/cmd/filewise", "^TestLostLock$"), why: noServer("mysql")},
	{name: "kill-own", what: "SIGKILL of plan, doctor, inspect, capture, run --from, apply and backup on a user's server, in namespaces, too",
		many: 600, share: 6, try: tests("filewise/cmd/filewise", "^TestKillOwn$"), why: noServer("mariadb")},
	{name: "kill-fleet", what: "SIGKILL of worker, campaign, campaign show and fetch, in namespaces, and of Temporal",
		many: 200, share: 5, try: killFleet, why: noTemporal},
	{name: "fuzz", what: "executions of all fuzz targets", many: 1, share: 20, try: fuzz},
}
