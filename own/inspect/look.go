package inspect

import (
	"context"
	_ "embed"
	"errors"
	"runtime"

	"filewise"
	"filewise/host/machine"
	"filewise/run"
)

// The SQL of each engine, in named sections.
var (
	//go:embed innodb.sql
	innodbSQL string
	//go:embed oracle.sql
	oracleSQL string
	//go:embed postgres.sql
	postgresSQL string
	//go:embed sqlserver.sql
	sqlserverSQL string
)

// products holds each engine's SQL and the reader of its answers, by the engine's name.
var products = map[string]struct {
	SQL  string
	look func(context.Context, *asker)
}{
	"mariadb": {innodbSQL, lookInnoDB}, "mysql": {innodbSQL, lookInnoDB}, "oracle": {oracleSQL, lookOracle},
	"postgres": {postgresSQL, lookPostgres}, "sqlserver": {sqlserverSQL, lookSQLServer},
}

// SQL returns an engine's SQL, in named sections.
func SQL(engine string) string { return products[engine].SQL }

// Look reads the facts of an existing server, or of an embedded engine's files, and adds this machine's. Nothing is
// written. A question without an answer is recorded as a gap. Look returns an error only if the target does not open.
func Look(ctx context.Context, e filewise.Engine, t filewise.Target) (filewise.Inspection, error) {
	i, err := run.Look(ctx, t, func(ctx context.Context) (filewise.Inspection, error) { return Facts(ctx, e, t) })
	if err == nil {
		addMachine(&i)
	}
	return i, err
}

// Facts reads what Look reads, without this machine's facts.
func Facts(ctx context.Context, e filewise.Engine, t filewise.Target) (filewise.Inspection, error) {
	if e.Name() == "sqlite" {
		return lookSQLite(ctx, t)
	}
	a, ok := e.(filewise.Asker)
	if !ok || products[e.Name()].look == nil {
		return filewise.Inspection{}, filewise.Errorf(filewise.CodeUsage, "see filewise engines", "%s cannot be inspected: %w",
			e.Name(), filewise.ErrUnsupported)
	}
	opened, err := run.Ask(ctx, t, "a session", func(ctx context.Context) (filewise.Asked, error) { return a.Ask(ctx, t, SQL(e.Name())) },
		func(late filewise.Asked) { _ = late.Close() })
	if err != nil {
		return filewise.Inspection{}, err
	}
	defer opened.Close()
	return Ask(ctx, e.Name(), opened), nil
}

// Ask sends all questions in a session that is already open.
func Ask(ctx context.Context, engine string, in filewise.Asked) filewise.Inspection {
	i := newAsker(in.Remedy)
	i.engine, i.in = engine, in
	i.Local = in.About().Local
	products[engine].look(ctx, i)
	return *i.Inspection
}

// asker sends questions to a server one after the other. A question without an answer is recorded as a gap, and the
// rest goes on.
type asker struct {
	*filewise.Inspection
	engine string
	in     filewise.Asked
	remedy func(error) string
}

func newAsker(remedy func(error) string) *asker {
	return &asker{Inspection: &filewise.Inspection{Figures: map[string]float64{}, Settings: map[string]string{}}, remedy: remedy}
}

// ask runs a question's queries with a time limit, and records a gap if they fail.
func (a *asker) ask(ctx context.Context, question string, do func(context.Context) error) {
	limited, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	err := do(limited)
	if err == nil {
		return
	}
	why, remedy := err.Error(), a.remedy(err)
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		why = "no answer within " + filewise.AskPatience.String() + ", so it was given up: " + why
		remedy = "run the command again when no one changes the catalogue"
	}
	a.lack(question, why, remedy)
}

// lack records a question without an answer as a gap.
func (a *asker) lack(question, why, remedy string) {
	a.Gaps = append(a.Gaps, filewise.Gap{Question: question, Why: why, Remedy: remedy})
}

// place is a file's place in the inspection: the index of its group, and its own within the group.
type place struct{ group, file int }

// addFile adds a file to the group with g's name. If there is none, it adds g first.
func (a *asker) addFile(g filewise.FileGroup, f filewise.FileInspect) place {
	n := len(a.Groups) - 1
	for n >= 0 && a.Groups[n].Name != g.Name { // mostly the last group matches
		n--
	}
	if n < 0 {
		n = len(a.Groups)
		a.Groups = append(a.Groups, g)
	}
	of := &a.Groups[n]
	of.Files = append(of.Files, f)
	return place{n, len(of.Files) - 1}
}

// group returns the group of a file that was added.
func (a *asker) group(at place) *filewise.FileGroup { return &a.Groups[at.group] }

// file returns a file that was added.
func (a *asker) file(at place) *filewise.FileInspect { return &a.Groups[at.group].Files[at.file] }

// sums reads the sums of waits.
func (a *asker) sums(ctx context.Context) error {
	all, err := a.in.Waits(ctx)
	a.Waits = append(a.Waits, all...)
	return err
}

// rows executes a section of the engine's SQL, and returns its rows.
func (a *asker) rows(ctx context.Context, section string, args ...any) ([]filewise.Row, error) {
	return a.in.Rows(ctx, section, nil, args...)
}

// addMachine adds facts that the server does not return, if it runs on this host: the cores, and the devices below the
// files.
func addMachine(i *filewise.Inspection) {
	if !i.Local {
		return
	}
	if i.Cores == 0 {
		i.Cores = runtime.NumCPU()
	}
	devices := map[string]string{}
	under := func(dir, reported string) string {
		if dir == "" || reported != "" {
			return reported
		}
		name, known := devices[dir]
		if !known {
			if d, err := machine.DeviceOf(dir); err == nil {
				name = d.String()
			}
			devices[dir] = name
		}
		return name
	}
	for n := range i.Places {
		i.Places[n].Device = under(i.Places[n].Path, i.Places[n].Device)
	}
	for g := range i.Groups {
		for n := range i.Groups[g].Files {
			file := &i.Groups[g].Files[n]
			file.Device = under(file.Dir, file.Device)
		}
	}
}
