package oracle

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sijms/go-ora/v2/configurations"

	"filewise"
	"filewise/host/target"
)

func address(t *testing.T, url string) *filewise.Address {
	t.Helper()
	a, err := target.Parse(url, []string{"oracle"})
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

func TestConfig(t *testing.T) {
	c, err := configOf(address(t,
		"oracle://ada:s%40cret@db.example/bench?SSL=true&ssl%20verify=false&CONNECTION+TIMEOUT=5"+
			"&encryption=required&data_integrity=requested&read-timeout=9&auth%20type=normal"))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case c.UserID != "ada" || c.Password != "s@cret" || c.ServiceName != "bench":
		t.Errorf("who and where: %q %q", c.UserID, c.ServiceName)
	case len(c.Servers) != 1 || c.Servers[0].Addr != "db.example" || c.Servers[0].Port != port:
		t.Errorf("servers %+v", c.Servers)
	case !c.SSL || c.SSLVerify || c.Protocol != "tcps":
		t.Errorf("TLS: %v %v %v", c.SSL, c.SSLVerify, c.Protocol)
	case c.ConnectTimeout != 5*time.Second || c.Timeout != 9*time.Second || c.EncServiceLevel != 3 || c.IntServiceLevel != 2:
		t.Errorf("%v %v %v %v", c.ConnectTimeout, c.Timeout, c.EncServiceLevel, c.IntServiceLevel)
	case c.PID == 0 || c.HostName == "" || c.ProgramName != program || c.AuthType != configurations.Normal:
		t.Errorf("client %+v", c.ClientInfo)
	}
	plain, err := configOf(address(t, "oracle://ada:secret@db:1600/bench"))
	if err != nil || plain.SSL || !plain.SSLVerify || plain.Servers[0].Port != 1600 {
		t.Errorf("without options: %+v, %v", plain, err)
	}
	descriptor, err := configOf(address(t,
		"oracle://ada:secret@/?connstr=(DESCRIPTION%3D"+
			"(ADDRESS%3D(PROTOCOL%3Dtcps)(HOST%3Ddb7)(PORT%3D2484))(CONNECT_DATA%3D(SERVICE_NAME%3Dpdb1)))"))
	if err != nil || descriptor.Servers[0].Addr != "db7" || descriptor.ServiceName != "pdb1" {
		t.Errorf("a descriptor: %v", err)
	}
}

func TestConfigRefusals(t *testing.T) {
	for url, want := range map[string]string{
		"oracle://ada:topsecret@db/x?SSL+VERFIY=true":                                        "SSL VERIFY",
		"oracle://ada:topsecret@db/x?SSL+VERIFY=ture":                                        "SSL VERIFY",
		"oracle://ada:topsecret@db/x?TRACE+FILE=/tmp/x":                                      "traffic",
		"oracle://ada:topsecret@db/x?DBA+PRIVILEGE=SYSDBA":                                   "ordinary account",
		"oracle://ada:topsecret@db/x?OS+HASH=abc":                                            "OS PASSWORD HASH",
		"oracle://ada:topsecret@db/x?timeout=soon":                                           "TIMEOUT",
		"oracle://ada:topsecret@db/x?encryption=some":                                        "ENCRYPTION",
		"oracle://ada:topsecret@db/x?timeout=1&READ+TIMEOUT=2":                               "twice",
		"oracle://ada:topsecret@db/":                                                         "service",
		"oracle://ada@db/x":                                                                  "password",
		"oracle://sys:topsecret@db/x":                                                        "SYS",
		"oracle:///x":                                                                        "host",
		"oracle://ada:topsecret@db/x?WALLET+PASSWORD=walletsecret":                           "WALLET",
		"oracle://ada:topsecret@db/x?WALLET=/no/such/topsecret&WALLET+PASSWORD=walletsecret": "WALLET",
	} {
		_, err := configOf(address(t, url))
		shown := fmt.Sprint(err, filewise.RemedyOf(err))
		if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(shown, want) {
			t.Errorf("%s: %v (%s), want %q", url, err, filewise.RemedyOf(err), want)
		}
		if strings.Contains(fmt.Sprint(err), "topsecret") || strings.Contains(shown, "walletsecret") {
			t.Errorf("%s: the error shows a secret: %s", url, shown)
		}
	}
	if _, err := configOf(nil); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("no address: %v", err)
	}
	plain := &filewise.Address{Host: "db", Path: "x", User: "ada", Password: "pw!",
		Options: map[string]string{"wallet password": "walletsecret"}}
	if _, err := configOf(plain); filewise.CodeOf(err) != filewise.CodeUsage || strings.Contains(fmt.Sprint(err), "walletsecret") {
		t.Errorf("a secret among the options: %v", err)
	}
}

// Every option is set somewhere, and every one of TLS is there.
func TestOptionsHaveEffect(t *testing.T) {
	for name, value := range map[string]string{
		"SSL": "true", "SSL VERIFY": "false", "CONNSTR": "(ADDRESS=(HOST=x)(PORT=1))", "SID": "x", "SERVICE NAME": "x", "INSTANCE NAME": "x",
		"AUTH TYPE": "TCPS", "AUTH SERV": "tcps", "OS USER": "x", "OS PASSWORD": "x", "OS PASSWORD HASH": "x", "DOMAIN": "x",
		"ENCRYPTION":     "required",
		"DATA INTEGRITY": "required", "TIMEOUT": "7", "CONNECTION TIMEOUT": "7", "ENABLE URGENT DATA TRANSPORT": "true", "PREFETCH_ROWS": "7",
		"UNIX SOCKET":       "x",
		"PROXY CLIENT NAME": "x", "LANGUAGE": "x", "TERRITORY": "x", "SERVER LOCATION": "x", "CID": "x",
	} {
		c := &config{SessionInfo: configurations.SessionInfo{SSLVerify: true}}
		before := fmt.Sprintf("%#v", *c)
		a := filewise.Address{Options: map[string]string{name: value}}
		if options.Secret[name] {
			a = filewise.Address{Secrets: map[string]filewise.Secret{name: filewise.Secret(value)}}
		}
		if _, err := options.Apply(c, a); err != nil || fmt.Sprintf("%#v", *c) == before {
			t.Errorf("%s=%s: %v, no effect", name, value, err)
		}
	}
}

// A driver's error in which secrets stand shows none, and keeps class and cause.
func TestErrors(t *testing.T) {
	p := &pool{secrets: []filewise.Secret{"topsecret"}}
	for _, c := range []struct {
		err   error
		class filewise.Class
		code  filewise.Code
	}{
		{oracleError(60), filewise.ClassDeadlock, filewise.CodeInternal},
		{oracleError(8177), filewise.ClassSerialization, filewise.CodeInternal},
		{oracleError(54), filewise.ClassLockTimeout, filewise.CodeInternal},
		{oracleError(1), filewise.ClassDuplicate, filewise.CodeInternal},
		{oracleError(1653), filewise.ClassSpace, filewise.CodeTrials},
		{oracleError(27072), filewise.ClassSpace, filewise.CodeTrials},
		{oracleError(12953), filewise.ClassSpace, filewise.CodeTrials},
		{oracleError(12954), filewise.ClassSpace, filewise.CodeTrials},
		{oracleError(3113), filewise.ClassConnection, filewise.CodeInternal},
		{oracleError(12541), filewise.ClassConnection, filewise.CodePreflight},
		{oracleError(1017), filewise.ClassOther, filewise.CodePreflight},
		{oracleError(904), filewise.ClassMistake, filewise.CodeInternal},
		{io.EOF, filewise.ClassConnection, filewise.CodeInternal},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, filewise.ClassConnection, filewise.CodeInternal},
	} {
		wrapped := fmt.Errorf("log-on with topsecret: %w", c.err)
		err := p.why(t.Context(), statement{text: "SELECT 'topsecret'"}, wrapped)
		if filewise.ClassOf(err) != c.class || filewise.CodeOf(err) != c.code || !errors.Is(err, c.err) {
			t.Errorf("%v: class %s, code %s", c.err, filewise.ClassOf(err), filewise.CodeOf(err))
		}
		if strings.Contains(fmt.Sprintf("%v %+v", err, err), "topsecret") {
			t.Errorf("%v shows the secret", err)
		}
	}
	if err := p.why(t.Context(), statement{}, nil); err != nil {
		t.Error(err)
	}
	if err := explain(oracleError(1653)); !errors.Is(err, filewise.ErrSpace) {
		t.Errorf("%v is not ErrSpace", err)
	}
	for code, want := range map[int]string{12953: "this edition", 12954: "this edition", 3214: "fewer files", 38881: "restore point"} {
		if remedy := filewise.RemedyOf(explain(oracleError(code))); !strings.Contains(remedy, want) {
			t.Errorf("ORA-%05d: %s", code, remedy)
		}
	}
}
