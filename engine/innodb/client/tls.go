package client

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/internal/filesystem"
)

// Options of TLS in addition to the driver's own “tls”.
const (
	optionCA         = "tls-ca"          // file of the certificates that sign the server's
	optionCert       = "tls-cert"        // file of the client's certificate
	optionKey        = "tls-key"         // file of its key
	optionServerName = "tls-server-name" // the name in the server's certificate, if it is not the host's
)

// secure sets TLS. "tls" has the driver's values (true, false, skip-verify, preferred). Any of the files, or the name,
// implies tls=true.
func secure(to *mysql.Config, given map[string]string) error {
	mode := given["tls"]
	_, named := given[optionServerName]
	own := named || given[optionCA] != "" || given[optionCert] != "" || given[optionKey] != ""
	if mode == "" && own {
		mode = "true"
	}
	switch mode {
	case "", "false", "0":
		if own {
			return filewise.Errorf(filewise.CodeUsage, "leave tls=false out, or the other options of TLS", "tls=%s contradicts %s", mode,
				firstOwn(given))
		}
		return nil
	case "true", "1", "skip-verify", "preferred":
	default:
		return filewise.Errorf(filewise.CodeUsage, "give true, false, skip-verify or preferred",
			"tls=%s is not true, false, skip-verify or preferred", mode)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: given[optionServerName]}
	if mode == "skip-verify" || mode == "preferred" { // with the driver's meaning
		c.InsecureSkipVerify = true
	}
	if mode == "preferred" {
		to.AllowFallbackToPlaintext = true
	}
	if path := given[optionCA]; path != "" {
		text, err := filesystem.ReadFile(path)
		c.RootCAs = x509.NewCertPool()
		if err == nil && !c.RootCAs.AppendCertsFromPEM(text) {
			err = errors.New("no certificate in it")
		}
		if err != nil {
			return filewise.Errorf(filewise.CodeUsage, "name a file of certificates in PEM", "%s=%s: %w", optionCA, path, err)
		}
	}
	if err := clientCertificate(c, given); err != nil {
		return err
	}
	to.TLS = c
	return nil
}

// clientCertificate loads the client's certificate.
func clientCertificate(c *tls.Config, given map[string]string) error {
	cert, key := given[optionCert], given[optionKey]
	if cert == "" && key == "" {
		return nil
	}
	if cert == "" || key == "" {
		return filewise.Errorf(filewise.CodeUsage, "give both", "%s and %s belong together", optionCert, optionKey)
	}
	pair, err := filesystem.Await(func() (tls.Certificate, error) { return tls.LoadX509KeyPair(cert, key) })
	if err != nil {
		return filewise.Errorf(filewise.CodeUsage, "name files in PEM, the key without a passphrase", "%s=%s, %s=%s: %w", optionCert, cert,
			optionKey, key, err)
	}
	c.Certificates = []tls.Certificate{pair}
	return nil
}

func firstOwn(given map[string]string) string {
	for _, name := range []string{optionCA, optionCert, optionKey} {
		if given[name] != "" {
			return name
		}
	}
	return optionServerName
}

// publicKey registers the key that encrypts a password for a server without TLS (sha256_password,
// caching_sha2_password). The key is registered under a name made from its content.
func publicKey(c *mysql.Config, path string) error {
	bad := func(err error) error {
		return fmt.Errorf("%s is no file with the server's RSA public key in PEM: %w", path, err)
	}
	text, err := filesystem.ReadFile(path)
	if err != nil {
		return bad(err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return bad(errors.New("no PEM in it"))
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return bad(err)
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return bad(errors.New("not an RSA key"))
	}
	sum := sha256.Sum256(block.Bytes)
	c.ServerPubKey = "filewise-" + hex.EncodeToString(sum[:])
	mysql.RegisterServerPubKey(c.ServerPubKey, key)
	return nil
}
