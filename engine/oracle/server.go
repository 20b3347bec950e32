package oracle

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"filewise"
	"filewise/engine/internal/builds"
	"filewise/engine/internal/external"
	"filewise/internal/marker"
)

// server is an opened database: a pluggable one, or one without containers.
type server struct {
	target  filewise.Target
	config  *config
	pool    *pool
	control client // for single statements
	markers markers
	about   about
	missing map[string]bool // views and privileges that the account lacks
	builds  builds.Open[*build]
	canary  canary
	first   firstCopy
	taken   taken

	slowFree atomic.Bool // reading DBA_FREE_SPACE took too long; see freeBlocks
}

// about holds what a server reports about itself.
type about struct {
	version   string
	full      string // with the release update; "" before 18
	product   string // with the edition
	release   [2]int
	account   string
	container string // of a CDB; "" if there is none
	host      string
	service   string
	block     int64
	// instance is the one on which Filewise works, if the database has several; else 0.
	instance     int64
	instanceName string
}

// Open connects, and reads version, container and rights. It changes nothing.
func (Engine) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	s, err := open(ctx, t)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func open(ctx context.Context, t filewise.Target) (*server, error) {
	c, err := configOf(t.Address)
	if err != nil {
		return nil, err
	}
	p := newPool(c, t.Address.Hidden())
	control := p.on(p.db)
	s := &server{target: t, config: c, pool: p, control: control, markers: markers{client: control}}
	if err := s.learn(ctx, control); err != nil {
		return nil, errors.Join(filewise.HideIn(err, t.Address.Hidden()...), p.close())
	}
	return s, nil
}

// learn reads what the server and the account are.
func (s *server) learn(ctx context.Context, c client) (err error) {
	if s.about, err = learn(ctx, c); err != nil {
		return err
	}
	s.markers.account = s.about.account
	if s.missing, err = missingRights(ctx, c); err != nil {
		return err
	}
	if err := s.pin(ctx, c); err != nil {
		return err
	}
	s.about.block = usualBlock
	if !s.missing["DBA_TABLESPACES"] {
		n, ok, err := count(ctx, c, "blocks", nil)
		if err != nil {
			return err
		}
		if ok && n > 0 {
			s.about.block = n
		}
	}
	return nil
}

// pin directs all connections to the first connection's instance if the database has several. Sessions, waits and locks
// are read from views of one instance.
func (s *server) pin(ctx context.Context, c client) error {
	if s.missing["V_$PARAMETER"] {
		return nil
	}
	values, err := parameters(ctx, c)
	if err != nil {
		return err
	}
	if !strings.EqualFold(values["cluster_database"], "TRUE") {
		s.about.instance = 0
		return nil
	}
	if s.config != nil && s.config.InstanceName == "" {
		s.config.InstanceName = s.about.instanceName
	}
	return nil
}

// onInstance refuses a session on another instance than the first connection's.
func (s *server) onInstance(instance any) error {
	n, ok := number(instance)
	if s.about.instance == 0 || ok && n == s.about.instance {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight, "name a service that runs on one instance, or ?INSTANCE NAME="+s.about.instanceName,
		"a connection came to instance %s, and the first to %d: Filewise measures on one", text(instance), s.about.instance)
}

func learn(ctx context.Context, c client) (a about, err error) {
	r, err := row(ctx, c, 2, "version")
	if err != nil {
		return a, err
	}
	a.version, a.product = text(r[0]), text(r[1])
	if a.release, err = releaseOf(a.version); err != nil {
		return a, err
	}
	if a.release[0] < oldest[0] || a.release[0] == oldest[0] && a.release[1] < oldest[1] {
		return a, filewise.Errorf(filewise.CodePreflight, "measure on a newer release",
			"the server is Oracle %s; Filewise supports %d.%d and later", a.version, oldest[0], oldest[1])
	}
	if a.release[0] >= 18 {
		found, err := rows(ctx, c, 1, "version-full", nil)
		if err != nil && !unreadable(err) {
			return a, err
		}
		a.full = text(only(found))
	}
	if r, err = row(ctx, c, 9, "identity"); err != nil {
		return a, err
	}
	a.account, a.container, a.host, a.service = text(r[0]), text(r[2]), text(r[5]), text(r[6])
	a.instance, _ = number(r[7])
	a.instanceName = text(r[8])
	if text(r[3]) == "" { // CDB_NAME is empty: not a container database
		a.container = ""
	}
	return a, a.refuse(text(r[1]))
}

// refuse refuses containers and accounts that Filewise does not build in.
func (a about) refuse(schema string) error {
	const remedy = "name the service of a pluggable database: oracle://USER@HOST:1521/PDB_SERVICE (`SELECT name, pdb FROM v$services` " +
		"lists them)"
	switch {
	case a.container == "CDB$ROOT" || a.container == "PDB$SEED":
		return filewise.Errorf(filewise.CodePreflight, remedy, "service %s is %s, which is not for users' data: %w", a.service, a.container,
			filewise.ErrUnsupported)
	case a.account == "SYS" || a.account == "SYSTEM":
		return filewise.Errorf(filewise.CodePreflight, "create an account with the rights that `filewise engines` lists",
			"Filewise does not work as %s, which may do everything", a.account)
	case schema != a.account:
		return filewise.Errorf(filewise.CodePreflight, "use an account whose log-on changes nothing",
			"account %s works in schema %s, but Filewise builds in the account's schema", a.account, schema)
	}
	return nil
}

// releaseOf returns the first two numbers of "19.0.0.0.0".
func releaseOf(version string) (r [2]int, err error) {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return r, filewise.Errorf(filewise.CodePreflight, "", "the server reports version %q, which is none", version)
	}
	for i := range r {
		if r[i], err = strconv.Atoi(parts[i]); err != nil {
			return r, filewise.Errorf(filewise.CodePreflight, "", "the server reports version %q, which is none: %w", version, err)
		}
	}
	return r, nil
}

// missingRights returns every privilege and view that the account lacks.
func missingRights(ctx context.Context, c client) (map[string]bool, error) {
	missing := map[string]bool{}
	for _, p := range privileges {
		missing[p.Name] = true
	}
	for _, p := range customPrivileges {
		missing[p.Name] = true
	}
	found, err := rows(ctx, c, 1, "privileges", nil)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		delete(missing, text(r[0]))
	}
	for _, v := range views {
		switch _, err := rows(ctx, c, 1, "access", vars{"View": v.Name}); {
		case err == nil:
		case unreadable(err):
			missing[v.Name] = true
		default:
			return nil, err
		}
	}
	if n, ok, err := count(ctx, c, "may-lock", nil); err != nil {
		return nil, err
	} else if !ok || n == 0 {
		missing[grantLock] = true
	}
	return missing, nil
}

// loops reports whether a program has procedures on the server.
func loops(p filewise.Program) bool {
	switch {
	case p.Custom != nil:
		return userSQL(planNames(false), p.Custom).Creates("PROCEDURE")
	case len(p.Phases) == 0:
		return true // unknown, so assumed
	}
	return len((&design{program: p}).programSections()) > 0
}

// lacking returns the GRANT of the first missing right without which nothing can run. If loops is true, that includes
// rights for programs with loops on the server.
func (s *server) lacking(loops bool) string {
	for _, p := range privileges {
		if s.missing[p.Name] && (loops || p.Name != createProcedure) {
			return "GRANT " + p.Name + " TO " + s.about.account
		}
	}
	for _, v := range views {
		if s.missing[v.Name] && v.Optional == "" {
			return grant(v, s.about.account)
		}
	}
	return ""
}

// Offers explains why a capability is absent.
func (s *server) Offers() map[filewise.Capability]error {
	all := filewise.Offering(map[filewise.Capability]error{
		filewise.CanLogApart: absent("", "the redo log is the instance's and serves all of its databases"),
		filewise.CanRestart:  absent("", "an existing server is never restarted"),
		filewise.CanReset:    absent("", "the files of an existing server are never copied"),
		filewise.CanBackup: absent("", "backups of Oracle are made by its client rman as SYSBACKUP, and recorded in the control file of "+
			"the whole database"),
		filewise.CanTemp:   absent("", "no workload on oracle uses temporary tablespaces"),
		filewise.CanWaits:  s.readable("V_$SYSTEM_EVENT"),
		filewise.CanFileIO: s.readable("V_$FILESTAT"),
	})
	if grant := s.lacking(false); grant != "" {
		for _, c := range []filewise.Capability{filewise.CanPreallocate, filewise.CanGrow, filewise.CanVolumes, filewise.CanAddLater,
			filewise.CanIndexApart} {
			all[c] = absent(grant, "account %s lacks a right: %s", s.about.account, grant)
		}
	}
	return all
}

func (s *server) readable(name string) error {
	for _, v := range views {
		if v.Name == name && s.missing[name] {
			return absent(grant(v, s.about.account), "account %s may not read %s", s.about.account, name)
		}
	}
	return nil
}

// dropPatience limits the removal of what a failed build has left.
const dropPatience = 10 * time.Minute

// Build creates the tablespaces, files, tables and programs of a layout.
func (s *server) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	d, err := newDesign(s.target, l, p, newNames(l.Indexes == filewise.IndexesApart), s.about.block)
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.taken.name(&d.dump)
	if grant := s.lacking(loops(p)); grant != "" {
		return nil, filewise.Errorf(filewise.CodePreflight, grant, "account %s lacks a right", s.about.account)
	}
	if err := s.canary.sing(ctx, s, d); err != nil {
		return nil, err
	}
	b := &build{server: s, design: d}
	info := "build"
	if d.apart() {
		info = "build with " + d.names.Index
	}
	if b.conn, err = s.pool.connection(ctx, d.names.Tablespace, info); err != nil {
		return nil, err
	}
	b.markers = markers{b.conn, s.about.account}
	s.builds.Add(b)
	if err = b.create(ctx); err == nil && d.isCopy() {
		err = b.enter(ctx)
	}
	if err != nil {
		return nil, external.Undo(ctx, dropPatience, err, b.Drop)
	}
	return b.database(), nil
}

// connection opens a connection that announces its purpose.
func (p *pool) connection(ctx context.Context, action, info string) (held, error) {
	h, err := p.plain(ctx)
	if err != nil {
		return held{}, err
	}
	if err := announce(ctx, h, action, info); err != nil {
		return held{}, errors.Join(err, h.close())
	}
	return h, nil
}

// plain opens a connection that announces no purpose.
func (p *pool) plain(ctx context.Context) (held, error) {
	conn, err := p.lasting.Conn(ctx)
	if err != nil {
		return held{}, p.why(ctx, statement{text: "connecting"}, err)
	}
	often := p.on(&lasting{conn, map[string]*sql.Stmt{}})
	begin := func(ctx context.Context) (tx driver.Tx, err error) {
		err = conn.Raw(func(raw any) error {
			tx, err = raw.(driver.ConnBeginTx).BeginTx(ctx, driver.TxOptions{})
			return err
		})
		return tx, p.why(ctx, statement{text: "beginning a transaction"}, err)
	}
	end := func() error { return filewise.HideIn(conn.Close(), p.secrets...) }
	return held{client: p.on(conn), often: often, begin: begin, close: end}, nil
}

// module is the module name of Filewise's sessions in v$session.
const module = "Filewise"

// announce sets a session's purpose: the name of a build, or measuring. Module, action and client_info have 64 bytes.
func announce(ctx context.Context, c client, action, info string) error {
	if len(info) > 60 {
		info = strings.ToValidUTF8(info[:60], "")
	}
	return exec(ctx, c, "announce", nil, module, action, info)
}

// Close drops the builds that are not dropped yet, and closes the connections.
func (s *server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), dropPatience)
	defer cancel()
	err := s.builds.Close(func(b *build) error { return b.Drop(ctx) })
	return errors.Join(err, s.taken.remove(ctx, s.control), s.pool.close())
}

// markerText returns the marker of a tablespace. If the marker is for custom SQL, the tablespace can contain objects that the
// server named.
func (d *design) markerText(name string) (string, error) {
	return marker.NewText(name, d.isCustom())
}

// markerText returns the marker of what this run is about to create.
func markerText(name string) (string, error) { return marker.NewText(name, false) }
