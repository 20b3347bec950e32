package postgres

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"filewise"
	"filewise/engine/internal/builds"
	"filewise/engine/internal/server"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/engine/postgres/installed"
)

// password is one that would show itself in a URL, a conninfo and a log.
const password = `pa'ss\w"ord/@:% 1`

// usersServer is a server that the test starts and Filewise finds: TLS on a loopback
// port, an account with the documented rights alone, and things of a user's own.
type usersServer struct {
	t     *testing.T
	in    installed.Server
	admin *client.Link // as superuser
	port  int
	ca    string // its certificate
	dirs  [3]string
	inst  *instance
	tls   bool // the wheel's PostgreSQL 18 is built without
}

func startExternal(t *testing.T, bin string) *usersServer {
	t.Helper()
	ctx := deadline(t)
	in, err := installed.Find(ctx, bin)
	must(t, err)
	a, err := installed.NewAccount()
	must(t, err)
	target := onScratch(t, 1)
	template, remove, err := installed.MakeTemplate(ctx, in, a, target, false)
	must(t, err)
	d, at, err := managedDesign(target, trialLayout, trialStart, in.Number, builds.First)
	must(t, err)
	i, err := newInstance(in, a, d, at, func(i *instance) error { return i.fill(ctx, template) })
	must(t, err)
	must(t, remove())
	f := &usersServer{t: t, in: in, admin: i.link, port: freePort(t), inst: i, tls: bin == ""}
	t.Cleanup(func() { i.link.Close(); i.life.Quit(); must(t, i.remove()) })
	f.configure()
	command := []string{in.Path(), "-D", i.handles.Path(at.dataDir()), "-c", "unix_socket_directories=.", "-c",
		"listen_addresses=127.0.0.1", "-c", fmt.Sprint("port=", f.port)}
	i.life = server.NewLife(server.Control{
		Spec:  func() (server.Spec, error) { return a.Spec(command, i.handles, at.logPath(), nil), nil },
		Ask:   func(ctx context.Context) error { return i.link.Exec(ctx, "SELECT 1") },
		Leave: i.link.Forget, Gone: func() { server.EndProcesses(in.Path(), at.dataDir()) }, Quit: syscall.SIGQUIT, Explain: client.Classify,
	})
	socket := server.Socket{Dir: at.dataDir(), Name: fmt.Sprint(".s.PGSQL.", f.port)}
	i.link.Config.RuntimeParams["application_name"] = "the user's own"
	i.link.Config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return socket.Dial(ctx) }
	must(t, i.life.Start(ctx))
	f.furnish()
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// configure has the server take TLS with passwords on loopback.
func (f *usersServer) configure() {
	dir := f.inst.sites.dataDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(f.t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	must(f.t, err)
	private, err := x509.MarshalECPrivateKey(key)
	must(f.t, err)
	f.ca = filepath.Join(f.t.TempDir(), "ca.crt")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for path, text := range map[string][]byte{
		f.ca: cert, filepath.Join(dir, "server.crt"): cert,
		filepath.Join(dir, "server.key"): pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
		filepath.Join(dir, "pg_hba.conf"): []byte("local all all trust\n" + map[bool]string{true: "hostssl", false: "host"}[f.tls] +
			" all all 127.0.0.1/32 scram-sha-256\n"),
	} {
		must(f.t, os.WriteFile(path, text, 0o600))
	}
	conf, err := os.OpenFile(filepath.Join(dir, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	must(f.t, err)
	_, err = fmt.Fprintf(conf, "ssl = %v\nmax_connections = 60\nshared_preload_libraries = pg_stat_statements\n", f.tls)
	must(f.t, err)
	must(f.t, conf.Close())
	for n, name := range []string{"spare", "theirs", "empty"} {
		f.dirs[n] = filepath.Join(f.inst.sites.dirs[0], name)
		must(f.t, os.Mkdir(f.dirs[n], 0o700))
	}
	must(f.t, f.inst.account.Give(f.inst.sites.dirs[0], f.inst.sites.dirs[0]))
}

// furnish makes the account with the documented rights, and what is the user's.
func (f *usersServer) furnish() {
	f.do("CREATE ROLE filewise_account LOGIN CREATEDB PASSWORD "+dialect.Literal(password),
		"CREATE TABLESPACE spare LOCATION "+dialect.Literal(f.inst.handles.Path(f.dirs[0])),
		"GRANT CREATE ON TABLESPACE spare TO filewise_account",
		"CREATE TABLESPACE theirs LOCATION "+dialect.Literal(f.inst.handles.Path(f.dirs[1])),
		"CREATE ROLE boss LOGIN", `CREATE DATABASE "Customer's ""data""" OWNER boss`,
		`COMMENT ON DATABASE "Customer's ""data""" IS 'Made by Filewise? No.'`,
		"CREATE DATABASE filewise_customers", "COMMENT ON TABLESPACE theirs IS 'theirs'", "ALTER ROLE boss SET work_mem = '8MB'")
	in := f.admin.To(`Customer's "data"`)
	defer in.Close()
	must(f.t, in.Exec(f.t.Context(), "CREATE TABLE fw_rows (id bigint PRIMARY KEY, payload text) TABLESPACE theirs",
		"INSERT INTO fw_rows SELECT i, 'row ' || i FROM generate_series(1, 100) i"))
}

func (f *usersServer) do(statements ...string) {
	f.t.Helper()
	must(f.t, f.admin.Exec(context.Background(), statements...))
}

// address returns how the account comes in.
func (f *usersServer) address() *filewise.Address {
	a := &filewise.Address{Scheme: "postgres", Host: "localhost", Port: f.port, User: "filewise_account", Path: "postgres", Password: password,
		Options: map[string]string{"sslmode": "verify-full", "sslrootcert": f.ca}}
	if !f.tls {
		a.Options = map[string]string{"sslmode": "disable"}
	}
	return a
}

func (f *usersServer) target(volumes ...filewise.Volume) filewise.Target {
	if volumes == nil {
		volumes = []filewise.Volume{{Name: "default"}}
	}
	return filewise.Target{Engine: "postgres", Mode: filewise.External, Address: f.address(), Volumes: volumes,
		Durability: filewise.DurabilityNormal}
}

func (f *usersServer) open(t *testing.T, volumes ...filewise.Volume) *externalServer {
	t.Helper()
	return open(t, deadline(t), f.target(volumes...)).(*externalServer)
}

// state returns all that the server holds in addition to Filewise's: catalogue rows, and the
// user's database as pg_dump writes it.
func (f *usersServer) state(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, q := range []string{
		"SELECT 'database ' || d.datname || d.oid || d.datdba || d.dattablespace || coalesce(d.datacl::text, '') || d.datconnlimit || " +
			"coalesce(shobj_description(d.oid, 'pg_database'), '') FROM pg_database d ORDER BY 1",
		"SELECT 'role ' || to_json(r)::text FROM pg_authid r ORDER BY 1",
		"SELECT 'setting ' || to_json(r)::text FROM pg_db_role_setting r ORDER BY 1",
		"SELECT 'tablespace ' || to_json(s)::text || coalesce(shobj_description(oid, 'pg_tablespace'), '') || pg_tablespace_location(oid) " +
			"FROM pg_tablespace s ORDER BY 1",
		"SELECT 'file setting ' || name || '=' || coalesce(setting, '') FROM pg_file_settings ORDER BY 1",
	} {
		rows, err := f.admin.Rows(context.Background(), q)
		must(t, err)
		for _, row := range rows {
			all = append(all, client.Text(row[0]))
		}
	}
	return append(append(all, f.dump(t, `Customer's "data"`)...), f.dump(t, "filewise_customers")...)
}
