//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"filewise/cmd/filewise/filewisetest"
)

// fixture holds one of Filewise's own runs, in each form in which runs are read.
type fixture struct {
	store, bundle, csv []byte
	studies            [][]byte
	trials             int
	old, listed        []byte // an older Filewise's store, and the output of list for it
}

func (a *attack) newFixture(ctx context.Context) (*fixture, error) {
	p, err := a.place(ctx, "fixture", rand.New(rand.NewPCG(a.seed, 0)))
	if err != nil {
		return nil, err
	}
	f := &fixture{}
	_, err = p.run(succeeds, runArgs(sqliteRun...)...)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	say := func(args ...string) []byte {
		c, runErr := p.run(succeeds, args...)
		if err = errors.Join(err, runErr); runErr != nil {
			return nil
		}
		return c.stdout.Bytes()
	}
	f.bundle, f.csv = say("export", "--bundle", "-"), say("export", "--format", "csv")
	for _, scenario := range []string{"inserts", "custom", "orders"} {
		f.studies = append(f.studies, say("init", scenario))
	}
	s, readErr := p.stored()
	f.trials = len(s.trials)
	var storeErr, oldErr, writeErr error
	f.store, storeErr = os.ReadFile(p.store) // the last process to close the store has emptied its log
	f.old, oldErr = oldStore()
	writeErr = os.WriteFile(p.store, f.old, 0o600)
	f.listed = say("list", "--json")
	return f, errors.Join(err, readErr, storeErr, oldErr, writeErr, p.close())
}

// oldStore returns the store that the commands' tests use.
func oldStore() ([]byte, error) {
	root, err := filewisetest.Product()
	if err != nil {
		return nil, err
	}
	packed, err := os.ReadFile(filepath.Join(root, "cmd", "filewise", "testdata", "stores", "2026-11-22.db.gz"))
	if err != nil {
		return nil, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}

// mutatedInput has a damaged file read. It must be refused or understood, without a crash, an internal error, or more
// memory than a store of the largest run takes.
func mutatedInput(p *place) error {
	for p.count = 0; p.count < min(50, p.most); p.count++ {
		if err := p.mutated(); err != nil {
			p.count++
			return err
		}
	}
	return nil
}

const inputMemory = 1 << 30

func (p *place) mutated() error {
	name := filepath.Join(p.dir, "input")
	var args []string
	var text []byte
	switch p.IntN(4) {
	case 0:
		args, text = []string{"import", name}, mutate(p.Rand, p.fixture.bundle)
	case 1:
		args = []string{"import", name}
		var err error
		if text, err = rebundle(p.fixture.bundle, func(run []byte) []byte { return mutate(p.Rand, run) }); err != nil {
			return err
		}
	case 2:
		args, text = []string{"plan", name}, mutate(p.Rand, p.fixture.studies[p.IntN(len(p.fixture.studies))])
	default:
		args, text = []string{"judge", "--csv", name}, mutate(p.Rand, p.fixture.csv)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return err
	}
	c, err := p.start([]string{"prlimit", "--data=4294967296"}, args...) // limits writable pages, used or not
	if err != nil {
		return err
	}
	code, err := c.exit()
	used := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	switch {
	case err != nil:
	case !slices.Contains([]int{0, 2, 3, 6}, code):
		err = fmt.Errorf("exit code %d", code)
	case used > inputMemory:
		err = fmt.Errorf("it took %d MiB", used>>20)
	case bytes.ContainsFunc(append(c.stdout.Bytes(), c.stderr.Bytes()...), steers):
		err = errors.New("it writes what a terminal obeys")
	}
	if err != nil {
		kept := filepath.Join(os.TempDir(), fmt.Sprintf("filewise-attack-%x", sha256.Sum256(text))[:32])
		return errors.Join(fmt.Errorf("%s of %s: %w\n%.1500s", args[0], kept, err, c.stderr.Bytes()), os.WriteFile(kept, text, 0o600))
	}
	return nil
}

// steers reports whether a terminal obeys the character.
func steers(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// damage lists texts that break readers.
var damage = []string{"\x00", "\xff\xfe", "\x1b]0;x\x07", "-1", "1e999", "99999999999999999999", "NaN", "null", "{}", "[", "\"", "\n", ",",
	strings.Repeat("[", 20_000), strings.Repeat("{\"a\":", 5_000), strings.Repeat("é", 100_000), strings.Repeat("\n", 1<<20),
	"=cmd|' /C calc'!A0", "*a", "&a [*a]", "../../etc/passwd", "<<: *x"}

var numbers = regexp.MustCompile(`\d+(\.\d+)?`)

// mutate damages a text in one to four places.
func mutate(r *rand.Rand, text []byte) []byte {
	text = slices.Clone(text)
	for range 1 + r.IntN(4) {
		if len(text) == 0 {
			return text
		}
		at := r.IntN(len(text))
		end := min(at+1+r.IntN(64), len(text))
		with := []byte(damage[r.IntN(len(damage))])
		switch r.IntN(6) {
		case 0:
			text[at] ^= 1 << r.IntN(8)
		case 1:
			text = slices.Delete(text, at, end)
		case 2:
			text = slices.Insert(text, at, slices.Clone(text[at:end])...)
		case 3:
			text = slices.Insert(text, at, with...)
		case 4:
			text = text[:at]
		default:
			if n := numbers.FindIndex(text[at:]); n != nil {
				text = slices.Replace(text, at+n[0], at+n[1], with...)
			}
		}
	}
	return text
}

// rebundle alters the run of a bundle, and corrects the bundle's checksum and size.
func rebundle(bundle []byte, alter func([]byte) []byte) ([]byte, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(bundle))
	if err != nil {
		return nil, err
	}
	var headers []*tar.Header
	var texts [][]byte
	for in := tar.NewReader(unpacked); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		headers, texts = append(headers, h), append(texts, text)
	}
	run := alter(texts[1])
	texts[0] = bytes.Replace(texts[0], fmt.Appendf(nil, "%x", sha256.Sum256(texts[1])), fmt.Appendf(nil, "%x", sha256.Sum256(run)), 1)
	texts[0] = bytes.Replace(texts[0], fmt.Appendf(nil, `"size": %d`, len(texts[1])), fmt.Appendf(nil, `"size": %d`, len(run)), 1)
	texts[1] = run
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	for i, h := range headers {
		h.Size = int64(len(texts[i]))
		if err := archive.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := archive.Write(texts[i]); err != nil {
			return nil, err
		}
	}
	err = errors.Join(archive.Close(), packed.Close())
	return out.Bytes(), err
}

// damagedStore changes some bytes of a store and has it read. It must be refused or read, without a crash, an internal
// error, or a trial that was not the plan's next.
func damagedStore(p *place) error {
	text := slices.Clone(p.fixture.store)
	for range 1 + p.IntN(16) {
		at := p.IntN(len(text))
		if p.IntN(4) == 0 {
			at = p.IntN(100) // the header
		}
		text[at] = byte(p.IntN(256))
	}
	if p.IntN(8) == 0 {
		text = text[:p.IntN(len(text))]
	}
	for _, args := range [][]string{{"list"}, {"show"}, {"judge", "last"}, {"export", "--format", "json"}, {"resume"}} {
		if err := os.WriteFile(p.store, text, 0o600); err != nil {
			return err
		}
		if _, err := p.run([]int{0, 5, 7}, args...); err != nil {
			kept := filepath.Join(os.TempDir(), fmt.Sprintf("filewise-attack-%x", sha256.Sum256(text))[:32])
			return errors.Join(fmt.Errorf("store %s: %w", kept, err), os.WriteFile(kept, text, 0o600))
		}
	}
	return p.tidy()
}
