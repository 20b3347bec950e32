package external

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"

	"filewise"
)

// The options of TLS besides the driver's own “tls”.
const (
	optionCA         = "tls-ca"          // file of certificates that sign the server's
	optionCert       = "tls-cert"        // file of the client's certificate
	optionKey        = "tls-key"         // file of its key
	optionServerName = "tls-server-name" // name in the server's certificate, if not the host's
)

// secure sets TLS: "tls" as the driver has it (true, false, skip-verify,
// preferred); any of the files, or the name, means tls=true.
func (o options) secure() error {
	mode := o.given["tls"]
	_, named := o.given[optionServerName]
	own := named || o.given[optionCA] != "" || o.given[optionCert] != "" || o.given[optionKey] != ""
	if mode == "" && own {
		mode = "true"
	}
	switch mode {
	case "", "false", "0":
		if own {
			return filewise.Errorf(filewise.CodeUsage, "leave tls=false out, or the other options of TLS", "tls=%s contradicts %s", mode, o.firstOwn())
		}
		return nil
	case "true", "1", "skip-verify", "preferred":
	default:
		return badValue("tls", mode, "true, false, skip-verify or preferred")
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.given[optionServerName]}
	if mode == "skip-verify" || mode == "preferred" { // as the driver has it
		c.InsecureSkipVerify = true
	}
	if mode == "preferred" {
		o.AllowFallbackToPlaintext = true
	}
	if path := o.given[optionCA]; path != "" {
		text, err := os.ReadFile(path)
		c.RootCAs = x509.NewCertPool()
		if err == nil && !c.RootCAs.AppendCertsFromPEM(text) {
			err = errors.New("no certificate in it")
		}
		if err != nil {
			return filewise.Errorf(filewise.CodeUsage, "name a file of certificates in PEM", "%s=%s: %w", optionCA, path, err)
		}
	}
	if err := o.client(c); err != nil {
		return err
	}
	o.TLS = c
	return nil
}

// client loads the client's certificate.
func (o options) client(c *tls.Config) error {
	cert, key := o.given[optionCert], o.given[optionKey]
	if cert == "" && key == "" {
		return nil
	}
	if cert == "" || key == "" {
		return filewise.Errorf(filewise.CodeUsage, "give both", "%s and %s belong together", optionCert, optionKey)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return filewise.Errorf(filewise.CodeUsage, "name files in PEM, the key without a passphrase", "%s=%s, %s=%s: %w", optionCert, cert, optionKey, key, err)
	}
	c.Certificates = []tls.Certificate{pair}
	return nil
}

func (o options) firstOwn() string {
	for _, name := range []string{optionCA, optionCert, optionKey} {
		if o.given[name] != "" {
			return name
		}
	}
	return optionServerName
}
