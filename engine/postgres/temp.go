package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
)

// mostTemps is Filewise's own limit on places for temporary files.
const mostTemps = 64

// tempBuffers and workMemory are a session's memory. They are so small that temporary tables, sorts and joins of some
// MiB go to files. temp_buffers is at its minimum of 100 pages.
const tempBuffers, workMemory = "800kB", "256kB"

// Sections of workload temp.
const (
	sectionPlaces    = "places"
	sectionWitness   = "witness"
	sectionWitnessed = "witnessed"
)

// tempPlace is one of the tablespaces in temp_tablespaces.
type tempPlace struct {
	space
	number int // number of its volume
}

// placeTemps resolves the places of temporary files. An external server has one on each volume. A managed server has as
// many as requested, each with its own directory.
func (d *design) placeTemps() error {
	s := d.layout.Temp
	external := d.target.Mode == filewise.External
	switch {
	case s.Files == 0:
		return nil
	case d.program.Table().Temporary && d.layout.Kind != filewise.KindSingle:
		return refuse("use --kind "+string(filewise.KindSingle), "workload temp on tables of kind %s", d.layout.Kind)
	case s.Files < 0 || s.Files > mostTemps:
		return refuse(fmt.Sprintf("give 1 to %d", mostTemps), "%d places of temporary files on postgres", s.Files)
	case external && s.Files > len(d.data):
		return refuse("name as many with --volume NAME=tablespace:name",
			"%d places of temporary files on an external server, whose volumes are one tablespace each, and %d given", s.Files, len(d.data))
	case external && s.Files > 1 && s.Placement == filewise.PlaceOne:
		return refuse("leave --placement out", "%d places of temporary files on one volume of an external server", s.Files)
	}
	for i := range s.Files {
		at := d.data[i%len(d.data)]
		if s.Placement != filewise.PlaceRoundRobin && !external {
			at = d.data[0]
		}
		p := tempPlace{at, slices.IndexFunc(d.spaces, func(o space) bool { return o.volume.Name == at.volume.Name })}
		if !external {
			p.name = fmt.Sprintf("fw_temp_%d", i+1)
		}
		d.temps = append(d.temps, p)
	}
	d.warn("temp-places", "read a layout's name as the number of tablespaces",
		"PostgreSQL makes a file for each temporary table, in the next of its temp_tablespaces: a temporary file of a layout is such a "+
			"tablespace")
	return nil
}

// tempSettings returns the settings of every session of workload temp: the places of temporary files, and memory so
// small that files are needed.
func (d *design) tempSettings() map[string]string {
	names := make([]string, len(d.temps))
	for i, t := range d.temps {
		names[i] = dialect.Ident(t.name) // "" is the database's default
	}
	return map[string]string{"temp_tablespaces": strings.Join(names, ", "), "temp_buffers": tempBuffers, "work_mem": workMemory}
}

// tempDir returns the directory of temporary tablespace i on a volume.
func (s sites) tempDir(number, i int) string {
	return filepath.Join(s.dirs[number], "temp-"+strconv.Itoa(i+1))
}

// askedTemps returns the places of temporary files for a plan.
func (d *design) askedTemps(dir func(number, i int) string) []filewise.File {
	var all []filewise.File
	for i, t := range d.temps {
		all = append(all, filewise.File{Role: filewise.RoleTemp, Volume: t.volume.Name, Path: dir(t.number, i), Object: t.name})
	}
	return all
}

// tempRoom adds the space, in bytes, for temporary tables, sorts and joins together to each of their volumes.
func (d *design) tempRoom(space map[string]int64) {
	for _, t := range d.temps {
		space[t.volume.Name] += 3 * d.layout.Temp.Bytes / int64(len(d.temps))
	}
}

// temps returns the places with the bytes that tables have taken in each. It first puts a table into every place in a
// transaction, to show that each is really used.
func (b *build) temps(ctx context.Context) ([]filewise.File, error) {
	if len(b.design.temps) == 0 {
		return nil, nil
	}
	if err := b.witness(ctx); err != nil {
		return nil, err
	}
	query, err := b.design.statement(sectionPlaces, b.design.tables[0])
	if err != nil {
		return nil, err
	}
	rows, err := b.link.Rows(ctx, query)
	if err != nil {
		return nil, client.Failed("observing temporary files", err)
	}
	used := map[string]int64{}
	for _, row := range rows {
		n, _ := row[1].(int64)
		used[client.Text(row[0])] = n
	}
	files := b.host.temps(b)
	for i, t := range b.design.temps {
		n := used[t.name]
		files[i].Used = &n
	}
	return files, nil
}

// witness compares with the layout where a session's temporary tables really go.
func (b *build) witness(ctx context.Context) error {
	look, err := b.design.statement(sectionWitnessed, b.design.tables[0])
	if err != nil {
		return err
	}
	found := map[string]bool{}
	err = b.link.With(ctx, func(conn *pgx.Conn) error {
		return errors.Join(b.link.Done(ctx, "BEGIN", pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			for i := range b.design.temps {
				create, err := b.design.statement(sectionWitness, table{Number: i})
				if err == nil {
					_, err = tx.Exec(ctx, create)
				}
				if err != nil {
					return err
				}
			}
			rows, err := tx.Query(ctx, look)
			if err != nil {
				return err
			}
			var name, file string
			_, err = pgx.ForEachRow(rows, []any{&name, &file}, func() error { found[name] = file != ""; return nil })
			return err
		})))
	})
	if err != nil {
		return client.Failed("observing temporary files", err)
	}
	for _, t := range b.design.temps {
		if !found[t.name] {
			return fmt.Errorf("%w: temporary tables do not go to tablespace %q, but to %d others", filewise.ErrLayout, t.name, len(found))
		}
	}
	if len(found) != len(b.design.temps) {
		return fmt.Errorf("%w: temporary tables go to %d places, not %d", filewise.ErrLayout, len(found), len(b.design.temps))
	}
	return nil
}

// temps returns the directories with the size of their present contents.
func (i *instance) temps(b *build) []filewise.File {
	files := b.design.askedTemps(i.sites.tempDir)
	for n := range files {
		_ = filepath.WalkDir(files[n].Path, func(_ string, e fs.DirEntry, err error) error { // a file can disappear meanwhile
			if err == nil && e.Type().IsRegular() {
				if info, err := e.Info(); err == nil {
					files[n].Bytes += info.Size()
				}
			}
			return nil
		})
	}
	return files
}

// temps returns the tablespaces as the server names them.
func (s *externalServer) temps(b *build) []filewise.File {
	return b.design.askedTemps(func(number, _ int) string {
		if dir := s.target.Volumes[number].Dir; path.IsAbs(dir) {
			return dir
		}
		return dialect.TablespacePrefix + b.design.spaces[number].name
	})
}
