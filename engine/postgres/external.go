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
	"filewise/engine/internal/builds"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/internal/marker"
)

// externalServer is a server that exists without Filewise. Filewise makes and drops only databases and tablespaces
// there, under its own names and with its marker.
type externalServer struct {
	target  filewise.Target
	link    *client.Link
	about   about
	builds  builds.Open[*build]
	mu      sync.Mutex
	created map[int]string // tablespaces that Filewise made, by volume
}

// openExternal connects and reads what the server is. It changes nothing.
func openExternal(ctx context.Context, t filewise.Target) (_ filewise.Server, err error) {
	if err := checkExternal(t); err != nil {
		return nil, err
	}
	s := &externalServer{target: t, created: map[int]string{}}
	if s.link, err = client.Open(*t.Address, s.sessionSettings()); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.link.Close()
		}
	}()
	if s.about, err = lookAround(ctx, s.link); err != nil {
		return nil, client.ConnectError(t.Address.String(), err)
	}
	if err := s.about.fit(); err != nil {
		return nil, err
	}
	s.link.Config.RuntimeParams = s.sessionSettings()
	s.link.Forget() // new connections get the settings of the server's version
	return s, s.checkTablespaces(ctx)
}

// sessionSettings returns the settings of every session. Before the server's version is known, they are incomplete.
func (s *externalServer) sessionSettings() map[string]string {
	all := client.SessionSettings(s.about.version)
	all["synchronous_commit"] = durabilities[s.target.Durability][1]
	return all
}

// checkExternal refuses what an external server cannot do.
func checkExternal(t filewise.Target) error {
	if t.Address == nil {
		return filewise.Errorf(filewise.CodeUsage, "give --target postgres://USER@HOST/DATABASE", "there is no address of an external server")
	}
	if len(t.Settings) > 0 {
		return refuse("leave --set out", "settings of an external server are never changed")
	}
	for _, v := range t.Volumes {
		name, existing := strings.CutPrefix(v.Dir, dialect.TablespacePrefix)
		switch {
		case v.Dir == "":
		case existing:
			if err := dialect.CheckName("tablespace", name); err != nil {
				return err
			}
			if name == "pg_global" {
				return filewise.Errorf(filewise.CodeUsage, "name another", "tablespace pg_global belongs to PostgreSQL")
			}
		case !path.IsAbs(v.Dir) || strings.ContainsAny(v.Dir, "'\x00\n\r"):
			return filewise.Errorf(filewise.CodeUsage, "give tablespace:NAME for an existing one, or an absolute path on the server",
				"volume %s of an external server: %q is neither a tablespace nor a directory", v.Name, v.Dir)
		}
	}
	return checkPlaces(t)
}

// checkPlaces refuses two volumes in the same place. A directory can hold only one tablespace, and two names for one
// place would make no difference.
func checkPlaces(t filewise.Target) error {
	names := make(map[string]string)
	for _, v := range t.Volumes {
		place := path.Clean(v.Dir)
		if v.Dir == "" { // the default tablespace
			place = dialect.TablespacePrefix + "pg_default"
		}
		if other, taken := names[place]; taken {
			return filewise.Errorf(filewise.CodeUsage, "name another location, or leave one of them out",
				"volume %s, %q, is the same location as volume %s", v.Name, v.Dir, other)
		}
		names[place] = v.Name
	}
	return nil
}

// nameOf returns a function that names the tablespace of a volume. For a tablespace that does not exist yet it calls
// plan.
func nameOf(t filewise.Target, plan func(i int) string) func(int) string {
	return func(i int) string {
		dir := t.Volumes[i].Dir
		if name, existing := strings.CutPrefix(dir, dialect.TablespacePrefix); existing || dir == "" {
			return name
		}
		return plan(i)
	}
}

// externalDesign resolves a layout on an external server.
func externalDesign(t filewise.Target, l filewise.Layout, p filewise.Program, version int, plan func(int) string) (*design, error) {
	if err := checkExternal(t); err != nil {
		return nil, err
	}
	if l.LogVolume != "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "leave the log volume out", "%w", errLogApart)
	}
	return newDesign(t, l, p, version, nameOf(t, plan))
}

var errLogApart = fmt.Errorf("where the WAL lies is decided for the whole server, which Filewise never changes: %w",
	filewise.ErrUnsupported)

// Lock takes the server's measuring lock. It first forgets idle connections: if an earlier lock was lost, they may be
// lost without notice.
func (s *externalServer) Lock(ctx context.Context, h filewise.Holder) (filewise.Lock, error) {
	s.link.Forget()
	for _, b := range s.builds.All() {
		b.link.Forget()
	}
	return takeLock(ctx, s.link, h)
}

// Facts returns facts about the server and the settings that affect what is measured.
func (s *externalServer) Facts(ctx context.Context) ([]filewise.Fact, error) {
	values, err := settingsOf(ctx, s.link, append(telling[:len(telling):len(telling)], "shared_buffers", "max_wal_size", "max_connections")...)
	if err != nil {
		return nil, err
	}
	now, err := lookAround(ctx, s.link) // the server may have been restarted, with another version
	if err != nil {
		return nil, err
	}
	facts := []filewise.Fact{{Name: "server", Value: "external, " + s.target.Address.String()}, {Name: "version", Value: now.banner}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		facts = append(facts, filewise.Fact{Name: name, Value: values[name]})
	}
	return append(facts, ofOrders), nil
}

// Offers explains why a capability is absent.
func (s *externalServer) Offers() map[filewise.Capability]error {
	all := offers()
	no := func(why string) error {
		return refuse("use a managed server (--engine postgres)", "%s", why)
	}
	all[filewise.CanLogApart] = filewise.Errorf(filewise.CodeUsage, "use a managed server (--engine postgres)", "%w", errLogApart)
	all[filewise.CanBackup] = filewise.Errorf(filewise.CodeUsage, "use a managed server (--engine postgres)", "%w", errExternalBackup)
	all[filewise.CanRestart] = no("an external server is never restarted")
	all[filewise.CanReset] = no("a reset copies files of a stopped server, and an external one is never stopped")
	return all
}

// Build creates a database under a new name, marks it, and makes the program's
// tables in it.
func (s *externalServer) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	d, err := externalDesign(s.target, l, p, s.about.version, func(int) string { return marker.PlanName })
	if err != nil {
		return nil, err
	}
	if err := s.makeTablespaces(ctx, d); err != nil {
		return nil, err
	}
	if d, err = externalDesign(s.target, l, p, s.about.version, func(i int) string { return s.created[i] }); err != nil {
		return nil, err
	}
	name, err := s.createDatabase(ctx, p.Custom != nil)
	if err != nil {
		return nil, err
	}
	d.database = name
	b := &build{design: d, version: s.about.version, sees: s.about.monitor, link: s.link.To(name), steps: d.externalSteps,
		on: "database " + name, host: s, checkpoint: s.about.checkpoint}
	b.link.Config.RuntimeParams = d.workloadSettings(b.link.Config.RuntimeParams)
	s.builds.Add(b)
	if err := b.create(ctx); err != nil {
		return nil, errors.Join(err, s.dropBuild(b))
	}
	db := b.database(func(context.Context) error { return s.dropBuild(b) })
	if l.AddedLater == "" && !p.Churns() { // otherwise only this process has the state of the build
		db.Shared = func() string { return name + " " + client.AppName() }
	}
	return db, nil
}

// Join implements filewise.Sharer. The sessions get the name of the process that made the build's sessions, which ends
// them all when it drops the build.
func (s *externalServer) Join(_ context.Context, l filewise.Layout, p filewise.Program, shared string) (filewise.Connector, func(), error) {
	name, app, ok := strings.Cut(shared, " ")
	if !ok || !marker.IsName(name) {
		return nil, nil, filewise.Errorf(filewise.CodeInternal, "", "build %q is none that others may join", shared)
	}
	d, err := externalDesign(s.target, l, p, s.about.version, func(int) string { return marker.PlanName })
	if err != nil {
		return nil, nil, err
	}
	b := &build{design: d, version: s.about.version, link: s.link.To(name), host: s}
	b.link.Config.RuntimeParams = d.workloadSettings(b.link.Config.RuntimeParams)
	b.link.Config.RuntimeParams["application_name"] = app
	return b, b.close, nil
}

// Now returns the time by the server's clock.
func (s *externalServer) Now(ctx context.Context) (at time.Time, err error) {
	err = s.link.Scan(ctx, "SELECT clock_timestamp()", nil, &at)
	return at, err
}

// makePatience limits work that must not be given up halfway: the server would go on creating a database after its
// client has left.
const makePatience = 5 * time.Minute

// createDatabase creates an empty database. The marker records whether it is for custom SQL.
func (s *externalServer) createDatabase(ctx context.Context, custom bool) (string, error) {
	name, err := s.make(ctx, kindDatabase, custom, createDatabase)
	if client.CodeOf(err) == client.CodeNoRight {
		err = filewise.Errorf(filewise.CodePreflight, "as a superuser: ALTER ROLE "+dialect.Ident(s.about.user)+" CREATEDB", "%w", err)
	}
	return name, err
}

// MakeDatabase creates an empty, marked database for custom SQL, with further clauses of CREATE DATABASE.
func (s *externalServer) MakeDatabase(ctx context.Context, with string) (string, error) {
	return s.make(ctx, kindDatabase, true, func(name string) string { return createDatabase(name) + with })
}

// DropDatabase drops a marked database.
func (s *externalServer) DropDatabase(ctx context.Context, name string) error {
	return s.dropMarked(ctx, kindDatabase, name)
}

// Link returns the link to the address's database.
func (s *externalServer) Link() *client.Link { return s.link }

// About returns facts about the server and the account.
func (s *externalServer) About() client.About {
	return client.About{Version: s.about.version, Banner: s.about.banner, User: s.about.user, Super: s.about.super,
		CreateDB: s.about.createdb}
}

// make creates an object under a new name and marks it at once. Meanwhile its session announces the object's name. So
// an unmarked object that no session announces was left by a killed run.
func (s *externalServer) make(ctx context.Context, kind string, custom bool, create func(name string) string) (string, error) {
	name := marker.NewName()
	text, err := marker.NewText(name, custom)
	if err != nil {
		return "", filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), makePatience)
	defer cancel()
	lost := false
	err = s.link.With(ctx, func(conn *pgx.Conn) error {
		exec := func(statement string, args ...any) error {
			_, err := conn.Exec(ctx, statement, args...)
			return s.link.Done(ctx, statement, err)
		}
		if err := exec(announce, creating(name)); err != nil {
			return err
		}
		err := exec(create(name))
		defer func() { lost = err != nil && conn.IsClosed() }()
		if err == nil {
			if err = exec(comment(kind, name, text)); err != nil {
				// The object was created just now, under a name that no one else gives.
				err = errors.Join(err, exec(drop(kind, name)))
			}
		}
		if failed := exec(announce, client.AppName()); failed != nil {
			_ = conn.Close(context.WithoutCancel(ctx)) // the session's announcement ends with it
		}
		return err
	})
	if lost {
		err = errors.Join(err, s.unmake(ctx, kind, name))
	}
	return name, err
}

// creating returns the application_name of a session that creates an object.
func creating(name string) string { return client.AppName() + " creating " + name }

func createDatabase(name string) string {
	return "CREATE DATABASE " + dialect.Ident(name) + " TEMPLATE template0"
}

// comment returns the statement that writes a marker's text as an object's comment.
func comment(kind, name, text string) string {
	return "COMMENT ON " + strings.ToUpper(kind) + " " + dialect.Ident(name) + " IS " + dialect.Literal(text)
}

func drop(kind, name string) string {
	return "DROP " + strings.ToUpper(kind) + " " + dialect.Ident(name)
}

// dropBuild checks the marker of the build's database and drops it. Calling dropBuild twice is harmless.
func (s *externalServer) dropBuild(b *build) error {
	b.close()
	// Nothing stays even if the run is interrupted.
	ctx, cancel := context.WithTimeout(context.Background(), makePatience)
	defer cancel()
	if err := s.dropMarked(ctx, kindDatabase, b.link.Config.Database); err != nil {
		return err
	}
	s.builds.Remove(b)
	return nil
}

// Close drops the builds that are not dropped yet, and closes the connections.
func (s *externalServer) Close() error {
	errs := []error{s.builds.Close(s.dropBuild)}
	ctx, cancel := context.WithTimeout(context.Background(), makePatience)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Values(s.created)) {
		errs = append(errs, s.dropMarked(ctx, kindTablespace, name))
	}
	clear(s.created)
	s.link.Close()
	return errors.Join(errs...)
}

// died returns false. Whether an external server still runs shows with the next statement.
func (s *externalServer) died() bool { return false }

// sync does nothing, because a checkpoint has synced the files, unless the server is set never to sync.
func (s *externalServer) sync() error { return nil }

// files returns the relations as the server names them. Their sizes come from the file system if the server is on this
// host and its files can be read.
func (s *externalServer) files(_ context.Context, _ *build, relations []relation) ([]filewise.File, error) {
	var all []filewise.File
	for _, r := range relations {
		name := s.pathOf(r.space, r.path)
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

// pathOf returns a relation's path on the server, or only its file if the account cannot see the data directory.
func (s *externalServer) pathOf(_, file string) string {
	if s.about.dataDir == "" {
		return file
	}
	return path.Join(s.about.dataDir, file)
}

// logPath returns "", because Filewise does not look for the WAL of an external server.
func (s *externalServer) logPath() string { return "" }
