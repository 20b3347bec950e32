package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/host/machine"
	"filewise/host/scratch"
	"filewise/internal/filesystem"
	"filewise/results/store"
	"filewise/run"
	"filewise/run/plan"
)

// tools lists programs that Filewise uses if they are installed, and the packages that bring them.
var tools = []struct{ program, brings, use string }{
	{"fio", "fio", "the storage's own limit"},
	{"mariadb-backup", "mariadb-backup", "backups of MariaDB"},
	{"mydumper", "mydumper", "dumps of MariaDB and MySQL"},
	{"pg_basebackup", "postgresql-client", "backups of PostgreSQL"},
	{"pgbackrest", "pgbackrest", "backups of PostgreSQL by several processes"},
}

// Machine checks this machine, the volumes, and which engines are installed.
func Machine(ctx context.Context, engines plan.Engines, volumes []filewise.Volume) []filewise.Finding {
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
	for _, place := range []struct {
		check string
		dir   func() (string, error)
	}{{"state directory", scratch.StateDir}, {"store", storeDir}} {
		dir, err := place.dir()
		if err == nil {
			err = writable(dir, "free space and grant rights there, or set FILEWISE_STATE and FILEWISE_STORE to directories of yours")
		}
		if err != nil {
			add(place.check, filewise.StatusFailed, err.Error(), filewise.RemedyOf(err))
		}
	}
	if err := alone(); err != nil {
		add("store", filewise.StatusWarning, err.Error(), filewise.RemedyOf(err))
	}
	for _, v := range volumes {
		out = append(out, volumeFinding(v))
	}
	for _, w := range machine.Warnings(volumes) {
		add("volumes", filewise.StatusWarning, w.Message, w.Remedy)
	}
	for _, e := range engines {
		if d := e.Describe(); d.Mode != filewise.External {
			out = append(out, engineFinding(e.Name(), d))
		}
	}
	if machine.ManagedServers() != nil { // only managed servers need these programs
		add("tools", filewise.StatusNote, "not looked for on this system", "DiskSpd, from Microsoft, measures the storage")
		return out
	}
	for _, t := range tools {
		if path, err := exec.LookPath(t.program); err == nil {
			add("tool "+t.program, filewise.StatusOK, path, "")
		} else {
			add("tool "+t.program, filewise.StatusNote, "not installed ("+t.use+")", machine.Install(t.brings))
		}
	}
	return out
}

func storeDir() (string, error) {
	path, err := store.DefaultPath()
	return filepath.Dir(path), err
}

// alone returns nil if no other user can read the store, or if there is no store.
func alone() error {
	path, err := store.DefaultPath()
	if err != nil {
		return nil //nolint:nilerr // the finding about the directory reports it
	}
	f, err := filesystem.OpenSecret(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return filewise.Errorf(filewise.CodePreflight, filesystem.SecretRemedy(path, err), "%w", err)
	}
	return f.Close()
}

// writable returns nil if files can be created in the directory. Its error has code preflight.
func writable(dir, remedy string) error {
	if err := filesystem.Writable(dir); err != nil {
		return filewise.Errorf(filewise.CodePreflight, remedy, "%s: %w", dir, err)
	}
	return nil
}

// engineFinding reports whether Filewise can start an engine here.
func engineFinding(name string, d filewise.Description) filewise.Finding {
	f := filewise.Finding{Check: "engine " + name, Status: filewise.StatusNote}
	switch {
	case d.Mode == filewise.Managed && machine.ManagedServers() != nil:
		f.Detail, f.Remedy = "no managed server on this system", "name a server of yours: --target URL"
	case d.Missing != "":
		f.Detail, f.Remedy = "not installed", d.Missing
	default:
		f.Status, f.Detail = filewise.StatusOK, Here(d)
	}
	return f
}

// Here describes the use of an engine on this machine.
func Here(d filewise.Description) string {
	switch {
	case d.Mode == filewise.External || d.Mode == filewise.Managed && machine.ManagedServers() != nil:
		return "by URL"
	case d.Missing != "":
		return "missing"
	case d.Mode == filewise.Embedded:
		return "built in"
	}
	return "installed"
}

// volumeFinding reports whether a volume can be used, and its free space.
func volumeFinding(v filewise.Volume) filewise.Finding {
	f := filewise.Finding{Check: "volume " + v.Name, Status: filewise.StatusOK}
	fail := func(err error) filewise.Finding {
		f.Status, f.Detail, f.Remedy = filewise.StatusFailed, err.Error(), filewise.RemedyOf(err)
		return f
	}
	if err := run.Usable(v); err != nil {
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
	if free < run.Reserve {
		return fail(filewise.Errorf(filewise.CodePreflight, "free space there, or name another --volume", "%s; %s are left free by every run",
			f.Detail, humanize.IBytes(run.Reserve)))
	}
	return f
}
