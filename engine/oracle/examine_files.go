package oracle

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/oracle/dialect"
)

// files compares the number of files with the instance's DB_FILES.
func (e *examination) files(ctx context.Context) {
	limit, ok := number(e.values["db_files"])
	if !ok || e.server.missing["DBA_DATA_FILES"] {
		return
	}
	found, read := e.ask(ctx, "DB_FILES", 1, "files-of-all")
	have, counted := number(only(found))
	if !read || !counted {
		return
	}
	need := int64(0)
	for _, l := range e.Demand.Layouts {
		n := int64(l.Data.Files)
		if l.Indexes == filewise.IndexesApart {
			n++
		}
		need = max(need, n)
	}
	if have+need > limit {
		remedy := fmt.Sprintf("use up to %d --files", max(limit-have, 0))
		if published, _ := e.Demand.Program.Vars()["Published"].(bool); published { // --files is refused in that case
			remedy = "use a --scale below 1, which has 8 files at most"
		}
		e.Fail("DB_FILES", remedy+", or have the DBA raise DB_FILES, which takes a restart",
			"DB_FILES is %d, %d datafiles are there, and the largest layout has %d more", limit, have, need)
		return
	}
	e.OK("DB_FILES", "%d of %d datafiles with the largest layout (files of other containers, which also count, cannot be seen)", have+need,
		limit)
}

// places checks the free space of disk groups, which the server reports. Oracle does not report how full a file system
// is.
func (e *examination) places(ctx context.Context) {
	destination := e.values["db_create_file_dest"]
	for _, v := range e.server.target.Volumes {
		check := "free space of " + v.Name
		p, err := dialect.PlaceOf(v)
		if err != nil {
			e.Fail(check, filewise.RemedyOf(err), "%v", err)
			continue
		}
		if p.Kind == dialect.PlaceOMF {
			if e.values == nil {
				e.Note(check, grant(view{Name: "V_$PARAMETER"}, e.server.about.account),
					"whether the server has a default directory (db_create_file_dest) is not known")
				continue
			}
			if destination == "" {
				e.Fail(check, e.offered(ctx),
					"the server has no default directory for datafiles: db_create_file_dest is not set")
				continue
			}
			if p, err = dialect.PlaceOf(filewise.Volume{Name: v.Name, Dir: destination}); err != nil {
				p = dialect.Place{Kind: dialect.PlaceUnix, Dir: destination}
			}
		}
		if p.Kind != dialect.PlaceASM {
			e.Note(check, "check it on the server, with df or in its Explorer",
				"%s is needed in %s; Oracle reports no free space", humanize.IBytes(uint64(max(e.Demand.Space[v.Name], 0))), p.Dir)
			continue
		}
		e.diskGroup(ctx, check, p.Dir, e.Demand.Space[v.Name])
	}
}

// offered returns a place to use in place of the default place: where datafiles are already.
func (e *examination) offered(ctx context.Context) string {
	const any = "name a directory of the server or a disk group: --volume NAME=DIR, --volume NAME=+DATA"
	if e.server.missing["DBA_DATA_FILES"] {
		return any
	}
	found, err := rows(ctx, e.client, 1, "places", nil)
	if err != nil {
		return any
	}
	var all []string
	for _, r := range found {
		if dir := strings.TrimRight(text(r[0]), `/\`); dir != "" {
			all = append(all, filewise.CommandLine("--volume", "data="+dir))
		}
	}
	if len(all) == 0 {
		return any
	}
	return "the database has datafiles here: give " + strings.Join(all, ", or ") + ", or another directory of the server or a disk group"
}

// profile compares the workload's connections with the limit in the account's profile.

func (e *examination) diskGroup(ctx context.Context, check, group string, need int64) {
	if e.server.missing["V_$ASM_DISKGROUP"] {
		e.Note(check, grant(view{Name: "V_$ASM_DISKGROUP"}, e.server.about.account), "free space of disk group %s is not known", group)
		return
	}
	found, ok := e.ask(ctx, check, 2, "disk-groups")
	if !ok {
		return
	}
	for _, r := range found {
		if !strings.EqualFold("+"+text(r[0]), group) {
			continue
		}
		free, _ := number(r[1])
		free *= mib
		e.FreeSpace(check, group, need, free, "use a smaller --size or --work, or another disk group")
		return
	}
	e.Fail(check, "name one that is mounted", "there is no disk group %s", group)
}

// storage compares the needed space with a pluggable database's limit.
func (e *examination) storage(ctx context.Context) {
	found, ok := e.ask(ctx, "MAX_PDB_STORAGE", 1, "storage-limit")
	if !ok || len(found) == 0 || e.server.missing["DBA_DATA_FILES"] || e.server.missing["DBA_TABLESPACES"] {
		return
	}
	limit, limited := number(found[0][0])
	if !limited || limit <= 0 { // UNLIMITED
		return
	}
	have, ok := e.ask(ctx, "MAX_PDB_STORAGE", 1, "bytes-of-all")
	used, counted := number(only(have))
	if !ok || !counted {
		return
	}
	need := e.need()
	status, remedy := filewise.StatusOK, ""
	if used+need > limit {
		status, remedy = filewise.StatusFailed, "use a smaller --size or --work, or have the DBA raise MAX_PDB_STORAGE"
	}
	e.Add(status, "MAX_PDB_STORAGE", remedy, "the limit is %s, %s are used, %s are needed",
		humanize.IBytes(uint64(limit)), humanize.IBytes(uint64(max(used, 0))), humanize.IBytes(uint64(max(need, 0))))
}
