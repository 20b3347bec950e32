package external

import (
	"context"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// Observe reads the database's files from the server's catalogue and compares them with the layout. If they differ, the
// error wraps filewise.ErrLayout.
func (b *build) Observe(ctx context.Context) ([]filewise.File, error) {
	link, err := b.Link()
	if err != nil {
		return nil, err
	}
	asked := dialect.Asked(b.design.Files)
	read := b.tablespaces
	if !b.server.rights.global["PROCESS"] {
		read = b.tables
	}
	reported, err := read(ctx, link)
	if err != nil {
		return nil, link.Explain(fmt.Errorf("asking for the files of %s: %w", b.name, err))
	}
	var found []filewise.File
	for _, a := range asked {
		f, ok := reported[a.Path]
		if !ok {
			return nil, fmt.Errorf("%w: the server has no file %s; it has %s", filewise.ErrLayout, a.Path, some(reported))
		}
		f.Role, f.Volume, f.Path, f.Object = a.Role, a.Volume, a.Path, a.Object
		found = append(found, f)
		delete(reported, a.Path)
	}
	if len(reported) > 0 && b.design.Program.Custom == nil { // its set-up can create more tables than the layout spreads
		return nil, fmt.Errorf("%w: the server has %s in addition to the %d of the layout", filewise.ErrLayout, some(reported), len(asked))
	}
	return found, b.design.Layout.Verify(asked, found, b.worked.Load())
}

// some returns a few paths for messages.
func some(files map[string]filewise.File) string {
	var paths []string
	for path := range files {
		if paths = append(paths, path); len(paths) == 3 {
			break
		}
	}
	if len(paths) == 0 {
		return "none"
	}
	return strings.Join(paths, ", ")
}

// tablespaces returns the files by path, from InnoDB's own catalogue.
func (b *build) tablespaces(ctx context.Context, link dialect.Link) (map[string]filewise.File, error) {
	files, err := b.design.TableFiles(ctx, link.Control, b.plain, markerTable)
	all := map[string]filewise.File{}
	for path, f := range files {
		all[path] = filewise.File{Bytes: f.Bytes, EngineBytes: &f.Bytes, Allocated: &f.Allocated}
	}
	return all, err
}

// plain returns a path in the design's form: with slashes, and relative to the server's data directory if it lies
// there.
func (b *build) plain(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	if home := b.server.vars["datadir"]; home != "" {
		if rest, ok := strings.CutPrefix(path, strings.TrimRight(strings.ReplaceAll(home, `\`, "/"), "/")+"/"); ok && b.inDefault(rest) {
			return "./" + rest
		}
	}
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "./") && !windowsPath(path) {
		return "./" + path
	}
	return path
}

// inDefault reports whether a path below the data directory is in the default place, and not in a volume that lies
// below it.
func (b *build) inDefault(rest string) bool { return strings.HasPrefix(rest, b.name+"/") }

// tables returns the files from the catalogue of tables, for accounts without the privilege PROCESS. That a table or
// partition has its own file follows from innodb_file_per_table, and its path from InnoDB's rule. Neither is observed.
func (b *build) tables(ctx context.Context, link dialect.Link) (map[string]filewise.File, error) {
	sizes := map[string]int64{}
	err := dialect.Each(ctx, link.Control, func(scan dialect.Scan) error {
		var table, partition string
		var size int64
		if err := scan(&table, &partition, &size); err != nil {
			return err
		}
		own := table == markerTable || table == dialect.LoadedTable
		table = dialect.FileName(table)
		if partition != "" {
			table += b.server.product.Files.Partition + partition
		}
		if !own {
			sizes["/"+b.name+"/"+table+".ibd"] = size
		}
		return nil
	}, `SELECT TABLE_NAME, COALESCE(PARTITION_NAME, ''), DATA_LENGTH + INDEX_LENGTH + DATA_FREE
FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = ?`, b.name)
	all := map[string]filewise.File{}
	for suffix, size := range sizes {
		path := "." + suffix
		for _, f := range b.design.All() {
			if strings.HasSuffix(f.Path, suffix) {
				path = f.Path
			}
		}
		all[path] = filewise.File{Bytes: size}
	}
	return all, err
}

// systemThreads lists the commands of the server's own threads in its process list.
var systemThreads = map[string]bool{"Daemon": true, "Binlog Dump": true, "Binlog Dump GTID": true, "Slave_IO": true, "Slave_SQL": true,
	"Slave_worker": true}

// Activity returns the number of others' sessions, and how many of them execute something. Without the privilege
// PROCESS the server shows only the account's own sessions, and both are absent.
func (s *server) Activity(ctx context.Context) ([]filewise.Gauge, error) {
	if !s.rights.global["PROCESS"] {
		return nil, filewise.Errorf(filewise.CodePreflight, s.grant([]string{"PROCESS"}, "*.*"),
			"without the right PROCESS the server does not show what others do: %w", filewise.ErrUnsupported)
	}
	var sessions, active float64
	err := dialect.Each(ctx, s.db, func(scan dialect.Scan) error {
		var id int64
		var user, command, database string
		err := scan(&id, &user, &command, &database)
		if err != nil || s.numbers.has(id) || s.made(database) || user == s.mine || systemThreads[command] ||
			user == "system user" || user == "event_scheduler" {
			return err
		}
		sessions++
		if command != "Sleep" {
			active++
		}
		return nil
	}, "SELECT ID, USER, COMMAND, IFNULL(DB, '') FROM information_schema.PROCESSLIST")
	if err != nil {
		return nil, s.explain(err)
	}
	return []filewise.Gauge{{Name: "active", Unit: "sessions", Value: active}, {Name: "sessions", Unit: "sessions", Value: sessions}}, nil
}
