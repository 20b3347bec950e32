package sqlserver

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	bigint "math/big"
	"net"
	"strings"
	"testing"
	"time"

	"filewise"
)

// wrapped is a connection whose TLS handshake lies in packets of PRELOGIN, as in TDS 7;
// what comes behind it does not.
type wrapped struct {
	net.Conn
	over bool
	rest []byte
}

func (w *wrapped) Read(b []byte) (int, error) {
	if w.over {
		return w.Conn.Read(b)
	}
	if len(w.rest) == 0 {
		m, err := readMessage(w.Conn)
		if err != nil {
			return 0, err
		}
		w.rest = m.body
	}
	n := copy(b, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

func (w *wrapped) Write(b []byte) (int, error) {
	if w.over {
		return w.Conn.Write(b)
	}
	size := len(b) + 8
	_, err := w.Conn.Write(append([]byte{packPrelogin, statusEnd, byte(size >> 8), byte(size), 0, 0, 1, 0}, b...))
	return len(b), err
}

// loggedIn holds what a server answers whose TLS has worked.
const loggedIn = "the login was read"

// serveTLS greets one client by TLS and refuses its login.
func serveTLS(conn net.Conn, config *tls.Config) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if m, err := readMessage(conn); err != nil || m.kind != packPrelogin {
		return
	}
	greeting := preloginReply()
	greeting[5*5+1+6] = 1 // encryption: on
	if writePackets(conn, greeting, true) != nil {
		return
	}
	w := &wrapped{Conn: conn}
	secure := tls.Server(w, config)
	if secure.Handshake() != nil {
		return
	}
	w.over = true
	m, err := readMessage(secure)
	if err != nil || m.kind != packLogin {
		return
	}
	r := &Reply{}
	r.Error(18456, 14, loggedIn).done(2, 0)
	_ = writePackets(secure, r.b, true)
}

// certificate returns one that a server has made for itself.
func certificate(t *testing.T, bits int, algorithm x509.SignatureAlgorithm, negative bool) tls.Certificate {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	ok(t, err)
	serial := []byte{0x6A, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77}
	made := &x509.Certificate{SerialNumber: new(bigint.Int).SetBytes(serial), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"SSL_Self_Signed_Fallback"}, SignatureAlgorithm: algorithm}
	der, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	ok(t, err)
	if negative { // no signature is looked at if any certificate is taken
		der = bytes.Replace(der, serial, append([]byte{0xEA}, serial[1:]...), 1)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Certificates and versions of TLS that servers have are taken, or refused with what to do.
func TestTLSMatrix(t *testing.T) {
	for name, c := range map[string]struct {
		bits     int
		sign     x509.SignatureAlgorithm
		negative bool
		version  uint16 // the only one. 0 means any
		options  map[string]string
		remedy   string // empty: it is taken
	}{
		"self-made":                {bits: 2048, sign: x509.SHA256WithRSA},
		"negative serial":          {bits: 2048, sign: x509.SHA256WithRSA, negative: true},
		"RSA-1024":                 {bits: 1024, sign: x509.SHA256WithRSA},
		"SHA-1":                    {bits: 2048, sign: x509.SHA1WithRSA},
		"SHA-1, negative, TLS 1.2": {bits: 2048, sign: x509.SHA1WithRSA, negative: true, version: tls.VersionTLS12},
		"TLS 1.0":                  {bits: 2048, sign: x509.SHA256WithRSA, version: tls.VersionTLS10, remedy: "tlsmin=1.0"},
		"TLS 1.0 asked for": {bits: 2048, sign: x509.SHA256WithRSA, version: tls.VersionTLS10,
			options: map[string]string{"tlsmin": "1.0"}},
		"trusted by nobody, and checked": {bits: 2048, sign: x509.SHA256WithRSA,
			options: map[string]string{"encrypt": "mandatory"}, remedy: "certificate=FILE.pem"},
		"all of it encrypted": {bits: 2048, sign: x509.SHA256WithRSA,
			options: map[string]string{"encrypt": "mandatory", "TrustServerCertificate": "true"}},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		ok(t, err)
		config := &tls.Config{Certificates: []tls.Certificate{certificate(t, c.bits, c.sign, c.negative)}, MinVersion: c.version,
			MaxVersion: c.version}
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go serveTLS(conn, config)
			}
		}()
		target := filewise.Target{Engine: engineName, Mode: filewise.External, Volumes: []filewise.Volume{{Name: "default"}},
			Address: &filewise.Address{Scheme: engineName, Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, User: "ada",
				Password: "s3cret", Options: c.options}}
		_, err = Engine{}.Open(t.Context(), target)
		ok(t, listener.Close())
		switch {
		case err == nil:
			t.Fatal("the server lets nobody in")
		case c.remedy == "" && !strings.Contains(err.Error(), loggedIn):
			t.Errorf("%s: %v", name, err)
		case c.remedy != "" && (strings.Contains(err.Error(), loggedIn) || !strings.Contains(filewise.RemedyOf(err), c.remedy)):
			t.Errorf("%s: %v; %s", name, err, filewise.RemedyOf(err))
		}
	}
}
