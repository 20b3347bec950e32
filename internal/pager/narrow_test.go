package pager

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestNarrow(t *testing.T) {
	const said = "2 files ≥ 1.4 × „Größe“ … 数𝄞 → ok\n"
	for page, want := range map[uint32]string{
		850:   "2 files >= 1.4 x \"Gr\x94\xe1e\" ... ?? -> ok\n",
		932:   "2 files >= 1.4 x \"Gr??e\" ... ?? -> ok\n",
		65000: "2 files >= 1.4 x \"Gr??e\" ... ?? -> ok\n",
	} {
		var out bytes.Buffer
		w := &Narrow{to: &out, other: inPage(page)}
		for i := range said { // in pieces, characters too
			for j := i; j < len(said) && (j == i || said[j]&0xc0 == 0x80); j++ {
				if _, err := io.WriteString(w, said[j:j+1]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := strings.ReplaceAll(out.String(), "“", `"`); got != want {
			t.Errorf("page %d: %q, want %q", page, got, want)
		}
	}
	var out bytes.Buffer
	w := &Narrow{to: &out, other: inPage(850)}
	var read string
	if err := json.NewEncoder(JSON(w)).Encode(said); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || read != said ||
		strings.ContainsFunc(out.String(), func(r rune) bool { return r > 126 }) {
		t.Errorf("%q is read as %q, %v", &out, read, err)
	}
	if Raw(w) != &out || JSON(&out) != &out || Raw(&out) != &out {
		t.Error("not the writer beneath")
	}
}

// Every sign that reports on the terminal use has a word in ASCII.
func TestPlainHasEverySign(t *testing.T) {
	text := regexp.MustCompile("(?s)\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`")
	for _, dir := range []string{"results/report", "results/report/document", "watch/display", "lab/experiment", "internal/say",
		"cmd/filewise", "own/inspect", "lab/cause", "lab/verdict"} {
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, f := range files {
			source, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(source)) {
				line, _, _ = strings.Cut(line, "//")
				for _, said := range text.FindAllString(line, -1) {
					for _, r := range said {
						if _, ok := plain[r]; r > 126 && !ok && !strings.HasSuffix(f, "_test.go") {
							t.Errorf("%s: %q in %s", f, r, said)
						}
					}
				}
			}
		}
	}
}
