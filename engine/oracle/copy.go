package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sijms/go-ora/v2/configurations"

	"filewise"
	"filewise/engine/internal/dumpfile"
	"filewise/engine/oracle/dialect"
	"filewise/internal/marker"
)

// A build that is filled from a dump is a copy of a schema. Its user has the build's name, and its marker is the
// tablespace's. See the sections copy-… of server.sql.

func (d *design) isCopy() bool { return d.program.Restored() }

// checkCopy refuses layouts that a copy cannot have, and adds warnings about a copy.
func (d *design) checkCopy() (err error) {
	if d.apart() {
		return absent("leave --indexes out", "indexes apart in a copy of a schema on oracle, whose segments all go to its user's tablespace")
	}
	if d.dump, err = parseDump(d.program.Custom.From); err != nil {
		return err
	}
	if d.dump.Taken {
		d.dump.File = marker.PlanName + ".dmp"
		d.warn("copy-export", "remove it on the server's host if a run is killed: "+marker.PlanName+".dmp has another name in each run",
			"schema %s is exported once, as of one moment, to a file in directory %s, which goes with the run", d.dump.Schema, d.dump.Directory)
	}
	d.warn("copy-rights", d.dump.Grants("the account")+": on a server for tests",
		"a dump is imported into a user that the run creates and drops, for which the account needs a role that may alter every schema")
	d.warn("copy-attributes", "", "PCTFREE, INITRANS, compression and partitions' tablespaces are not the dump's, and nothing of its "+
		"users, grants, jobs and links is imported")
	return nil
}

func (d *design) copyVars() vars {
	return vars{"Tablespace": d.names.Tablespace, "Password": d.names.Password, "Job": d.names.Tablespace + copyJob,
		"Directory": d.dump.Directory, "File": d.dump.File, "Schema": d.dump.Schema}
}

// copy adds the steps of a copy: the export if Filewise makes the dump, the user, the user's right to connect, and the
// import.
func (s stepper) copy() {
	if s.d.dump.Taken {
		s.server(filewise.StageBuild, inTablespace+s.d.names.Tablespace, "copy-export", s.d.copyVars())
	}
	for _, section := range []string{"copy-user", "copy-may-connect", "copy-import"} {
		s.server(filewise.StageBuild, inTablespace+s.d.names.Tablespace, section, s.d.copyVars())
	}
}

// copied holds the sessions of a copy's user. If it has no pool, the build is no copy.
type copied struct {
	pool *pool
	held held // for checks
}

// enter signs in as the copy's user, who executes the whole workload, and compares the copy with the first one.
func (b *build) enter(ctx context.Context) (err error) {
	s, d := b.server, b.design
	c := *s.config
	c.UserID, c.Password, c.AuthType, c.AuthService, c.ProxyClientName = d.names.Tablespace, d.names.Password, configurations.Normal, nil, ""
	b.copy.pool = newPool(&c, append(s.target.Address.Hidden(), filewise.Secret(d.names.Password)))
	if b.copy.held, err = b.copy.pool.connection(ctx, d.names.Tablespace, "copy"); err != nil {
		return err
	}
	return b.compare(ctx, b.copy.held)
}

// compare refuses a copy that differs from the first one or is not in its place.
func (b *build) compare(ctx context.Context, user client) error {
	name := b.design.names.Tablespace
	strays, err := rows(ctx, b.conn, 2, "copy-elsewhere", nil, name, name)
	if err != nil {
		return err
	}
	if len(strays) > 0 {
		return absent("leave it out of the dump", "%s of the dump lies in tablespace %s, but the layout places it elsewhere", text(strays[0][0]),
			text(strays[0][1]))
	}
	sums, err := sumsOf(ctx, user)
	if err != nil {
		return fmt.Errorf("comparing the copy: %w", err)
	}
	has := func(table string) bool {
		return sums[table] != "" || sums[folded(userNames{}.Plain().Words(table)[0])] != ""
	}
	if err := dumpfile.CheckTables(b.design.program.Custom, has, ""); err != nil {
		return err
	}
	return b.server.first.compare(sums)
}

// sumsOf returns the number of rows and the sum of their hashes, by table.
func sumsOf(ctx context.Context, user client) (map[string]string, error) {
	found, err := rows(ctx, user, 3, "copy-columns", nil)
	if err != nil {
		return nil, err
	}
	columns := make([][3]string, len(found))
	for i, r := range found {
		columns[i] = [3]string{text(r[0]), text(r[1]), text(r[2])}
	}
	tables, err := dumpTables(columns, dialect.Name)
	sums := map[string]string{}
	for _, t := range tables {
		if err != nil {
			break
		}
		var r [][]any
		if r, err = rows(ctx, user, 2, "copy-sum", vars{"Table": t.Name, "Hashed": t.Hashed}); err == nil && len(r) == 1 {
			sums[t.Name] = text(r[0][0]) + " " + text(r[0][1])
		}
	}
	return sums, err
}

// taken holds the dump that Filewise exports once for all builds on a server.
type taken struct {
	mu          sync.Mutex
	dump        dump
	begun, done bool
}

// name sets the dump's name in this run.
func (t *taken) name(d *dump) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !d.Taken {
		return
	}
	if t.dump.File == "" {
		t.dump = *d
		t.dump.File = marker.NewName() + ".dmp"
	}
	d.File = t.dump.File
}

// once exports the dump once. If an export failed, it exports again.
func (t *taken) once(ctx context.Context, c client, export func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return nil
	}
	if t.begun {
		_ = t.unlink(ctx, c) // the file may not exist
	}
	t.begun = true
	err := export()
	t.done = err == nil
	return err
}

func (t *taken) unlink(ctx context.Context, c client) error {
	return exec(ctx, c, "copy-unlink", vars{"File": t.dump.File, "Directory": t.dump.Directory})
}

// remove removes the exported dump.
func (t *taken) remove(ctx context.Context, c client) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun {
		return nil
	}
	err := t.unlink(ctx, c)
	code, stays := codeOf(err), "stays"
	switch {
	case err == nil, !t.done && (code == errNoFile || code == errNoFileName):
		return nil
	case !t.done:
		stays = "may stay"
	}
	return filewise.Errorf(filewise.CodeTrials, "remove it on the server's host; with EXECUTE ON SYS.UTL_FILE Filewise does",
		"dump %s %s in directory %s: %w", t.dump.File, stays, t.dump.Directory, err)
}

// firstCopy holds the sums of the first copy on a server.
type firstCopy struct {
	mu   sync.Mutex
	sums map[string]string
}

func (f *firstCopy) compare(sums map[string]string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sums == nil {
		f.sums = sums
	}
	return same(f.sums, sums)
}

// close ends the sessions.
func (c *copied) close() error {
	if c.pool == nil {
		return nil
	}
	if c.held.close != nil {
		_ = c.held.close() // if it broke, it is gone either way
	}
	err := c.pool.close()
	c.pool = nil
	return err
}

// workers returns the pool for the workload: the copy's user's, or the account's.
func (b *build) workers() *pool {
	if b.copy.pool != nil {
		return b.copy.pool
	}
	return b.server.pool
}

// reader returns a client that can read the workload's tables.
func (b *build) reader() client {
	if b.copy.pool != nil {
		return b.copy.held
	}
	return b.conn
}

// sessionsEnd limits how long the server can take to end the sessions of a copy's user.
const sessionsEnd = 30 * time.Second

// dropCopy ends a copy's import if it still runs, and drops the copy's user.
func (m markers) dropCopy(ctx context.Context, name string) error {
	job := name + copyJob
	for _, x := range []struct{ look, act, of string }{{"copy-jobs", "copy-stop", job}, {"copy-users", "copy-drop-user", name}} {
		there, err := rows(ctx, m, 1, x.look, nil, x.of)
		if err != nil || len(there) == 0 {
			if err != nil {
				return err
			}
			continue
		}
		for until := time.Now().Add(sessionsEnd); ; {
			err = m.alterBy(ctx, name, x.act, vars{"Job": job})
			if codeOf(err) != errConnected || time.Now().After(until) {
				break
			}
			select {
			case <-ctx.Done():
				return errors.Join(context.Cause(ctx), err)
			case <-time.After(200 * time.Millisecond):
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dump checks that the account can import the dump for the builds.
func (e *examination) dump(ctx context.Context) {
	if !e.Demand.Program.Restored() {
		return
	}
	const check = "dump"
	dump, err := parseDump(e.Demand.Program.Custom.From)
	if err != nil {
		e.Fail(check, filewise.RemedyOf(err), "%v", err)
		return
	}
	account := e.server.about.account
	for _, role := range dump.Roles() {
		if there, err := rows(ctx, e.client, 1, "copy-role", nil, role); err == nil && len(there) == 0 {
			e.Fail(check, dump.Grants(account), "account %s lacks the role %s, without which no account takes the schema of another along", account,
				role)
		}
	}
	there, err := rows(ctx, e.client, 1, "copy-directory", nil, dump.Directory)
	switch {
	case err != nil:
		e.Unseen(check, err)
		return
	case len(there) == 0:
		e.Fail(check, "CREATE DIRECTORY "+dump.Directory+" AS 'its path on the server'; "+dump.Grants(account),
			"there is no directory object %s that account %s sees", dump.Directory, account)
		return
	}
	if dump.Taken {
		if there, err := rows(ctx, e.client, 1, "copy-users", nil, dump.Schema); err == nil && len(there) == 0 {
			e.Fail(check, "name a user whose objects are to be copied", "there is no schema %s", dump.Schema)
		}
		return
	}
	if err := exec(ctx, e.client, "copy-dump", vars{"File": dump.First(), "Directory": dump.Directory}); err != nil {
		e.Fail(check, "name a file that expdp has written, as "+dumpForm+"; "+dump.Grants(account), "%s in %s: %v", dump.First(),
			dump.Directory, err)
		return
	}
	e.OK(check, "%s is a dump of Data Pump; that schema %s is in it is seen when it is imported", dump.First(), dump.Schema)
}
