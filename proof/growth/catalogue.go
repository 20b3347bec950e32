//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"filewise"
	"filewise/engine/all"
	"filewise/lab/workload"
)

// onMariaDB returns a script that starts a server in the place, executes commands with the client in $c, and stops the
// server.
func onMariaDB(p *place, do string) []string {
	return []string{"sh", "-c", `set -e; d="$1"; c="mariadb --no-defaults --socket=$d/s --user=root"
[ -d "$d/data" ] || mariadb-install-db --no-defaults --datadir="$d/data" --user="$(id -un)" \
  --auth-root-authentication-method=normal >"$d/made"
mariadbd --no-defaults --datadir="$d/data" --user="$(id -un)" --socket="$d/s" --skip-networking --performance-schema=ON \
  --innodb-buffer-pool-size=128M --innodb-flush-log-at-trx-commit=0 >"$d/log" 2>&1 & pid=$!
trap 'kill $pid; wait $pid' EXIT
for i in $(seq 600); do $c -e "SELECT 1" >"$d/said" 2>&1 && break; sleep 0.1; done
` + do, "sh", p.dir}
}

// onPostgres is onMariaDB for PostgreSQL, with psql in $c. If this process is root's, the server runs as the account
// postgres.
func onPostgres(p *place, do string) []string {
	return []string{"sh", "-c", `set -e; d="$1/pg"; bin=$(dirname "$(ls /usr/lib/postgresql/*/bin/initdb | tail -1)")
c="psql -qAtX -h $d -U postgres"; as=; [ "$(id -u)" = 0 ] && as="setpriv --reuid=postgres --regid=postgres --clear-groups"
if ! [ -d "$d/data" ]; then
  mkdir -p "$d"; [ -z "$as" ] || { chown postgres "$d"; chmod a+x "$1"; }
  $as "$bin/initdb" -D "$d/data" -U postgres -A trust >"$1/made" 2>&1
fi
$as "$bin/pg_ctl" -D "$d/data" -w -l "$d/log" -o \
 "-k $d -c listen_addresses= -c fsync=off -c shared_preload_libraries=pg_stat_statements -c max_locks_per_transaction=256" start >"$1/said"
trap '$as "$bin/pg_ctl" -D "$d/data" -m fast stop >"$1/said"' EXIT
` + do, "sh", p.dir}
}

// postgresRows returns rows that inspect a database with many tables.
func postgresRows() (all []row) {
	for _, name := range []string{"capture", "inspect"} {
		args := map[string]string{"capture": "capture --for 0s", "inspect": "inspect"}[name]
		all = append(all, row{name: name + " of many tables, PostgreSQL", unit: "tables", sizes: [3]int{100, 3000, 30_000}, most: 300,
			prepare: func(ctx context.Context, p *place, r row, size int) error {
				return ran(ctx, onPostgres(p, fmt.Sprintf(`
for i in $(seq 0 1000 %d); do $c -c "DO \$\$ BEGIN FOR t IN $i .. least($i + 999, %d) LOOP EXECUTE format(
 'CREATE TABLE IF NOT EXISTS t%%s (id int PRIMARY KEY, a int, b text)', t); END LOOP; END \$\$"; done
$c -c "INSERT INTO t1 SELECT g, g, repeat('x', 200) FROM generate_series(1, 50000) g ON CONFLICT DO NOTHING" -c "ANALYZE t1" \
 -c "CREATE EXTENSION IF NOT EXISTS pg_stat_statements" -c CHECKPOINT`, size-1, size-1)))
			},
			work: func(ctx context.Context, p *place, _ row, _ int, stdout, stderr io.Writer) error {
				script := onPostgres(p, `$c -c "SELECT * FROM t1 WHERE id = 1" -c "SELECT count(*) FROM t2 JOIN t3 USING (id)"
export XDG_DATA_HOME="$1/home" XDG_STATE_HOME="$1/home"
"$1/bin/filewise" `+args+` --no-password --target "postgres://postgres@/postgres?host=$d"`)
				cmd := exec.CommandContext(ctx, script[0], script[1:]...)
				cmd.Stdout, cmd.Stderr = stdout, stderr
				return cmd.Run()
			}})
	}
	return all
}

// catalogueRows returns rows that inspect a database with three tables, on a server with many tables in another
// database.
func catalogueRows() (all []row) {
	for _, name := range []string{"capture", "inspect"} {
		args := map[string]string{"capture": "capture --database shop --for 0s", "inspect": "inspect"}[name]
		all = append(all, row{name: name + " beside tables of others, MariaDB", unit: "tables", sizes: [3]int{100, 3000, 30_000}, most: 500,
			why: "the server's start is in it, and its memory the peak",
			prepare: func(ctx context.Context, p *place, r row, size int) error {
				script := p.file(r, size, ".sql")
				if err := os.WriteFile(script, []byte(tablesOfOthers(size)), 0o600); err != nil {
					return err
				}
				return ran(ctx, onMariaDB(p, `$c < "`+script+`"`))
			},
			work: func(ctx context.Context, p *place, _ row, _ int, stdout, stderr io.Writer) error {
				script := onMariaDB(p, `$c shop -e "SELECT * FROM orders WHERE id = 1; SELECT * FROM item WHERE id = 2"
export XDG_DATA_HOME="$d/home" XDG_STATE_HOME="$d/home"
"$d/bin/filewise" `+args+` --no-password --target "mariadb://root@/?socket=$d/s"`)
				cmd := exec.CommandContext(ctx, script[0], script[1:]...)
				cmd.Stdout, cmd.Stderr = stdout, stderr
				return cmd.Run()
			}})
	}
	return all
}

func ran(ctx context.Context, args []string) error {
	if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func tablesOfOthers(n int) string {
	text := "CREATE DATABASE IF NOT EXISTS shop; USE shop;\nCREATE TABLE IF NOT EXISTS orders (id INT PRIMARY KEY, customer INT);\n" +
		"CREATE TABLE IF NOT EXISTS item (id INT PRIMARY KEY, o INT, FOREIGN KEY (o) REFERENCES orders (id));\n" +
		"CREATE DATABASE IF NOT EXISTS others; USE others;\n"
	for i := range n {
		text += fmt.Sprintf("CREATE TABLE IF NOT EXISTS t%d (id INT PRIMARY KEY, a INT);\n", i)
	}
	return text
}

// dumpRows returns rows that fill a build from a dump, as a study's run does, compared with the server's own client.
func dumpRows() []row {
	return []row{{name: "a dump into MariaDB", unit: "MB", sizes: [3]int{10, 300, 1500}, most: 600,
		why: "the servers' starts are in it, and their memory the peak",
		prepare: func(_ context.Context, p *place, r row, size int) error {
			return writeDump(p.file(r, size, ".sql"), size)
		},
		work: func(ctx context.Context, p *place, r row, size int, _, _ io.Writer) error {
			return fill(ctx, "mariadb", p.dir, p.file(r, size, ".sql"))
		},
		reference: func(p *place, r row, size int) []string {
			return onMariaDB(p, `$c -e "DROP DATABASE IF EXISTS plain; CREATE DATABASE plain"; $c plain < "`+p.file(r, size, ".sql")+`"`)
		}}}
}

func writeDump(path string, megabytes int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, random := bufio.NewWriterSize(f, 1<<20), rand.New(rand.NewPCG(1, 2))
	fmt.Fprint(w, "-- MariaDB dump 10.19\n/*!40014 SET UNIQUE_CHECKS=0 */;\nDROP TABLE IF EXISTS `orders`;\nCREATE TABLE `orders` (\n"+
		"  `id` bigint(20) NOT NULL,\n  `customer` int(11) NOT NULL,\n  `body` varchar(200) NOT NULL,\n  PRIMARY KEY (`id`),\n"+
		"  KEY `customer` (`customer`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n")
	for id := range megabytes * 6 * 1000 {
		before := ","
		if id%6000 == 0 {
			before = "INSERT INTO `orders` VALUES "
		}
		fmt.Fprintf(w, "%s(%d,%d,'%0140x')", before, id, random.IntN(1e6), random.Uint64())
		if id%6000 == 5999 {
			fmt.Fprint(w, ";\n")
		}
	}
	return w.Flush()
}

// fill makes one build of a copy of the dump.
func fill(ctx context.Context, engine, dir, dump string) (err error) {
	w, err := workload.NewCustom(workload.Params{Connections: 1, Custom: &workload.Custom{From: dump,
		Tables: []filewise.CustomTable{{Name: "orders", Key: "id"}}, Transactions: []workload.Transaction{{Name: "look", Weight: 1,
			SQL: workload.Script{"": []filewise.CustomText{{Text: "SELECT 1"}}}}}}}, 1)
	if err != nil {
		return err
	}
	for _, e := range all.Engines() {
		if e.Name() != engine {
			continue
		}
		at := filepath.Join(dir, "volume")
		if err := os.MkdirAll(at, 0o700); err != nil {
			return err
		}
		s, err := e.Open(ctx, filewise.Target{Engine: engine, Mode: filewise.Managed, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "here", Dir: at}}})
		if err != nil {
			return err
		}
		_, err = s.Build(ctx, filewise.Layout{Name: "1 file", Kind: filewise.KindPerTable, Data: filewise.Spread{Files: 1, Bytes: 64 << 20,
			Allocation: filewise.Growing}}, w.Program())
		return errors.Join(err, s.Close())
	}
	return fmt.Errorf("there is no engine %s", engine)
}
