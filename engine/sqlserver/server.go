package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"filewise"
	"filewise/engine/internal/builds"
	"filewise/engine/internal/external"
	"filewise/engine/internal/script"
	"filewise/internal/marker"
)

// externalServer is an opened SQL Server. It implements filewise.ExternalServer.
type externalServer struct {
	target   filewise.Target
	login    *login
	control  *sql.DB // connections to master
	identity identity
	may      permissions
	builds   builds.Open[*build]
	stays    stays // names of backups that stay
	idle     idle
	pauses   pauses

	origin   *backuper // of the database of --from; nil if not made yet
	compared sync.Map  // layouts of which a restored build was compared with the backup and is complete
}

// controls limits the connections for the server's own questions.
const controls = 3

// insides limits a build's connections to its database in addition to the workload's. They are the keeper's, and those
// of checks and samples.
const insides = 4

// Open connects and reads. It changes nothing.
func (Engine) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	if t.Database != "" {
		return openOwn(ctx, t)
	}
	return openExternal(ctx, t)
}

func openExternal(ctx context.Context, t filewise.Target) (*externalServer, error) {
	if err := checkExternal(t); err != nil {
		return nil, err
	}
	if _, err := readSettings(t.Settings); err != nil {
		return nil, err
	}
	if _, err := delayed(t.Durability); err != nil {
		return nil, err
	}
	l, err := newLogin(*t.Address)
	if err != nil {
		return nil, err
	}
	s := &externalServer{target: t, login: l, control: l.pool("", appName, controls), pauses: usualPauses}
	if err := s.greet(ctx); err != nil {
		s.control.Close()
		return nil, err
	}
	return s, nil
}

func (s *externalServer) greet(ctx context.Context) (err error) {
	first, err := s.control.Conn(ctx)
	if err != nil {
		return s.login.unreachable(err)
	}
	_ = first.Close() // returned to the pool
	if s.identity, err = readIdentity(ctx, s.control); err != nil {
		return s.login.explain(err)
	}
	if err = s.identity.isInstance(s.login.config.Instance); err != nil {
		return err
	}
	if s.may, err = readPermissions(ctx, s.control); err != nil {
		return s.login.explain(err)
	}
	// A volume for the wrong operating system would fail in every build.
	d := &design{target: s.target}
	_, err = d.dirs(s.at("", ""))
	return err
}

// at returns the place of a build on this server.
func (s *externalServer) at(name, text string) place {
	return place{name: name, marker: text, system: s.identity.data.System, data: s.identity.data, log: s.identity.log}
}

// Offers explains why a capability is absent.
func (s *externalServer) Offers() map[filewise.Capability]error {
	all := filewise.Offering(map[filewise.Capability]error{
		filewise.CanRestart: unsupported("", "Filewise never restarts an existing SQL Server"),
		filewise.CanReset:   unsupported("", "the files of an existing SQL Server are not copied behind its back"),
		filewise.CanTemp:    unsupported("filewise plan temp --target URL --sql prints the change for the owner", asItIs),
	})
	if _, grant := s.identity.version.viewRight(); !s.may.view {
		all[filewise.CanFileIO] = unsupported(grant, "the account may not see sys.dm_io_virtual_file_stats")
		all[filewise.CanWaits] = unsupported(grant, "the account may not see sys.dm_exec_session_wait_stats")
	}
	return all
}

// build is the database of a layout.
type build struct {
	server *externalServer
	design *design
	steps  script.Steps
	inside *sql.DB   // connections to the database
	loader *sql.DB   // for bulk loads; nil if the workload has none
	keeper *sql.Conn // holds the lock that shows that the database is in use
	mu     sync.Mutex
	later  bool // Extend has been called

	churned atomic.Int64 // tables that were created and dropped
	backups *backuper    // nil if the workload makes none
}

// Build creates a database under a new name, with the program's tables. The batch that creates the database also marks
// it.
func (s *externalServer) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := errors.Join(s.identity.noData, s.mayCool(p)); err != nil {
		return nil, err
	}
	name := marker.NewName()
	text, err := marker.NewText(name, p.Custom != nil)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	d, err := newDesign(s.target, l, p, s.at(name, text))
	if err != nil {
		return nil, err
	}
	steps, err := d.steps()
	if err != nil {
		return nil, err
	}
	b := &build{server: s, design: d, steps: steps, inside: s.login.pool(name, appName, insides)}
	if len(d.loaded()) > 0 {
		b.loader = s.login.pool(name, appName, loaders())
	}
	if d.program.BacksUp() {
		if b.backups, err = newBackuper(b); err != nil {
			return nil, errors.Join(err, b.inside.Close(), b.loader.Close())
		}
	}
	s.builds.Add(b)
	if err := b.create(ctx); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, external.Undo(ctx, dropPatience, s.login.explain(fmt.Errorf("building %s: %w", d, err)), b.dropFailed)
	}
	return b.database(), nil
}

// create executes a build's steps in order.
func (b *build) create(ctx context.Context) error {
	if b.design.program.Restored() {
		return b.fromBackup(ctx)
	}
	return b.steps.At(filewise.StageBuild).Run(ctx, b.do)
}

// do executes a step on the server or in the build's database.
func (b *build) do(ctx context.Context, x script.Step) error {
	switch {
	case x.On == onServer:
		return exec(ctx, b.server.control, x.Text)
	case x.Section == "keep":
		return b.keep(ctx, x.Text)
	case x.Section == "pool":
		return b.fillPool(ctx, x.Text)
	}
	return exec(ctx, b.inside, x.Text)
}

// keep takes the lock that shows cleaners that the database is in use.
func (b *build) keep(ctx context.Context, statement string) (err error) {
	if b.keeper, err = b.inside.Conn(ctx); err != nil {
		return err
	}
	return takeLock(ctx, b.keeper, statement)
}

// fillPool stores the text from which payloads are cut.
func (b *build) fillPool(ctx context.Context, statement string) error {
	pool := ""
	if args := b.design.program.Phases[0].Args; args != nil {
		pool = args.Pool()
	}
	_, err := b.inside.ExecContext(ctx, statement, varCharMax(pool))
	return err
}

func (b *build) database() *filewise.Database {
	db := &filewise.Database{Build: b, Cool: b.Cool, Cycle: b.Cycle, ParallelWorkers: b.parallelWorkers}
	if b.design.layout.AddedLater != "" {
		db.Extend = b.Extend
	}
	if b.loader != nil {
		db.Bulk = bulk{b}
	}
	if b.backups != nil {
		db.Backup, db.BackupTook = b.backups, b.backups.Took
	}
	if b.server.may.view {
		db.Probes = b.probes()
		if p := b.design.program; p.Appends() && p.WorkBytes == 0 { // otherwise a checkpoint is measured
			db.Probes = append(db.Probes, checkpointsSince(time.Now()))
		}
	}
	return db
}

// Close drops the builds that are not dropped yet, and closes all connections.
func (s *externalServer) Close() error {
	err := s.builds.Close(func(b *build) error { return b.Drop(context.Background()) })
	if s.origin != nil {
		err = errors.Join(err, s.origin.Discard(context.Background()))
	}
	return errors.Join(err, s.control.Close())
}
