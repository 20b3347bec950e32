//go:build linux

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// apiKey is the API key that the front requires in addition to a certificate.
const apiKey = "key-of-the-bench"

// front puts Temporal behind TLS that requires a certificate and an API key, as a cluster may do; the development
// server has neither. It returns the environment of a client that connects through the front.
func (g *ground) front(ctx context.Context) ([]string, error) {
	pool := x509.NewCertPool()
	ca, cert, err := g.certificate("server", nil, nil, pool)
	if err != nil {
		return nil, err
	}
	if _, _, err := g.certificate("client", ca, cert, pool); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(g.file("server.crt"), g.file("server.key"))
	if err != nil {
		return nil, err
	}
	h2c := new(http.Protocols)
	h2c.SetUnencryptedHTTP2(true)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: g.address})
	proxy.Transport, proxy.FlushInterval = &http.Transport{Protocols: h2c}, -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusServiceUnavailable) }
	server := &http.Server{ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+apiKey {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			g.fronted.Add(1)
			proxy.ServeHTTP(w, r)
		})}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(g.net.own(), "0"))
	if err != nil {
		return nil, err
	}
	go func() { _ = server.ServeTLS(l, "", "") }() // until the end
	return []string{"TEMPORAL_ADDRESS=" + l.Addr().String(), "TEMPORAL_TLS=true", "TEMPORAL_TLS_SERVER_CA_CERT_PATH=" + g.file("server.crt"),
		"TEMPORAL_TLS_CLIENT_CERT_PATH=" + g.file("client.crt"), "TEMPORAL_TLS_CLIENT_KEY_PATH=" + g.file("client.key"),
		"TEMPORAL_API_KEY=" + apiKey}, nil
}

func (g *ground) file(name string) string { return filepath.Join(g.dir, name) }

// certificate writes NAME.crt and NAME.key, signed by the given key and certificate, or self-signed if there are none.
func (g *ground) certificate(name string, by *ecdsa.PrivateKey, ca *x509.Certificate, pool *x509.CertPool) (*ecdsa.PrivateKey,
	*x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotAfter: time.Now().Add(24 * time.Hour), IsCA: by == nil,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.ParseIP(g.net.own())},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if by == nil {
		by, ca = key, c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, ca, &key.PublicKey, by)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		return nil, nil, err
	}
	pool.AddCert(c)
	return key, c, errors.Join(os.WriteFile(g.file(name+".crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(g.file(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}
