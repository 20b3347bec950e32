//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"filewise"
)

func allOf(readers ...reader) reader {
	return func(ctx context.Context) (map[counter]float64, error) {
		all := map[counter]float64{}
		for _, r := range readers {
			found, err := r(ctx)
			if err != nil {
				return nil, err
			}
			maps.Copy(all, found)
		}
		return all, nil
	}
}

// printed parses the lines “probe|counter|file|value” that a program prints.
func printed(cmd *exec.Cmd) (map[counter]float64, error) {
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	all := map[counter]float64{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 4 {
			continue
		}
		x, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			continue // NULL: not known
		}
		if f[2] != "" {
			f[2] = filepath.Base(f[2])
		}
		all[counter{f[0], f[1], f[2]}] = x
	}
	return all, nil
}

// readStatus has the server's own client print the server's status.
func (p *peer) readStatus(ctx context.Context) (map[counter]float64, error) {
	_, out, err := p.execute(ctx, "", "SHOW GLOBAL STATUS")
	all := map[counter]float64{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if x, err := strconv.ParseFloat(value, 64); err == nil {
			all[counter{"mariadb", name, ""}] = x
		}
	}
	return all, err
}

// readFiles has the server's own client print performance_schema's counts for files.
func (p *peer) readFiles(ctx context.Context) (map[counter]float64, error) {
	_, out, err := p.execute(ctx, "", "SELECT FILE_NAME, COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, SUM_TIMER_WRITE / 1e12, COUNT_READ, "+
		"SUM_NUMBER_OF_BYTES_READ FROM performance_schema.file_summary_by_instance")
	all := map[counter]float64{}
	names := []string{filewise.FileWrites, filewise.FileBytes, filewise.FileWriteTime, filewise.FileReads, filewise.FileBytesRead}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		for n, value := range fields[1:] {
			if x, err := strconv.ParseFloat(value, 64); err == nil && n < len(names) {
				all[counter{filewise.ProbeFiles, names[n], filepath.Base(fields[0])}] = x
			}
		}
	}
	return all, err
}

// postgresScript prints the columns of the statistics views, and for each table's file what the views count.
const postgresScript = `
SELECT 'postgres', v || '.' || key, '', value FROM (
  SELECT 'pg_stat_database' v, to_jsonb(d) j FROM pg_stat_database d WHERE datname = current_database() UNION ALL
  SELECT 'pg_stat_wal', to_jsonb(w) FROM pg_stat_wal w UNION ALL
  SELECT 'pg_stat_bgwriter', to_jsonb(b) FROM pg_stat_bgwriter b) s,
  jsonb_each_text(j) WHERE value ~ '^[0-9.]+$';
SELECT 'files', 'rows written', pg_relation_filepath(relid), n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables;
SELECT 'files', 'bytes grown', pg_relation_filepath(relid), pg_relation_size(relid) FROM pg_stat_user_tables UNION ALL
SELECT 'files', 'bytes grown', pg_relation_filepath(indexrelid), pg_relation_size(indexrelid) FROM pg_stat_user_indexes;`

// readPostgres has psql query a server whose socket is in the server's directory.
func readPostgres(bin string, pid int) reader {
	return func(ctx context.Context) (map[counter]float64, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", fmt.Sprintf("/proc/%d/cwd", pid),
			"-U", "filewise", "-d", "postgres", "-c", postgresScript)
		cmd.Env = environment()
		return printed(cmd)
	}
}

// systemScript is an awk script that prints the kernel's counters with Filewise's names and units.
const systemScript = `$1 == "cpu" {
  split("user nice system idle iowait irq softirq steal", n, " ")
  for (i = 2; i <= 9; i++) print "cpu|" n[i-1] "||" $i / 100
}
FILENAME == "/proc/diskstats" { print "disk|" $3 " reads||" $4; print "disk|" $3 " bytes read||" $6 * 512; print "disk|" $3 " writes||" $8
  print "disk|" $3 " bytes written||" $10 * 512; print "disk|" $3 " write time||" $11; print "disk|" $3 " busy time||" $13
  print "disk|" $3 " flushes||" $19 }`

// awk returns a command that runs a script, and prints all digits of numbers.
func awk(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "awk", append([]string{"-v", "CONVFMT=%.15g", "-v", "OFMT=%.15g"}, args...)...)
}

// readSystem has awk read /proc.
func readSystem(ctx context.Context) (map[counter]float64, error) {
	return printed(awk(ctx, systemScript, "/proc/stat", "/proc/diskstats"))
}

// treeScript sums up a process and its descendants from ps -e and /proc/PID/io. Processes that have ended count in
// their parents.
const treeScript = `BEGIN {
  while (("cat /proc/[0-9]*/stat 2>/dev/null" | getline) > 0) {
    id = $1; line = $0; sub(/^.*\) /, "", line); split(line, f, " ")
    parent[id] = f[2]; user[id] = f[12] + (tree ? f[14] : 0); sys[id] = f[13] + (tree ? f[15] : 0)
  }
  split("rchar wchar syscr syscw read_bytes write_bytes", key, " ")
  names = "bytes read by calls,bytes written by calls,read calls,write calls,bytes read from storage,"
  split(names "bytes dirtied in the page cache", name, ",")
  for (id in parent) {
    for (p = id; p != root && p > 1; p = parent[p]) if (!tree) break
    if (p != root) continue
    u += user[id]; s += sys[id]
    while ((getline < ("/proc/" id "/io")) > 0) { sub(/:/, "", $1); io[$1] += $2 }
  }
  print probe "|user||" u / 100; print probe "|system||" s / 100
  for (n = 1; n <= 6; n++) print probe "|" name[n] "||" io[key[n]]
}`

// readTree has awk read what a process and its descendants have used.
func readTree(probe string, pid int) reader { return readUsed(probe, pid, "1") }

// readProcess has awk read what one process alone has used.
func readProcess(probe string, pid int) reader { return readUsed(probe, pid, "0") }

func readUsed(probe string, pid int, tree string) reader {
	return func(ctx context.Context) (map[counter]float64, error) {
		return printed(awk(ctx, "-v", "probe="+probe, "-v", fmt.Sprint("root=", pid), "-v", "tree="+tree, treeScript))
	}
}

// readSizes has find print the sizes of files below a directory.
func readSizes(dir string) reader {
	return func(ctx context.Context) (map[counter]float64, error) {
		return printed(exec.CommandContext(ctx, "find", dir, "-type", "f", "-printf", filewise.ProbeFiles+"|"+filewise.FileGrown+"|%f|%s\n"))
	}
}
