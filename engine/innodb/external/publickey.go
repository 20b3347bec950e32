package external

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/go-sql-driver/mysql"
)

// publicKey registers the key that encrypts a password for a server without TLS
// (sha256_password, caching_sha2_password), under the name of its content.
func publicKey(c *mysql.Config, path string) error {
	bad := func(err error) error {
		return fmt.Errorf("%s is no file with the server's RSA public key in PEM: %w", path, err)
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
	c.ServerPubKey = "filewise-" + hex.EncodeToString(sum[:])
	mysql.RegisterServerPubKey(c.ServerPubKey, key)
	return nil
}
