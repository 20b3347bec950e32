package external

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"filewise"
)

func badValue(name, value, want string) error {
	return filewise.Errorf(filewise.CodeUsage, "give "+want, "%s=%s is not %s", name, value, want)
}

// truth reads what the driver takes for true and false.
func truth(to *bool, name, value string) error {
	switch strings.ToLower(value) {
	case "1", "true":
		*to = true
	case "0", "false":
		*to = false
	default:
		return badValue(name, value, "true or false")
	}
	return nil
}

func duration(to *time.Duration, name, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return badValue(name, value, "a duration such as 30s")
	}
	*to = d
	return nil
}

// publicKey registers the key that encrypts a password for a server without TLS
// (sha256_password, caching_sha2_password), under the name of its content.
func (o options) publicKey(path string) error {
	bad := func(err error) error {
		return filewise.Errorf(filewise.CodeUsage, "name a file with the server's RSA public key in PEM", "serverPubKey=%s: %w", path, err)
	}
	text, err := os.ReadFile(path)
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
	o.ServerPubKey = "filewise-" + hex.EncodeToString(sum[:])
	mysql.RegisterServerPubKey(o.ServerPubKey, key)
	return nil
}
