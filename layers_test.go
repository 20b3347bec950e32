package filewise_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// unlayered are folders that nothing else imports: they may import anything.
var unlayered = []string{"proof", "scripts"}

// TestEveryPackageHasItsLayer: a package that no rule of the linter names could import
// any other.
func TestEveryPackageHasItsLayer(t *testing.T) {
	text, err := os.ReadFile(".golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct{ Files []string }
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	layered := map[string]bool{".": true}
	for _, folder := range unlayered {
		layered[folder] = true
	}
	for _, rule := range config.Linters.Settings.Depguard.Rules {
		for _, files := range rule.Files {
			folder, _, _ := strings.Cut(strings.TrimPrefix(files, "${config-path}/"), "/")
			layered[folder] = true
		}
	}
	for _, folder := range folders(t) {
		if !layered[folder] {
			t.Errorf("no rule of .golangci.yml says what %s may import", folder)
		}
	}
}

// named are comparisons with the name of a workload or an engine.
var named = map[string]*regexp.Regexp{
	"engine":      regexp.MustCompile(`Workload [!=]= |switch [a-z.]*\.Workload {`),
	"own/inspect": regexp.MustCompile(`Engine [!=]= |switch [a-z.]*\.Engine {|"(sqlite|mariadb|mysql|postgres|sqlserver|oracle)"`),
}

// ofEngines are the files that ask one engine, and their registry.
var ofEngines = regexp.MustCompile(`/inspect/(look|innodb|oracle|postgres|sqlite|sqlserver)\.go$`)

// TestNoNamesAcrossLayers: engines look at a program's declarations and name no workload; the findings of an
// inspection come from the engine's description and name no engine.
func TestNoNamesAcrossLayers(t *testing.T) {
	for folder, names := range named {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || ofEngines.MatchString(path) {
				return err
			}
			text, err := os.ReadFile(path)
			if found := names.Find(text); found != nil {
				t.Errorf("%s has %q", path, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// folders are the folders of the root that have packages in them.
func folders(t *testing.T) []string {
	t.Helper()
	sources, err := filepath.Glob("*/*.go")
	deeper, err2 := filepath.Glob("*/*/*.go")
	if err != nil || err2 != nil || len(sources) == 0 {
		t.Fatal(err, err2)
	}
	var all []string
	for _, source := range append(sources, deeper...) {
		folder, _, _ := strings.Cut(filepath.ToSlash(source), "/")
		all = append(all, folder)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// undescribed are folders outside the layers: helpers, and what measures and makes them.
var undescribed = []string{"docs", "scripts"}

// TestDesignNamesEveryLayer: the layers of docs/design.md are the folders that are there.
func TestDesignNamesEveryLayer(t *testing.T) {
	page, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, layers, _ := strings.Cut(string(page), "## Layers\n")
	_, layers, _ = strings.Cut(layers, "```\n")
	layers, _, _ = strings.Cut(layers, "```")
	named := map[string]bool{"/": true}
	for line := range strings.Lines(layers) {
		name, _, _ := strings.Cut(line, " ")
		name = strings.TrimSuffix(name, "/…")
		if _, err := os.Stat(filepath.FromSlash("./" + name)); err != nil {
			t.Errorf("docs/design.md names %s, which is not there", name)
		}
		folder, _, _ := strings.Cut(name, "/")
		named[folder] = true
	}
	for _, folder := range folders(t) {
		if !named[folder] && !slices.Contains(undescribed, folder) {
			t.Errorf("docs/design.md says nothing of %s", folder)
		}
	}
}

var (
	linked = regexp.MustCompile(`\]\(([a-z_/]+\.go)\)`)
	quoted = regexp.MustCompile("(?s)```go\n(.*?)```")
)

// TestContributingQuotesTheCode: lines of code in CONTRIBUTING.md stand in the file that is
// linked before them.
func TestContributingQuotesTheCode(t *testing.T) {
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range quoted.FindAllSubmatchIndex(page, -1) {
		files := linked.FindAllSubmatch(page[:at[0]], -1)
		if len(files) == 0 {
			t.Fatalf("no file is linked before %s", page[at[2]:at[3]])
		}
		file := string(files[len(files)-1][1])
		code, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(code), strings.TrimSpace(string(page[at[2]:at[3]]))) {
			t.Errorf("%s has no %s: %v", file, page[at[2]:at[3]], err)
		}
	}
}

// TestContributingNamesTheCode: a name of Go in a table of CONTRIBUTING.md is a word of a file in the
// folder of a link of its row.
func TestContributingNamesTheCode(t *testing.T) {
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`(?:\\w+\\.)?([A-Za-z]*[A-Z][A-Za-z]*)`")
	links := regexp.MustCompile(`\]\(([a-z_/]+)\.go\)`)
	found := 0
	for line := range strings.Lines(string(page)) {
		var code strings.Builder
		for _, link := range links.FindAllStringSubmatch(line, -1) {
			files, _ := filepath.Glob(filepath.Join(filepath.Dir(link[1]), "*.go")) // the pattern is well-formed
			for _, file := range files {
				text, _ := os.ReadFile(file) // an empty one has no name
				code.Write(text)
			}
		}
		for _, name := range names.FindAllStringSubmatch(line, -1) {
			if found++; strings.HasPrefix(line, "|") && !regexp.MustCompile(`\b`+name[1]+`\b`).MatchString(code.String()) {
				t.Errorf("%s is not in the folders of %s", name[1], line)
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d names", found)
	}
}

// TestDownloadsArePinned: whatever the scripts fetch is compared with a hash that stands here.
func TestDownloadsArePinned(t *testing.T) {
	hash := regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	scripts, err := filepath.Glob("scripts/get-*")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		checks := regexp.MustCompile(`sha256sum --check|--require-hashes`).Match(text) && hash.Match(text)
		if !checks && !strings.Contains(string(text), "npm ci ") {
			t.Errorf("%s fetches what may be another tomorrow", script)
		}
	}
	locks, err := filepath.Glob("scripts/*/package-lock.json")
	if err != nil || len(locks) == 0 {
		t.Fatal(locks, err)
	}
	for _, lock := range locks {
		text, err := os.ReadFile(lock)
		if err != nil {
			t.Fatal(err)
		}
		versions, sums := strings.Count(string(text), `"version"`), strings.Count(string(text), `"integrity": "sha512-`)
		if sums == 0 || versions != sums {
			t.Errorf("%s has %d packages and %d hashes", lock, versions, sums)
		}
	}
}

// TestCommandLineIsThin: cmd/filewise is options and wiring; what is more belongs below it.
func TestCommandLineIsThin(t *testing.T) {
	const most = 5000 // lines outside tests
	files, err := filepath.Glob("cmd/filewise/*.go")
	lines := 0
	for _, file := range files {
		text, rerr := os.ReadFile(file)
		if err = errors.Join(err, rerr); !strings.HasSuffix(file, "_test.go") {
			lines += strings.Count(string(text), "\n")
		}
	}
	if err != nil || lines == 0 || lines > most {
		t.Errorf("%d lines, %v", lines, err)
	}
}
