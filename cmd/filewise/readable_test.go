package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"filewise/results/report/document"
	"filewise/results/store"
)

// evil clears a screen, moves up and writes over what stood there, sets the title, turns
// the line around, and does it once more in the eight-bit form.
const evil = "\x1b[2J\x1b[9A\x1b]0;x\x07\r\u202e\u009b31m\b"

// Whatever texts a bundle, a CSV file or a study file has, nothing of it steers a
// terminal: in no result, warning or error.
func TestNothingSteersTheTerminal(t *testing.T) {
	h := newHome(t)
	shown := 0
	try := func(args ...string) string {
		t.Helper()
		out, said, code := h.run(args...)
		for _, text := range []string{out, said} {
			if at := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && document.Steers(r) }); at >= 0 {
				t.Errorf("%v (%d) says %q", args, code, text[max(0, at-40):min(len(text), at+40)])
			}
			shown += strings.Count(text, "[9A")
		}
		return said
	}
	file := func(name, text string) string {
		path := filepath.Join(h.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// What is free text can be imported; in all other places it is an error.
	free := regexp.MustCompile(`\.(reason|verdict|why|value|message|remedy|instance|version|host)$`)
	var places []string
	whole := bundleFor(t, func(v any) {
		leaves(v, "", func(path string, set func(any)) {
			if free.MatchString(path) {
				set("x" + evil)
			} else if !strings.HasPrefix(path, ".trials.") {
				places = append(places, path)
			}
		})
		trial := v.(map[string]any)["trials"].([]any)[3].(map[string]any)
		trial["state"], trial["reason"], trial["measures"] = "failed", "it failed"+evil, nil
	})
	if text := try("import", file("run.tar.gz", packed(t, whole))); text != "" {
		t.Fatal(text)
	}
	for _, command := range []string{"list", "show", "report --format markdown --output -", "report --output -", "judge 1", "compare 1 1",
		"resume"} {
		try(strings.Fields(command)...)
	}
	for _, place := range places {
		text := bundleFor(t, func(v any) {
			leaves(v, "", func(path string, set func(any)) {
				if path == place {
					set("x" + evil)
				}
			})
		})
		try("import", file("run.tar.gz", packed(t, text)), "--store", filepath.Join(h.dir, "other.db"))
	}
	for _, text := range []string{"layout,throughput,b" + evil + "\nx" + evil + ",1\ny,2\n",
		"layout,throughput\nx" + evil + ",z" + evil + "\n", evil} {
		try("judge", "--csv", file("\x1b[9A.csv", text))
	}
	for _, text := range []string{"engine: \"x\\e[9A\"\n", "\"x\\e[9A\": 1\n", "engine: sqlite\nname: \"x\\e[9A\"\nfiles: [1]\n",
		"# \x1b[9A\u202e\nx: 1\n"} {
		study := file("study.yaml", text)
		try("plan", study)
		try("run", study, "--only", "x\x1b[9A")
	}
	if shown < 15 {
		t.Errorf("only %d texts were shown at all", shown)
	}
}

// packed is a bundle of a run's JSON, whatever that is.
func packed(t *testing.T, run []byte) string {
	t.Helper()
	manifest, err := json.Marshal(store.Manifest{Format: store.BundleFormat, Schema: store.BundleSchema, Store: 1, Version: "x" + evil,
		Exported: time.Now(), Host: "h" + evil, User: "u" + evil, Size: int64(len(run)), SHA256: fmt.Sprintf("%x", sha256.Sum256(run))})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for i, text := range [][]byte{manifest, run} {
		err = errors.Join(err, archive.WriteHeader(&tar.Header{Name: []string{"manifest.json", "run.json"}[i], Size: int64(len(text))}))
		_, failed := archive.Write(text)
		err = errors.Join(err, failed)
	}
	if err := errors.Join(err, archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A letter that comes in two writes is whole, and bytes that are none are marked.
func TestReadableInParts(t *testing.T) {
	var out bytes.Buffer
	r := &document.Readable{To: &out}
	for _, b := range []byte("a→é\x1b[1m\x9b\n") {
		if n, err := r.Write([]byte{b}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := out.String(); got != "a→é\ufffd[1m\ufffd\n" {
		t.Errorf("%q", got)
	}
}
