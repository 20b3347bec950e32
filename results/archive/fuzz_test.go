package archive_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"filewise"
	"filewise/results/archive"
	"filewise/results/report"
	"filewise/results/store"
)

func must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// storedRun is a run as bundles hold it, with the ends of its tokens.
type storedRun struct {
	text []byte
	ends []int
}

func storedRuns(f testing.TB) (out []storedRun) {
	f.Helper()
	packed, err := os.Open("../../cmd/filewise/testdata/stores/2026-11-22.db.gz")
	must(f, err)
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	must(f, err)
	db, err := io.ReadAll(unpacked)
	must(f, err)
	path := filepath.Join(f.TempDir(), "store.db")
	must(f, os.WriteFile(path, db, 0o600))
	runs, err := archive.List(f.Context(), path)
	must(f, err)
	for _, r := range runs {
		run, err := archive.Load(f.Context(), path, strconv.FormatInt(r.ID, 10))
		must(f, err)
		run.Trials = run.Trials[:min(len(run.Trials), 12)] // two blocks and more
		for i := range run.Trials {
			for j := range run.Trials[i].Measures {
				m := &run.Trials[i].Measures[j]
				m.Slices = m.Slices[:min(len(m.Slices), 4)]
			}
		}
		var text bytes.Buffer
		must(f, store.ExportJSON(&text, run.Run, run.Trials))
		one := storedRun{text: text.Bytes()}
		for d := json.NewDecoder(&text); err == nil; _, err = d.Token() {
			one.ends = append(one.ends, int(d.InputOffset()))
		}
		out = append(out, one)
	}
	return out
}

// with is the run with a text in the place of some tokens. The comma or colon before them stays.
func (r storedRun) with(at, many int, put string) []byte {
	from := r.ends[at%len(r.ends)]
	to := r.ends[min(at%len(r.ends)+many, len(r.ends)-1)]
	if put != "" {
		from += len(r.text[from:to]) - len(bytes.TrimLeft(r.text[from:to], " \n,:"))
	}
	return slices.Concat(r.text[:from], []byte(put), r.text[to:])
}

// Whatever stands in the place of some tokens of a bundle's run, it is refused, or it is
// judged and shown.
func FuzzRun(f *testing.F) {
	runs := storedRuns(f)
	for i, put := range []string{"", `null`, `-1`, `0`, `1e20`, `99999999999`, `"x"`, `{}`, `[]`, `true,"x":`} {
		for n := range runs {
			f.Add(uint8(n), uint16(400*i+n), uint8(1), put)
		}
	}
	manifest := store.Manifest{Version: "v9"}
	f.Fuzz(func(t *testing.T, of uint8, at uint16, many uint8, put string) {
		run, trials, err := store.ParseRun(runs[int(of)%len(runs)].with(int(at), int(many), put), manifest)
		if err != nil {
			if filewise.CodeOf(err) != filewise.CodeUsage {
				t.Fatal(err)
			}
			return
		}
		must(t, store.ExportBundle(io.Discard, run, trials, manifest))
		data, err := archive.Run{Run: run, Trials: trials}.Data()
		if err != nil {
			return // so is an import
		}
		must(t, report.HTML(io.Discard, data))
		must(t, report.JSON(io.Discard, data))
		must(t, report.Terminal(io.Discard, data, report.TerminalOptions{Width: 80}))
	})
}
