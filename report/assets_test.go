package report_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestVendoredScriptsAreWhatWasRecorded(t *testing.T) {
	const dir = "assets/vendor"
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			t.Fatalf("SHA256SUMS: %q", lines.Text())
		}
		recorded[name] = sum
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() == "SHA256SUMS" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if hex.EncodeToString(sum[:]) != recorded[f.Name()] {
			t.Errorf("%s is not the file whose hash is recorded; assets/update fetches it anew", f.Name())
		}
		delete(recorded, f.Name())
	}
	for name := range recorded {
		t.Errorf("%s is recorded and missing", name)
	}
}

func TestVersionsMatchTheUpdateScript(t *testing.T) {
	script, err := os.ReadFile("assets/update")
	if err != nil {
		t.Fatal(err)
	}
	versions, err := os.ReadFile("assets/vendor/VERSIONS")
	if err != nil {
		t.Fatal(err)
	}
	pins := regexp.MustCompile(`(?m)^(vega\w*)=(\S+)`).FindAllStringSubmatch(string(script), -1)
	if len(pins) != 3 {
		t.Fatalf("%d pins of vega packages in assets/update, want 3", len(pins))
	}
	for _, p := range pins {
		line := strings.ReplaceAll(p[1], "_", "-") + " " + p[2]
		if !strings.Contains("\n"+string(versions), "\n"+line) {
			t.Errorf("VERSIONS has no line %q", line)
		}
	}
}
