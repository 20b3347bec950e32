package filewise_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// Homebrew's and winget's manifests name each archive of a release with its hash; a missing one is reported, and
// nothing is written.
func TestManifests(t *testing.T) {
	dir, sums, hashes := t.TempDir(), "", map[string]string{}
	for _, system := range []string{"linux-amd64.tar.gz", "linux-arm64.tar.gz", "darwin-amd64.tar.gz", "darwin-arm64.tar.gz",
		"windows-amd64.zip", "windows-arm64.zip"} {
		name := "filewise-v1.2.3-" + system
		hashes[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
		sums += hashes[name] + "  ./" + name + "\n"
	}
	manifests := func(sums string) (string, error) {
		if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "scripts/manifests", "v1.2.3", "file:///releases/", dir).CombinedOutput()
		return string(out), err
	}
	if out, err := manifests(strings.ReplaceAll(sums, "windows-arm64", "windows-mips")); err == nil ||
		!strings.Contains(out, "windows-arm64.zip") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "homebrew")); err == nil {
		t.Error("half of the manifests were written")
	}
	if out, err := manifests(sums); err != nil {
		t.Fatal(err, out)
	}
	formula, err := os.ReadFile(filepath.Join(dir, "homebrew", "filewise.rb"))
	if err != nil {
		t.Fatal(err)
	}
	pairs := regexp.MustCompile(`url "file:///releases/([^"]+)"\n *sha256 "([0-9a-f]+)"`).FindAllStringSubmatch(string(formula), -1)
	for _, p := range pairs {
		if p[2] != hashes[p[1]] {
			t.Errorf("%s: %s", p[1], p[2])
		}
	}
	if len(pairs) != 4 {
		t.Errorf("%d archives in\n%s", len(pairs), formula)
	}
	var installer struct {
		Installers []struct {
			URL    string `yaml:"InstallerUrl"`
			SHA256 string `yaml:"InstallerSha256"`
		} `yaml:"Installers"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "winget", "Filewise.Filewise.installer.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &installer); err != nil || len(installer.Installers) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	for _, i := range installer.Installers {
		if hashes[filepath.Base(i.URL)] != strings.ToLower(i.SHA256) {
			t.Errorf("%+v", i)
		}
	}
}
