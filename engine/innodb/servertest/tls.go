package servertest

import (
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
	"testing"
	"time"
)

// TLS describes how to reach a server over loopback.
type TLS struct {
	Port int
	CA   string // file of the certificate that signs the server's
}

// StartTLS starts a server that also listens on loopback, with a separate certificate.
func StartTLS(t testing.TB, p Product, args ...string) (*Server, TLS) {
	t.Helper()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certify(t, cert, key)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	fatal(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	fatal(t, listener.Close())
	s := Start(t, p, append(args, fmt.Sprintf("--port=%d", port), "--bind-address=127.0.0.1", "--ssl-cert="+cert, "--ssl-key="+key,
		"--ssl-ca="+cert)...)
	return s, TLS{Port: port, CA: cert}
}

// certify creates a self-signed certificate for loopback.
func certify(t testing.TB, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal(t, err)
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "filewise test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &private.PublicKey, private)
	fatal(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	fatal(t, err)
	fatal(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	fatal(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}
