package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/mark"
)

// foreignServer is an existing server. Nothing but databases (and tablespaces)
// under Filewise's own names, with its mark, is ever made or dropped there.
type foreignServer struct {
	target  filewise.Target
	link    *link
	about   about
	mu      sync.Mutex
	builds  map[string]*build // by database
	created map[int]string    // tablespaces by volume
}

// openExternal connects and looks; nothing is changed.
func openExternal(ctx context.Context, t filewise.Target) (_ filewise.Server, err error) {
	if err := checkExternal(t); err != nil {
		return nil, err
	}
	config, err := configOf(*t.Address)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams = sessionSettings(t, 0)
	hidden := t.Address.Hidden()
	hidden = append(hidden, filewise.Secret(config.Password))
	s := &foreignServer{target: t, builds: map[string]*build{}, created: map[int]string{}}
	s.link = newLink(config, func(err error) error { return filewise.HideIn(classify(err), hidden...) })
	defer func() {
		if err != nil {
			s.link.close()
		}
	}()
	if s.about, err = lookAround(ctx, s.link); err != nil {
		return nil, connectError(t.Address.String(), err)
	}
	if err := s.about.fit(); err != nil {
		return nil, err
	}
	config.RuntimeParams = sessionSettings(t, s.about.version)
	s.link.forget() // the next connections have all settings of this version
	return s, s.checkTablespaces(ctx)
}

// connectError says what to do about a server that does not let Filewise in.
func connectError(url string, err error) error {
	remedy := "look at host, port and the server's log"
	switch code := codeOf(err); {
	case code == codePassword || code == codeNoAccess:
		remedy = "look at user and password, and at the server's pg_hba.conf"
	case code == codeNoDatabase:
		remedy = "name a database that exists and that the account may connect to: …/DATABASE"
	case strings.Contains(err.Error(), "unsupported startup parameter"):
		return filewise.Errorf(filewise.CodePreflight, "connect to PostgreSQL itself, not through the pooler", "%s is a connection pooler, whose sessions are not the server's: %w", url, err)
	case strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "tls"):
		remedy = "look at sslmode, sslrootcert, sslcert and sslkey in the URL"
	}
	return filewise.Errorf(filewise.CodePreflight, remedy, "%s: %w", url, err)
}

// tablespacePrefix begins the Dir of a volume that is an existing tablespace.
const tablespacePrefix = "tablespace:"

// checkExternal refuses what no external server can be asked for.
func checkExternal(t filewise.Target) error {
	if t.Address == nil {
		return filewise.Errorf(filewise.CodeUsage, "give --target postgres://USER@HOST/DATABASE", "there is no address of an external server")
	}
	if len(t.Settings) > 0 {
		return filewise.Errorf(filewise.CodeUsage, "leave --set out", "settings of an external server are never changed: %w", filewise.ErrUnsupported)
	}
	for _, v := range t.Volumes {
		name, existing := strings.CutPrefix(v.Dir, tablespacePrefix)
		switch {
		case v.Dir == "":
		case existing:
			if err := checkName("tablespace", name); err != nil {
				return err
			}
			if name == "pg_global" {
				return filewise.Errorf(filewise.CodeUsage, "name another", "tablespace pg_global is PostgreSQL's own")
			}
		case !path.IsAbs(v.Dir) || strings.ContainsAny(v.Dir, "'\x00\n\r"):
			return filewise.Errorf(filewise.CodeUsage, "give tablespace:NAME for an existing one, or an absolute path on the server",
				"volume %s of an external server: %q is neither a tablespace nor a directory", v.Name, v.Dir)
		}
	}
	return checkPlaces(t)
}

// checkPlaces refuses volumes that are one place: there is room for one tablespace
// in a directory, and between two names for one nothing would differ.
func checkPlaces(t filewise.Target) error {
	names := make(map[string]string)
	for _, v := range t.Volumes {
		place := path.Clean(v.Dir)
		if v.Dir == "" { // where databases lie that say nothing
			place = tablespacePrefix + "pg_default"
		}
		if other, taken := names[place]; taken {
			return filewise.Errorf(filewise.CodeUsage, "name another place, or leave one of them out", "volume %s, %q, is the same place as volume %s", v.Name, v.Dir, other)
		}
		names[place] = v.Name
	}
	return nil
}

// nameOf is the tablespace of a volume; plan stands for one that is yet to be made.
func nameOf(t filewise.Target, plan func(i int) string) func(int) string {
	return func(i int) string {
		dir := t.Volumes[i].Dir
		if name, existing := strings.CutPrefix(dir, tablespacePrefix); existing || dir == "" {
			return name
		}
		return plan(i)
	}
}

// externalDesign is a layout's design on an external server.
func externalDesign(t filewise.Target, l filewise.Layout, p filewise.Program, version int, plan func(int) string) (*design, error) {
	if err := checkExternal(t); err != nil {
		return nil, err
	}
	if l.LogVolume != "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "leave the log volume out", "%w", errLogApart)
	}
	return newDesign(t, l, p, version, nameOf(t, plan))
}

var errLogApart = fmt.Errorf("where the WAL lies is decided for the whole server, which Filewise never changes: %w", filewise.ErrUnsupported)

// Facts are what the server is and the settings that decide what is measured.
func (s *foreignServer) Facts(ctx context.Context) ([]filewise.Fact, error) {
	values, err := settingsOf(ctx, s.link, append(telling[:len(telling):len(telling)], "shared_buffers", "max_wal_size", "max_connections")...)
	if err != nil {
		return nil, err
	}
	facts := []filewise.Fact{{Name: "server", Value: "external, " + s.target.Address.String()}, {Name: "version", Value: s.about.banner}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		facts = append(facts, filewise.Fact{Name: name, Value: values[name]})
	}
	return append(facts, ofOrders), nil
}

// Offers says why a capability is absent.
func (s *foreignServer) Offers() map[filewise.Capability]error {
	all := offers()
	no := func(why string) error {
		return filewise.Errorf(filewise.CodeUsage, "use a managed server (--engine postgres)", "%s: %w", why, filewise.ErrUnsupported)
	}
	all[filewise.CanVolumes] = nil
	all[filewise.CanLogApart] = filewise.Errorf(filewise.CodeUsage, "use a managed server (--engine postgres)", "%w", errLogApart)
	all[filewise.CanBackup] = filewise.Errorf(filewise.CodeUsage, "use a managed server (--engine postgres)", "%w", errForeignBackup)
	all[filewise.CanRestart] = no("an external server is never restarted")
	all[filewise.CanReset] = no("a reset copies files of a stopped server, and an external one is never stopped")
	return all
}

// Build creates a database under a new name, marks it, and makes the program's
// tables in it.
func (s *foreignServer) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	d, err := externalDesign(s.target, l, p, s.about.version, func(int) string { return mark.PlanName })
	if err != nil {
		return nil, err
	}
	if err := s.makeTablespaces(ctx, d); err != nil {
		return nil, err
	}
	if d, err = externalDesign(s.target, l, p, s.about.version, func(i int) string { return s.created[i] }); err != nil {
		return nil, err
	}
	name, err := s.createDatabase(ctx, p.Own != nil)
	if err != nil {
		return nil, err
	}
	b := &build{design: d, version: s.about.version, sees: s.about.monitor, link: s.link.to(name), host: s, checkpoint: s.about.checkpoint}
	b.link.config.RuntimeParams = d.workloadSettings(b.link.config.RuntimeParams)
	s.mu.Lock()
	s.builds[name] = b
	s.mu.Unlock()
	create, err := d.create()
	if err == nil {
		err = b.link.exec(ctx, create...)
	}
	if err != nil {
		return nil, errors.Join(err, s.drop(name))
	}
	return b.database(foreignDropper{s, name}), nil
}

// makePatience bounds what must not be given up halfway: the server would go on
// creating a database whose client has left.
const makePatience = 5 * time.Minute

// createDatabase creates an empty database and marks it at once.
// One for SQL of the user's own says so in its mark.
func (s *foreignServer) createDatabase(ctx context.Context, custom bool) (string, error) {
	name := mark.NewName()
	m, err := mark.New(name, time.Now())
	if err != nil {
		return "", filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	if custom {
		m = m.ForCustom()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), makePatience)
	defer cancel()
	err = s.making(ctx, name, createDatabase(name), commentDatabase(name, m), "DROP DATABASE "+ident(name))
	if codeOf(err) == codeNoRight {
		err = filewise.Errorf(filewise.CodePreflight, "as a superuser: ALTER ROLE "+ident(s.about.user)+" CREATEDB", "%w", err)
	}
	if err != nil {
		return "", err
	}
	return name, nil
}

// making creates an object and marks it at once, in a session that says so by its
// name: what carries no mark although no session does is what a killed run left.
func (s *foreignServer) making(ctx context.Context, name, create, mark, drop string) error {
	return s.link.with(ctx, func(conn *pgx.Conn) error {
		exec := func(statement string, args ...any) error {
			_, err := conn.Exec(ctx, statement, args...)
			return s.link.done(ctx, statement, err)
		}
		if err := exec(announce, appName()+" creating "+name); err != nil {
			return err
		}
		err := exec(create)
		if err == nil {
			if err = exec(mark); err != nil {
				// It was created just now, under a name that nobody else gives.
				err = errors.Join(err, exec(drop))
			}
		}
		if unsaid := exec(announce, appName()); unsaid != nil {
			_ = conn.Close(context.WithoutCancel(ctx)) // its name ends with it
		}
		return err
	})
}

func createDatabase(name string) string {
	return "CREATE DATABASE " + ident(name) + " TEMPLATE template0"
}

func commentDatabase(name string, m mark.Mark) string {
	return "COMMENT ON DATABASE " + ident(name) + " IS " + literal(m.Text())
}

type foreignDropper struct {
	server *foreignServer
	name   string
}

// Drop drops the build's database, after a look at its mark; twice is harmless.
func (d foreignDropper) Drop(context.Context) error { return d.server.drop(d.name) }

func (s *foreignServer) drop(name string) error {
	s.mu.Lock()
	b := s.builds[name]
	s.mu.Unlock()
	if b != nil {
		b.close()
	}
	// Also when the run is interrupted, nothing of it stays.
	ctx, cancel := context.WithTimeout(context.Background(), makePatience)
	defer cancel()
	if err := s.dropMarked(ctx, kindDatabase, name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.builds, name)
	return nil
}

// Close drops what was built and not dropped, and ends the connections.
func (s *foreignServer) Close() error {
	s.mu.Lock()
	left := slices.Sorted(maps.Keys(s.builds))
	spaces := slices.Sorted(maps.Values(s.created))
	s.mu.Unlock()
	var errs []error
	for _, name := range left {
		errs = append(errs, s.drop(name))
	}
	ctx, cancel := context.WithTimeout(context.Background(), makePatience)
	defer cancel()
	for _, name := range spaces {
		errs = append(errs, s.dropMarked(ctx, kindTablespace, name))
	}
	s.mu.Lock()
	clear(s.created)
	s.mu.Unlock()
	s.link.close()
	return errors.Join(errs...)
}

// died: whether a foreign server runs shows when it is asked.
func (s *foreignServer) died() bool { return false }

// sync: a checkpoint has synced, unless the server is told never to.
func (s *foreignServer) sync(context.Context, *build) error { return nil }

// files are the relations as the server names them; where it is on this host and
// lets them be read, their sizes are the file system's.
func (s *foreignServer) files(_ context.Context, _ *build, relations []relation) ([]filewise.File, error) {
	var all []filewise.File
	for _, r := range relations {
		name := s.pathOf(r)
		if s.about.dataDir != "" && s.about.local {
			if f, err := statRelation(r, name); err == nil {
				all = append(all, f)
				continue
			}
		}
		all = append(all, r.file(name))
	}
	return all, nil
}

// pathOf is where a relation lies on the server, where the account may know.
func (s *foreignServer) pathOf(r relation) string {
	if s.about.dataDir == "" {
		return r.path
	}
	return path.Join(s.about.dataDir, r.path)
}

// logPath: where the WAL lies is not looked for.
func (s *foreignServer) logPath() string { return "" }

// externalScript says what a build on an external server would execute. It
// connects to nothing.
func externalScript(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	d, err := externalDesign(t, l, p, versionOldest, func(int) string { return mark.PlanName })
	if err != nil {
		return filewise.Script{}, err
	}
	s := script{filewise.Script{Warnings: d.warnings, Files: d.asked(""), Space: d.space()}}
	s.Files = append(s.Files, (&foreignServer{target: t}).temps(&build{design: d})...)
	for _, n := range d.used() {
		if path.IsAbs(t.Volumes[n].Dir) {
			s.add(filewise.StageBuild, "server", createTablespace(mark.PlanName, t.Volumes[n].Dir), "COMMENT ON TABLESPACE "+ident(mark.PlanName)+" IS '…'")
		}
	}
	s.add(filewise.StageBuild, "server", createDatabase(mark.PlanName), "COMMENT ON DATABASE "+ident(mark.PlanName)+" IS '…'")
	create, err := d.create()
	if err != nil {
		return filewise.Script{}, err
	}
	s.add(filewise.StageBuild, "database "+mark.PlanName, create...)
	if err := s.work(d, true); err != nil {
		return filewise.Script{}, err
	}
	s.add(filewise.StageDrop, "server", readMark(kindDatabase), "DROP DATABASE "+ident(mark.PlanName))
	return s.Script, nil
}
