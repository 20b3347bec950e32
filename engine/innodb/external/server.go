package external

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/builds"
)

// server is an opened target. Opening it only reads.
type server struct {
	product *dialect.Product
	target  filewise.Target
	config  *mysql.Config
	numbers *numbers // of this process's connections
	db      *sql.DB  // control connections, without a current database

	version string
	release [2]int
	vars    map[string]string // global variables when the target was opened
	rights  rights
	// uninstrumented explains why performance_schema is not read. If nil, it is read.
	uninstrumented error
	account        string // in the form of a GRANT: `ada`@`%`
	most           int64  // the account's limit on connections; 0 means the server's limit

	builds builds.Open[*build]

	// mine is the account whose sessions are not counted as others', because only Filewise's programs use it. If empty,
	// only this process's sessions are left out.
	mine string
}

// controlConnections is the number of connections that Filewise opens for a server, and for each build, in addition to the
// workload's. One more connection holds each build's name.
const controlConnections = 4

// openPatience limits connecting if the target has no timeout.
const openPatience = 30 * time.Second

// Open connects and identifies the server.
func (d Engine) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	s, err := d.open(ctx, t, d.External.Session)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// open connects with the session variables of a release.
func (d Engine) open(ctx context.Context, t filewise.Target, session func(release [2]int) map[string]string) (*server, error) {
	if t.Address == nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "an external target without an address")
	}
	if err := checkTarget(t); err != nil {
		return nil, err
	}
	c, err := d.config(*t.Address)
	if err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = openPatience
	}
	s := &server{product: d.Product, target: t, config: c, numbers: numbersAt(c)}
	if err := s.identify(ctx); err != nil {
		return nil, err
	}
	c.Params = session(s.release)
	s.db = s.pool("", controlConnections)
	if err := s.readSettings(ctx); err != nil {
		return nil, errors.Join(s.unreachable(err), s.db.Close())
	}
	return s, nil
}

// identify reads the version before any session variable is set. Variables of the wrong product would fail without
// giving the reason.
func (s *server) identify(ctx context.Context) error {
	plain := s.config.Clone()
	plain.Params = nil
	db := s.connect(plain, 1)
	defer db.Close()
	var comment string
	if err := db.QueryRowContext(ctx, "SELECT VERSION(), @@version_comment").Scan(&s.version, &comment); err != nil {
		return s.unreachable(err)
	}
	return s.checkVersion(comment)
}

var (
	versionText = regexp.MustCompile(`^(\d+)\.(\d+)\.`)
	// lookalikes matches products that speak MySQL's protocol but have neither its files nor its InnoDB.
	lookalikes = regexp.MustCompile(`(?i)tidb|vitess|oceanbase|singlestore|memsql|clickhouse|doris|starrocks|planetscale|proxysql`)
)

func (s *server) checkVersion(comment string) error {
	d, where := s.product, s.target.Address.String()
	if other := lookalikes.FindString(s.version + " " + comment); other != "" {
		return filewise.Errorf(filewise.CodePreflight, "name a server of "+d.Title, "%s is %s (%s %s), which has no files of InnoDB", where,
			other, s.version, comment)
	}
	right := dialect.MySQL
	if strings.Contains(strings.ToLower(s.version+" "+comment), "mariadb") {
		right = dialect.MariaDB
	}
	if right != d {
		a := *s.target.Address
		a.Scheme = right.Name
		return filewise.Errorf(filewise.CodeUsage, "use --target "+a.String(), "%s is a server of %s (%s), not of %s", where, right.Title,
			s.version, d.Title)
	}
	m := versionText.FindStringSubmatch(s.version)
	if m == nil {
		return filewise.Errorf(filewise.CodePreflight, "", "%s reports version %q, which is none", where, s.version)
	}
	for i := range s.release {
		s.release[i], _ = strconv.Atoi(m[i+1]) // digits
	}
	if slices.Compare(s.release[:], d.External.Oldest[:]) < 0 {
		return filewise.Errorf(filewise.CodePreflight, "use a newer server", "%s is %s %s; Filewise supports %d.%d and later", where, d.Title,
			s.version, d.External.Oldest[0], d.External.Oldest[1])
	}
	return nil
}

// readSettings reads global variables and the account's rights.
func (s *server) readSettings(ctx context.Context) (err error) {
	if s.vars, err = dialect.Pairs(ctx, s.db, "SHOW GLOBAL VARIABLES"); err != nil {
		return err
	}
	if s.rights, err = readRights(ctx, s.db, s.on("partial_revokes")); err != nil {
		return err
	}
	// The session's own value is the account's limit, if it has one.
	var account string
	if err := s.db.QueryRowContext(ctx, "SELECT CURRENT_USER(), @@max_user_connections").Scan(&account, &s.most); err != nil {
		return err
	}
	s.account = quoteAccount(account)
	s.uninstrumented = dialect.Instrumented(ctx, s.db)
	return ctx.Err()
}

// quoteAccount quotes the result of CURRENT_USER(). Hosts contain no “@”.
func quoteAccount(account string) string {
	at := strings.LastIndexByte(account, '@')
	if at < 0 {
		return dialect.Ident(account)
	}
	return dialect.Ident(account[:at]) + "@" + dialect.Ident(account[at+1:])
}

// grant returns the GRANT that gives this account the rights.
func (s *server) grant(rights []string, on string) string { return grantTo(s.account, rights, on) }

// on reports whether a global variable is on. A missing variable is off.
func (s *server) on(name string) bool {
	v := strings.ToUpper(s.vars[name])
	return v == "ON" || v == "1" || v == "YES"
}

// pageSize returns the server's page size in bytes.
func (s *server) pageSize() int64 {
	if n, err := strconv.ParseInt(s.vars["innodb_page_size"], 10, 64); err == nil && n > 0 {
		return n
	}
	return usualPage
}

// Offers explains why a capability is absent.
func (s *server) Offers() map[filewise.Capability]error {
	absent := func(why string) error { return filewise.Unsupported("", "%s", why) }
	return filewise.Offering(map[filewise.Capability]error{
		filewise.CanPreallocate: absent(noPreallocated),
		filewise.CanVolumes:     s.checkDirectories(dialect.Dirs(s.target.Volumes)),
		filewise.CanLogApart:    absent(noLogApart),
		filewise.CanIndexApart:  absent(noIndexApart),
		filewise.CanRestart:     absent("the server is its owner's: Filewise does not stop an external one"),
		filewise.CanReset:       absent("a reset copies files of a stopped server, and Filewise does not stop an external one"),
		filewise.CanBackup:      absent(noBackup),
		filewise.CanTemp:        absent(noTemp(s.product)),
		filewise.CanFileIO:      s.uninstrumented,
	})
}

// checkDirectories returns an error if tables cannot be put into directories of the server.
func (s *server) checkDirectories(dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	no := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodePreflight, remedy, "%s: %w", fmt.Sprintf(format, args...), filewise.ErrUnsupported)
	}
	// The server creates the directory itself, but not the parent directory.
	if local, _ := s.local(); local && !s.product.External.Directories {
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Dir(filepath.Clean(dir))); errors.Is(err, fs.ErrNotExist) {
				return filewise.Errorf(filewise.CodePreflight, "create it, owned by the server's user, or name another with --volume NAME=DIR",
					"volume %s: there is no %s on the server: %w", dir, filepath.Dir(filepath.Clean(dir)), filewise.ErrUnsupported)
			}
		}
	}
	if !s.product.External.Directories {
		if v, ok := s.vars["have_symlink"]; ok && v != "YES" {
			return no("leave --volume out, or have the server started without skip-symbolic-links",
				"the server ignores DATA DIRECTORY: have_symlink is %s", v)
		}
		return nil
	}
	if !s.rights.global["FILE"] {
		return no(s.grant([]string{"FILE"}, "*.*"), "tables in other directories (DATA DIRECTORY) need the right FILE")
	}
	return s.product.CheckKnown(s.vars, dirs)
}

// Build creates and marks a database with the layout's tables. If it fails or is cancelled, it leaves nothing.
func (s *server) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	b, err := s.build(ctx, l, p)
	if err != nil {
		return nil, err
	}
	db := &filewise.Database{
		Build:  built{b, dialect.NewWork(b, b.design.Schema)},
		Probes: b.probes(), Bulk: dialect.NewBulk(b, b.design.Schema, false), Unsettled: errUnsettled,
	}
	if l.AddedLater != "" {
		db.Extend = b.Extend
	} else if !p.Churns() { // otherwise only this process has the state of the build
		db.Shared = b.shared
	}
	return db, nil
}

// built is a build with the means to work on it.
type built struct {
	*build
	dialect.Work
}

// Close drops the builds that are not dropped yet, and closes the connections.
func (s *server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), tidyPatience)
	defer cancel()
	err := s.builds.Close(func(b *build) error { return b.Drop(ctx) })
	return errors.Join(err, s.db.Close())
}
