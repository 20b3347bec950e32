package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filewise"
)

var exportedAt = time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)

// bundled is a run of two layouts as a bundle.
func bundled(t testing.TB, run Run, trials ...filewise.Trial) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := ExportBundle(&out, run, trials, Manifest{Version: "v9", Exported: exportedAt, Host: "db1", User: "ada"}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func bundleRun() (Run, []filewise.Trial) {
	run, trials := sampleRun(), []filewise.Trial{sampleTrial(1), sampleTrial(2)}
	run.Plan.Baseline = run.Plan.Layouts[0].Name
	for i := range trials {
		trials[i].Cell.Layout = run.Plan.Layouts[0].Name
	}
	trials[0].Measures[0].Work, trials[0].Measures[0].Deltas[0].Value = math.NaN(), math.NaN()
	return run, trials
}

// What is carried to another store stays as it was, and names its origin.
func TestImport(t *testing.T) {
	run, trials := bundleRun()
	m, gotRun, got, err := ReadBundle(bytes.NewReader(bundled(t, run, trials...)))
	must(t, err)
	if diff := cmp.Diff(run, gotRun); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(trials, got, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "other.db"))
	must(t, err)
	defer s.Close()
	newRun(t, s) // so that the number is another
	id, added, err := s.Import(t.Context(), m, gotRun, got)
	must(t, err)
	here, err := s.Run(t.Context(), id)
	must(t, err)
	if added != 2 || here.Origin == nil || here.Origin.ID != 12 || here.Origin.Version != "v9" || here.Origin.Where() != "ada@db1" ||
		!here.Origin.Exported.Equal(exportedAt) {
		t.Errorf("%d added, %+v", added, here.Origin)
	}
	here.ID, here.Origin = run.ID, nil
	if diff := cmp.Diff(run, here); diff != "" {
		t.Error(diff)
	}
	stored, err := s.Trials(t.Context(), id)
	must(t, err)
	if diff := cmp.Diff(trials, stored, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
}

// A second import is reported, not doubled; a run that has gone on gets what it lacks; one that is still measured is
// not running here.
func TestImportAgain(t *testing.T) {
	run, trials := bundleRun()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "other.db"))
	must(t, err)
	defer s.Close()
	half := run
	half.State, half.Ended, half.Ending = Running, nil, ""
	for i, c := range []struct {
		run    Run
		trials []filewise.Trial
		added  int
		state  State
	}{{half, trials[:1], 1, Interrupted}, {half, trials[:1], 0, Interrupted}, {run, trials, 1, Done}, {half, trials[:1], 0, Done}} {
		id, added, err := s.Import(t.Context(), Manifest{Version: "v9"}, c.run, c.trials)
		must(t, err)
		here, err := s.Run(t.Context(), id)
		must(t, err)
		if id != 1 || added != c.added || here.State != c.state {
			t.Errorf("import %d: run %d, %d added, %s", i, id, added, here.State)
		}
	}
	otherwise := append([]filewise.Trial{sampleTrial(3)}, trials...)
	if _, _, err := s.Import(t.Context(), Manifest{}, run, otherwise); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("another history: %v", err)
	}
	own, err := s.CreateRun(t.Context(), Run{Plan: samplePlan()})
	must(t, err)
	mine, err := s.Run(t.Context(), own)
	must(t, err)
	if id, added, err := s.Import(t.Context(), Manifest{}, mine, trials); err != nil || id != own || added != 0 {
		t.Errorf("back home: run %d, %d added, %v", id, added, err)
	}
}

// A tar of these files, with a manifest that fits the run unless it is given.
func tarred(t testing.TB, files ...[2]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	must(t, err)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		h := &tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1])), Typeflag: tar.TypeReg}
		if strings.HasPrefix(f[1], "→") {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, "/etc/passwd", 0
			f[1] = ""
		}
		must(t, archive.WriteHeader(h))
		_, err := io.WriteString(archive, f[1])
		must(t, err)
	}
	must(t, archive.Close())
	must(t, zipped.Close())
	return out.Bytes()
}

func manifestOf(t testing.TB, run string, change func(*Manifest)) string {
	t.Helper()
	sum := sha256.Sum256([]byte(run))
	m := Manifest{Format: BundleFormat, Schema: 1, Store: schemaVersion, Version: "v9", Exported: exportedAt, Size: int64(len(run)),
		SHA256: hex.EncodeToString(sum[:])}
	if change != nil {
		change(&m)
	}
	b, err := json.Marshal(m)
	must(t, err)
	return string(b)
}

// Whatever is not a whole bundle of this or an older Filewise is refused with the
// reason, and nothing is half imported.
func TestBundleRefused(t *testing.T) {
	run, trials := bundleRun()
	good := bundled(t, run, trials...)
	var text bytes.Buffer
	must(t, ExportJSON(&text, run, trials))
	with := func(old, new string) []byte {
		changed := strings.Replace(text.String(), old, new, 1)
		if changed == text.String() {
			t.Fatalf("the run has no %s", old)
		}
		return tarred(t, [2]string{manifestName, manifestOf(t, changed, nil)}, [2]string{runName, changed})
	}
	packed := func(run string) []byte {
		return tarred(t, [2]string{manifestName, manifestOf(t, run, nil)}, [2]string{runName, run})
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 0x40
	bomb := strings.Repeat("\x00", 64<<20)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":        {nil, "cut short"},
		"text":         {[]byte("run,block\r\n1,1\r\n"), "it is not a bundle"},
		"damaged":      {flipped, "cannot be read"},
		"foreign":      {tarred(t, [2]string{"package.json", "{}"}), "another program"},
		"foreign name": {tarred(t, [2]string{manifestName, `{"format":"x"}`}), "another program"},
		"traversal": {tarred(t, [2]string{manifestName, manifestOf(t, text.String(), nil)}, [2]string{"../../etc/run.json", text.String()}),
			"another program"},
		"link": {tarred(t, [2]string{manifestName, manifestOf(t, text.String(), nil)}, [2]string{runName, "→"}), "another program"},
		"more": {tarred(t, [2]string{manifestName, manifestOf(t, text.String(), nil)}, [2]string{runName, text.String()},
			[2]string{"x", ""}), "behind the run"},
		"check sum": {tarred(t, [2]string{manifestName, manifestOf(t, text.String(),
			func(m *Manifest) { m.SHA256 = strings.Repeat("0", 64) })}, [2]string{runName, text.String()}), "check sum"},
		"size": {tarred(t, [2]string{manifestName, manifestOf(t, text.String(), func(m *Manifest) { m.Size = 3 })},
			[2]string{runName, text.String()}), "too large"},
		"bomb":          {tarred(t, [2]string{manifestName, bomb}), "too large"},
		"bomb in a run": {tarred(t, [2]string{manifestName, manifestOf(t, "x", nil)}, [2]string{runName, bomb}), "too large"},
		"objects":       {packed(`{"trials":[` + strings.Repeat("{},", 2_000_000) + "{}]}"), "larger than what Filewise writes"},
		"blanks":        {packed(strings.Repeat(" ", 1<<20) + text.String()), "blanks in a row"},
		"depth":         {packed(strings.Repeat("[", 1000)), "a depth of more than"},
		"newer": {tarred(t, [2]string{manifestName, manifestOf(t, "x", func(m *Manifest) { m.Schema = 2 })}),
			"Filewise v9 wrote the bundle: its format has version 2"},
		"newer store": {tarred(t, [2]string{manifestName, manifestOf(t, "x", func(m *Manifest) { m.Store = schemaVersion + 1 })}),
			"Filewise v9 wrote the bundle"},
		"newer field": {with(`"seed":`, `"novelty": 1, "seed":`), "cannot read all of it"},
		"two trials":  {with(`"block": 2`, `"block": 1`), "there twice"},
		"no layout":   {with(`"layout": "`, `"layout": "x`), "not one of the plan"},
		"no time":     {with(`"started": "2026`, `"started": "0001`), "no start"},
		"work":        {with(`"work": 11.5`, `"work": -11.5`), "its work is -11.5"},
		"counter":     {with(`"value": 3`, `"value": 3e22`), "is 3e+22"},
		"state":       {with(`"state": "done"`, `"state": "won"`), "won"},
	} {
		_, _, _, err := ReadBundle(bytes.NewReader(c.data))
		if filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range len(good) {
		if _, _, _, err := ReadBundle(bytes.NewReader(good[:n])); err == nil {
			t.Fatalf("%d of %d bytes are taken for the whole", n, len(good))
		}
	}
}

func FuzzReadBundle(f *testing.F) {
	for n := range 3 { // of a run that has begun, with one trial, and with two
		run, trials := bundleRun()
		var text, short bytes.Buffer
		must(f, ExportJSON(&text, run, trials[:n]))
		if _, _, _, err := ReadBundle(bytes.NewReader(bundled(f, run, trials[:n]...))); err != nil {
			f.Fatalf("the seed of %d trials is refused: %v", n, err)
		}
		must(f, json.Compact(&short, text.Bytes())) // so that what is changed is seldom a blank
		f.Add(short.Bytes())
	}
	f.Add([]byte(`{"format":"filewise-run","schema":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		// Behind the check sum, which no fuzzer finds.
		data := tarred(t, [2]string{manifestName, manifestOf(t, string(text), nil)}, [2]string{runName, string(text)})
		_, run, trials, err := ReadBundle(bytes.NewReader(data))
		if err == nil {
			err = ExportJSON(io.Discard, run, trials)
		} else if filewise.CodeOf(err) == filewise.CodeUsage {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
