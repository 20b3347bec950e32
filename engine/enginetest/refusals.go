package enginetest

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"filewise/internal/marker"
)

// Refusal is one way in which a server refuses a kind of statement.
type Refusal struct {
	Number int
	Text   string
	Always bool // for lack of a right: the refusal is repeated with each request
}

// ReadRefusals reads the table of documented refusals by kind of statement. A kind is followed by the vendor's page,
// and by its refusals, a line each. Each number has one source, a page of the vendor's, or is listed as unread.
func ReadRefusals(t testing.TB, path string) map[string][]Refusal {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, kind, sourced := map[string][]Refusal{}, "", map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		refusal, of := strings.CutPrefix(line, "  ")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "source ") || strings.HasPrefix(line, "unread:"):
			page, numbers, _ := strings.Cut(line, ": ")
			if strings.HasPrefix(page, "source ") && !strings.Contains(page, ".com/") {
				t.Fatalf("%s: %s names no page of the vendor", path, line)
			}
			for _, n := range strings.Fields(numbers) {
				if sourced[n] {
					t.Errorf("%s: %s has two sources", path, n)
				}
				sourced[n] = true
			}
		case of:
			number, words, _ := strings.Cut(refusal, " ")
			x := Refusal{}
			if x.Number, err = strconv.Atoi(number); err != nil || kind == "" || !sourced[number] {
				t.Fatalf("%s: %s: no number, no kind, or no source", path, line)
			}
			x.Text, x.Always = strings.CutPrefix(words, "always ")
			all[kind] = append(all[kind], x)
		default:
			name, page, ok := strings.Cut(line, " | ")
			if !ok || !strings.Contains(page, ".com/") || all[name] != nil {
				t.Fatalf("%s: %s has no page, or is there twice", path, line)
			}
			kind = name
		}
	}
	return all
}

// DeadMarker returns the marker of a process of this host that does not run any more.
func DeadMarker(t testing.TB, name string, custom bool) string {
	t.Helper()
	m, err := marker.New(name, time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	m.Custom = custom
	return Dead(t, name, m)
}

// Dead returns a marker as a process that does not run any more would have written it.
func Dead(t testing.TB, name string, m marker.Marker) string {
	t.Helper()
	m.Process.PID, m.Sum = 1<<30, ""
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("filewise mark 1\x00" + string(b)))
	m.Sum = strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:6]
	if _, err := marker.Parse(name, m.Text()); err != nil && marker.IsName(name) {
		t.Fatal(err)
	}
	return m.Text()
}
