package sqlserver

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	bigint "math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/integratedauth"
	"github.com/microsoft/go-mssqldb/msdsn"

	"filewise"
)

// certificateFile returns a certificate as a user would name it.
func certificateFile(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	path := filepath.Join(t.TempDir(), "server.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	ok(t, os.WriteFile(path, block, 0o600))
	return path
}

func address(options map[string]string) filewise.Address {
	return filewise.Address{Scheme: engineName, Host: "db.example", User: "ada", Password: "s3cret", Path: "SQL2022", Options: options}
}

func TestConfig(t *testing.T) {
	file := certificateFile(t)
	for _, c := range []struct {
		options map[string]string
		check   func(msdsn.Config) bool
	}{
		{nil, func(c msdsn.Config) bool {
			return c.Host == "db.example" && c.Instance == "SQL2022" && c.Port == 0 && c.User == "ada" && c.Password == "s3cret" &&
				c.Database == "master" &&
				c.Encryption == msdsn.EncryptionOff && c.TrustServerCertificate && c.TLSConfig.InsecureSkipVerify && c.AppName == appName
		}},
		{map[string]string{"encrypt": "true"}, func(c msdsn.Config) bool {
			return c.Encryption == msdsn.EncryptionRequired && !c.TLSConfig.InsecureSkipVerify && c.TLSConfig.ServerName == "db.example"
		}},
		{map[string]string{"Encrypt": "Mandatory", "TrustServerCertificate": "true"}, func(c msdsn.Config) bool {
			return c.Encryption == msdsn.EncryptionRequired && c.TLSConfig.InsecureSkipVerify
		}},
		{map[string]string{"encrypt": "strict", "trustservercertificate": "true", "tlsmin": "1.3"}, func(c msdsn.Config) bool {
			return c.Encryption == msdsn.EncryptionStrict && !c.TLSConfig.InsecureSkipVerify && c.TLSConfig.MinVersion == tls.VersionTLS13
		}},
		{map[string]string{"encrypt": "strict", "tlsmin": "1.0"}, func(c msdsn.Config) bool {
			return c.TLSConfig.MinVersion == tls.VersionTLS12
		}},
		{map[string]string{"encrypt": "disable"}, func(c msdsn.Config) bool {
			return c.Encryption == msdsn.EncryptionDisabled &&
				c.TLSConfig == nil
		}},
		{map[string]string{"encrypt": "yes", "certificate": file, "hostNameInCertificate": "inner"}, func(c msdsn.Config) bool {
			return c.TLSConfig.RootCAs != nil && c.TLSConfig.ServerName == "inner" && c.HostInCertificateProvided
		}},
		{map[string]string{"encrypt": "yes", "serverCertificate": file},
			func(c msdsn.Config) bool { return c.TLSConfig.VerifyPeerCertificate != nil }},
		{map[string]string{"database": "tempdb", "packet size": "8192", "dial timeout": "3", "keepalive": "9", "multisubnetfailover": "no",
			"workstation id": "w", "epa enabled": "yes"},
			func(c msdsn.Config) bool {
				return c.Database == "tempdb" && c.PacketSize == 8192 && c.DialTimeout.Seconds() == 3 && c.KeepAlive.Seconds() == 9 &&
					!c.MultiSubnetFailover && c.Workstation == "w" && c.EpaEnabled
			}},
	} {
		got, err := loginConfig(address(c.options))
		if err != nil || !c.check(got) {
			t.Errorf("%v: %+v, %v", c.options, got, err)
		}
	}
}

// TestConfigAgreesWithTheDriver: what msdsn makes of a URL with the same options.
func TestConfigAgreesWithTheDriver(t *testing.T) {
	for _, query := range []string{"", "encrypt=true", "encrypt=false", "encrypt=strict", "encrypt=disable",
		"encrypt=optional&trustservercertificate=true",
		"encrypt=mandatory&trustservercertificate=yes", "encrypt=true&tlsmin=1.3", "encrypt=true&hostnameincertificate=x"} {
		options := map[string]string{}
		for part := range strings.SplitSeq(query, "&") {
			if k, v, ok := strings.Cut(part, "="); ok {
				options[k] = v
			}
		}
		got, err := loginConfig(address(options))
		ok(t, err)
		theirs, err := msdsn.Parse("sqlserver://ada:s3cret@db.example/SQL2022?" + query)
		ok(t, err)
		if got.Encryption != theirs.Encryption || got.TrustServerCertificate != theirs.TrustServerCertificate || got.Host != theirs.Host ||
			got.Instance != theirs.Instance || got.HostInCertificateProvided != theirs.HostInCertificateProvided ||
			(got.TLSConfig == nil) != (theirs.TLSConfig == nil) {
			t.Errorf("%s: %+v\nthe driver: %+v", query, got, theirs)
		}
		if got.TLSConfig != nil && (got.TLSConfig.InsecureSkipVerify != theirs.TLSConfig.InsecureSkipVerify ||
			got.TLSConfig.ServerName != theirs.TLSConfig.ServerName) {
			t.Errorf("%s: TLS %+v\nthe driver: %+v", query, got.TLSConfig, theirs.TLSConfig)
		}
	}
}

// TestConfigRefuses holds. First contact: fault 6.
func TestConfigRefuses(t *testing.T) {
	for name, change := range map[string]func(*filewise.Address){
		"unknown": func(a *filewise.Address) { a.Options = map[string]string{"encript": "true"} },
		"encrypt": func(a *filewise.Address) { a.Options = map[string]string{"encrypt": "maybe"} },
		"trust":   func(a *filewise.Address) { a.Options = map[string]string{"trustservercertificate": "maybe"} },
		"tlsmin":  func(a *filewise.Address) { a.Options = map[string]string{"encrypt": "true", "tlsmin": "7"} },
		"no such certificate": func(a *filewise.Address) {
			a.Options = map[string]string{"encrypt": "true", "certificate": "/no/such.pem"}
		},
		"two certificates": func(a *filewise.Address) {
			a.Options = map[string]string{"certificate": "a.pem", "servercertificate": "b.pem"}
		},
		"app name":                         func(a *filewise.Address) { a.Options = map[string]string{"app name": "x"} },
		"log":                              func(a *filewise.Address) { a.Options = map[string]string{"log": "255"} },
		"read only":                        func(a *filewise.Address) { a.Options = map[string]string{"ApplicationIntent": "ReadOnly"} },
		"packet size":                      func(a *filewise.Address) { a.Options = map[string]string{"packet size": "10"} },
		"packets that TLS does not fit in": func(a *filewise.Address) { a.Options = map[string]string{"packet size": "512"} },
		"given twice":                      func(a *filewise.Address) { a.Options = map[string]string{"encrypt": "true", "Encrypt": "true"} },
		"a secret nobody knows":            func(a *filewise.Address) { a.Secrets = map[string]filewise.Secret{"magicToken": "abc"} },
		"a way that is none":               func(a *filewise.Address) { a.Options = map[string]string{"authenticator": "magic"} },
		"a token with a user": func(a *filewise.Address) {
			a.Secrets = map[string]filewise.Secret{"accesstoken": "abc"}
		},
		"a token that is shown": func(a *filewise.Address) { a.User, a.Options = "", map[string]string{"accessToken": "abc"} },
		"NTLM without a user": func(a *filewise.Address) {
			a.User, a.Options = "", map[string]string{"authenticator": "ntlm"}
		},
		"socket": func(a *filewise.Address) { a.Host = "/run/mssql" },
	} {
		a := address(nil)
		change(&a)
		if _, err := newLogin(a); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v (%s)", name, err, filewise.RemedyOf(err))
		}
	}
	if _, err := loginConfig(address(map[string]string{"encript": "true"})); !strings.Contains(filewise.RemedyOf(err), `"encrypt"`) {
		t.Errorf("the nearest name is not told: %s", filewise.RemedyOf(err))
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]version{"16.0.4085.2": {16, 0, 4085}, "13.0.1601.5": {13, 0, 1601}, "17.0.1000": {17, 0, 1000}} {
		if v, err := parseVersion(text); err != nil || v != want {
			t.Errorf("%s: %v %v", text, v, err)
		}
	}
	for _, bad := range []string{"", "16", "16.0", "16.x.1", "a.b.c", "16.0.-1"} {
		if v, err := parseVersion(bad); err == nil {
			t.Errorf("%q is %v", bad, v)
		}
	}
	v := version{13, 0, 4001}
	if !v.atLeast(13, 4001) || v.atLeast(13, 4002) || v.atLeast(14, 0) || !v.atLeast(12, 9999) || v.String() != "2016" {
		t.Error(v)
	}
}

// TestNegativeSerial: SQL Server 2017 to 2022 make such certificates for themselves, and
// what cannot be read cannot be trusted either.
func TestNegativeSerial(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	ok(t, err)
	serial := []byte{0x6A, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77}
	made := &x509.Certificate{SerialNumber: new(bigint.Int).SetBytes(serial)}
	der, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	ok(t, err)
	negative := bytes.Replace(der, serial, append([]byte{0xEA}, serial[1:]...), 1)
	if c, err := x509.ParseCertificate(negative); err != nil || c.SerialNumber.Sign() >= 0 {
		t.Errorf("%v", err)
	}
}

// TestSignIn: no user is the one who runs Filewise, whose tickets are where kinit puts them.
func TestSignIn(t *testing.T) {
	t.Setenv("KRB5CCNAME", "FILE:/run/tickets")
	a := address(nil)
	a.User, a.Password = "", ""
	c, err := loginConfig(a)
	ok(t, err)
	want := map[string]string{"authenticator": "krb5", "krb5-credcachefile": "/run/tickets"}
	if runtime.GOOS == "windows" {
		want = map[string]string{"authenticator": "winsspi"}
	}
	if !maps.Equal(c.Parameters, want) {
		t.Errorf("%v", c.Parameters)
	}
	a.Options = map[string]string{"krb5-credcachefile": "/mine", "krb5-realm": "CORP"}
	if c, err = loginConfig(a); err != nil || c.Parameters["krb5-credcachefile"] != "/mine" || c.Parameters["krb5-realm"] != "CORP" {
		t.Errorf("%v %v", c.Parameters, err)
	}
	c.Parameters["krb5-configfile"] = "/none"
	if _, err := integratedauth.GetIntegratedAuthenticator(c); err == nil || !strings.Contains(err.Error(), "/none") {
		t.Errorf("the driver does not know Kerberos: %v", err)
	}
	l := &login{c, a}
	if err := l.unreachable(errors.New("Unable to load krb5 config")); !strings.Contains(filewise.RemedyOf(err), "kinit") {
		t.Error(filewise.RemedyOf(err))
	}
	if c, err = loginConfig(address(nil)); err != nil || len(c.Parameters) > 0 {
		t.Errorf("a user signs in by %v, %v", c.Parameters, err)
	}
}

// TestToken: a token of Microsoft Entra goes over the wire, and no user and password.
func TestToken(t *testing.T) {
	h := &tokens{}
	s, err := Start(h)
	ok(t, err)
	t.Cleanup(s.Close)
	a := filewise.Address{Scheme: engineName, Host: "127.0.0.1", Port: s.Port(), Secrets: map[string]filewise.Secret{"accessToken": "t0ken"}}
	if err := signedIn(t, a); !errors.Is(err, errReadable) || h.logins.Load() > 0 {
		t.Errorf("without encryption: %v, %d logins", err, h.logins.Load())
	}
	a.Options = map[string]string{"encrypt": "disable"}
	l, err := newLogin(a)
	ok(t, err)
	db := l.pool("", appName, 1)
	defer db.Close()
	if err := db.PingContext(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
	if !h.seen.Load() {
		t.Error("the server saw no token")
	}
}

// tokens looks for a token in a login, and refuses it.
type tokens struct {
	scripted
	logins atomic.Int32
	seen   atomic.Bool
}

// signedIn signs in to an address.
func signedIn(t *testing.T, a filewise.Address) error {
	t.Helper()
	l, err := newLogin(a)
	ok(t, err)
	db := l.pool("", appName, 1)
	defer db.Close()
	return db.PingContext(t.Context())
}

func (h *tokens) Login(s *Session) error {
	h.logins.Add(1)
	h.seen.Store(s.Login.User == "" && bytes.Contains(s.Login.raw, ucs2("t0ken")))
	return errors.New("refused")
}

// TestOtherInstance: with a port the driver looks no one up, and connects to anyone who answers.
func TestOtherInstance(t *testing.T) {
	for _, c := range []struct {
		runs, wanted string
		fine         bool
	}{{"", "", true}, {"SQL2022", "", true}, {"SQL2022", "sql2022", true}, {"", "MSSQLSERVER", true}, {"", "SQL2022", false},
		{"SQL2019", "SQL2022", false}} {
		lab := newLab(t, func(m *model) { m.instance = c.runs })
		lab.target.Address.Path = c.wanted
		s, err := Engine{}.Open(t.Context(), lab.target)
		if err == nil {
			ok(t, s.Close())
		}
		if (err == nil) != c.fine || err != nil && (filewise.CodeOf(err) != filewise.CodePreflight || filewise.RemedyOf(err) == "") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestOldTLS is distinguished from a certificate that is not trusted.
func TestOldTLS(t *testing.T) {
	l, err := newLogin(address(nil))
	ok(t, err)
	for text, want := range map[string]string{
		"TLS Handshake failed: tls: server selected unsupported protocol version 301":       "tlsmin=1.0",
		"TLS Handshake failed: tls: server sent certificate with RSA key smaller than 1024": "encrypt=disable",
		"TLS Handshake failed: x509: certificate signed by unknown authority":               "TrustServerCertificate",
	} {
		if got := filewise.RemedyOf(l.unreachable(errors.New(text))); !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestRemedies: the server's errors about directories, model and full disks.
func TestRemedies(t *testing.T) {
	l, err := newLogin(address(nil))
	ok(t, err)
	for number, c := range map[int32]struct{ text, remedy string }{
		errNoDirectory: {"Directory lookup for the file failed with the operating system error 2.", "service account"},
		errNoFile:      {"CREATE FILE encountered operating system error 5(Access is denied.)", "service account"},
		errNoDevice:    {"Cannot open backup device. Operating system error 5(Access is denied.)", "service account"},
		errModelLocked: {"Could not obtain exclusive lock on database 'model'.", "try again"},
		errWriteFailed: {"Write on \"E:\\1.bak\" failed: 112(There is not enough space on the disk.)", "free space"},
		errDeniedState: {"VIEW SERVER STATE permission was denied", "PERFORMANCE STATE"},
	} {
		err := l.explain(fmt.Errorf("x: %w", mssql.Error{Number: number, Message: c.text}))
		if !strings.Contains(filewise.RemedyOf(err), c.remedy) {
			t.Errorf("%d: %v: %q", number, err, filewise.RemedyOf(err))
		}
	}
	full := l.explain(mssql.Error{Number: errNoFile,
		Message: "CREATE FILE encountered operating system error 112(There is not enough space on the disk.)"})
	if !errors.Is(full, filewise.ErrSpace) {
		t.Error(full)
	}
}
