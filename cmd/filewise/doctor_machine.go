package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/machine"
	"filewise/scratch"
)

// tools are programs that Filewise uses where they are there, and what brings
// them.
var tools = []struct{ program, brings, use string }{
	{"fio", "fio", "the storage's own limit"},
	{"mariadb-backup", "mariadb-backup", "backups of MariaDB"},
	{"mydumper", "mydumper", "dumps of MariaDB and MySQL"},
	{"pg_basebackup", "postgresql-client", "backups of PostgreSQL"},
	{"pgbackrest", "pgbackrest", "backups of PostgreSQL with several processes"},
}

// machineFindings are about this machine and its volumes.
func machineFindings(ctx context.Context, volumes []filewise.Volume) []filewise.Finding {
	var out []filewise.Finding
	add := func(check string, status filewise.Status, detail, remedy string) {
		out = append(out, filewise.Finding{Check: check, Status: status, Detail: detail, Remedy: remedy})
	}
	for _, f := range machine.Facts(ctx, nil) {
		add(f.Name, filewise.StatusOK, f.Value, "")
	}
	if lacks := machine.Lacks(); lacks != "" {
		add("system", filewise.StatusNote, lacks, "")
	}
	if _, err := scratch.Open(); err != nil {
		add("state directory", filewise.StatusFailed, err.Error(), filewise.RemedyOf(err))
	}
	for _, v := range volumes {
		out = append(out, volumeFinding(v))
	}
	for _, w := range machine.Warnings(volumes) {
		add("volumes", filewise.StatusWarning, w.Message, w.Remedy)
	}
	for _, e := range engines() {
		d := describe(e)
		switch {
		case d.Mode == filewise.External:
		case d.Mode == filewise.Managed && machine.PrivateServers() != nil:
			add("engine "+e.Name(), filewise.StatusNote, "no private server on this system", "name a server of yours: --target URL")
		case d.Missing != "":
			add("engine "+e.Name(), filewise.StatusNote, "not installed", d.Missing)
		default:
			add("engine "+e.Name(), filewise.StatusOK, here(d), "")
		}
	}
	for _, t := range tools {
		if path, err := exec.LookPath(t.program); err == nil {
			add("tool "+t.program, filewise.StatusOK, path, "")
		} else {
			add("tool "+t.program, filewise.StatusNote, "not installed ("+t.use+")", "apt-get install "+t.brings)
		}
	}
	return out
}

// volumeFinding is about one volume: whether it can be used, and its room.
func volumeFinding(v filewise.Volume) filewise.Finding {
	f := filewise.Finding{Check: "volume " + v.Name, Status: filewise.StatusOK}
	fail := func(err error) filewise.Finding {
		f.Status, f.Detail, f.Remedy = filewise.StatusFailed, err.Error(), filewise.RemedyOf(err)
		return f
	}
	if err := usable(v); err != nil {
		return fail(err)
	}
	free, err := machine.Free(v.Dir)
	if err != nil {
		return fail(err)
	}
	var parts []string
	if d, err := machine.DeviceOf(v.Dir); err == nil {
		parts = append(parts, d.Mount.Type)
		if d.Name != "" {
			parts = append(parts, "on "+d.String())
		}
	}
	parts = append(parts, humanize.IBytes(uint64(free))+" free")
	f.Detail = fmt.Sprintf("%s: %s", v.Dir, strings.Join(parts, ", "))
	if free < reserve {
		return fail(filewise.Errorf(filewise.CodePreflight, "free space there, or name another --volume", "%s; %s are left free by every run", f.Detail, humanize.IBytes(reserve)))
	}
	return f
}
