// This file distinguishes what this user of this host has stored from data that came from elsewhere.

package run

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filewise/internal/filesystem"
)

// keyBytes is the length of a key.
const keyBytes = 32

// sealKey is a key in a file that only the user can read. The zero sealKey seals nothing, and accepts no seal.
type sealKey struct{ path string }

// sealKeyIn returns the key in a directory.
func sealKeyIn(dir string) sealKey { return sealKey{filepath.Join(dir, "seal-key")} }

// Of returns a seal over parts, whose order matters. If there is no key, it creates one. An error names the file.
func (k sealKey) Of(parts ...any) (string, error) {
	if k.path == "" {
		return "", errors.New("there is no place for a key")
	}
	key, err := k.read()
	if errors.Is(err, fs.ErrNotExist) {
		if err = k.make(); err == nil {
			key, err = k.read()
		}
	}
	if err != nil {
		return "", err
	}
	return sum(key, parts)
}

// Is reports whether this key made the seal over these parts.
func (k sealKey) Is(seal string, parts ...any) bool {
	if k.path == "" || seal == "" {
		return false
	}
	key, err := k.read()
	if err != nil {
		return false
	}
	want, err := sum(key, parts)
	return err == nil && hmac.Equal([]byte(want), []byte(seal))
}

func sum(key []byte, parts []any) (string, error) {
	text, err := json.Marshal(parts)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil)), nil
}

func (k sealKey) read() ([]byte, error) {
	f, err := filesystem.OpenSecret(k.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 2*keyBytes))
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%s holds no key", k.path)
	}
	return key, nil
}

// make creates the key file completely or not at all. Another process may create it first.
func (k sealKey) make() error {
	dir := filepath.Dir(k.path)
	if err := filesystem.MkdirPrivate(dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".seal-key-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	if err = filesystem.MakePrivate(f.Name()); err == nil {
		_, err = f.WriteString(base64.StdEncoding.EncodeToString(key))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), k.path); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
