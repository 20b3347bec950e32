package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"filewise/internal/longtest"
)

// Examples in the README and docs/ are executed, block by block, each page in a
// scratch directory of its own:
//
//	```sh         by a shell, on budgets that take seconds
//	```sh plan    its filewise commands alone, "run" as "plan": for servers and long runs
//	```sh parse   its filewise commands are read, not executed: for what is not here
//
// scripts/run is filewise there.
func TestExamples(t *testing.T) {
	for _, page := range docPages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			for _, x := range examplesOf(t, page) {
				x.try(t, work)
			}
		})
	}
}

// docPages are the README, CONTRIBUTING and the pages of docs/.
func docPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("docs/ has %d pages: %v", len(pages), err)
	}
	return append(pages, filepath.Join("..", "..", "README.md"), filepath.Join("..", "..", "CONTRIBUTING.md"))
}

// example is a fenced block of a page.
type example struct {
	place, marker, text string
}

// examplesOf returns the page's blocks of sh, in order.
func examplesOf(t *testing.T, page string) []example {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	var open *example
	fenced := false
	for i, line := range strings.Split(string(text), "\n") {
		switch info, fence := strings.CutPrefix(line, "```"); {
		case fence && fenced:
			if open != nil {
				open.text = asFilewise(open.text)
			}
			fenced, open = false, nil
		case fence:
			fenced = true
			if lang, marker, _ := strings.Cut(info, " "); lang == "sh" {
				all = append(all, example{place: fmt.Sprintf("%s:%d", filepath.Base(page), i+1), marker: marker})
				open = &all[len(all)-1]
			}
		case open != nil:
			open.text += line + "\n"
		}
	}
	if fenced {
		t.Fatalf("%s: a fence is not closed", page)
	}
	return all
}

var ownNames = regexp.MustCompile(`(?m)^(scripts/run|bin/filewise)\b`)
var bareRun = regexp.MustCompile(`(?m)^scripts/run\s*(#.*)?$`)

// asFilewise calls what builds the program by the program's own name.
func asFilewise(text string) string {
	return ownNames.ReplaceAllString(bareRun.ReplaceAllString(text, "filewise run"), "filewise")
}

// seconds lets runs of inserts take seconds, if they set no duration.
const seconds = `
filewise() {
  case "$1 ${2-}" in
  "run " | "run -"* | "run inserts") FILEWISE_FILES=1,4 FILEWISE_WINDOW=200ms FILEWISE_WARM_UP=50ms FILEWISE_MAX_BLOCKS=3 \
    FILEWISE_SIZE=1MiB FILEWISE_CONNECTIONS=4 FILEWISE_DURABILITY=off FILEWISE_STORAGE_LIMIT=off command filewise "$@" ;;
  *) command filewise "$@" ;;
  esac
}
`

func (x example) try(t *testing.T, work string) {
	t.Helper()
	switch x.marker {
	case "":
		x.execute(t, work, seconds+x.text)
	case "plan":
		if !x.installed(t) {
			x.parse(t, work)
			return
		}
		x.execute(t, work, `filewise() { c=$1; shift; [ "$c" = run ] && c=plan; command filewise "$c" "$@"; }
`+x.commands())
	case "parse":
		x.parse(t, work)
	default:
		t.Errorf("%s: %q is no marker: there are none, plan, and parse", x.place, x.marker)
	}
}

// execute runs a script by a shell, whose filewise is this very program.
func (x example) execute(t *testing.T, work, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-eu", "-c", script)
	cmd.Dir = work
	cmd.Env = append(os.Environ(),
		"XDG_DATA_HOME="+filepath.Join(work, ".data"), "FILEWISE_STATE="+filepath.Join(work, ".state"),
		fmt.Sprintf("FILEWISE_LOCK=filewise-docs-%d-%s", os.Getpid(), filepath.Base(t.Name())))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s\nit said:\n%s", x.place, err, x.text, out)
	}
}

var engineFlag = regexp.MustCompile(`--engine[ =]([a-z]+)`)

// installed reports whether the engines of the example are here; in CI they must be, MySQL in its long part, which
// fetches it.
func (x example) installed(t *testing.T) bool {
	t.Helper()
	for _, m := range engineFlag.FindAllStringSubmatch(x.text, -1) {
		e, err := registry().Lookup(m[1])
		if err != nil {
			t.Errorf("%s: %v", x.place, err)
			return false
		}
		if missing := e.Describe().Missing; missing != "" {
			if os.Getenv("CI") == "true" && (longtest.Wanted() || m[1] != "mysql") {
				t.Errorf("%s: %s", x.place, missing)
			}
			t.Logf("%s: not tried: %s", x.place, missing)
			return false
		}
	}
	return true
}

// commands are the block's filewise commands, without whatever else there is.
func (x example) commands() string {
	var all []string
	for _, line := range strings.Split(strings.ReplaceAll(x.text, "\\\n", " "), "\n") {
		if word, _, _ := strings.Cut(line, " "); word == "filewise" {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n")
}

var redirection = regexp.MustCompile(`(?m) > \S+`)

// parse reads the block's commands as filewise does: command, flags with their
// types, arguments. A shell divides them into words.
func (x example) parse(t *testing.T, work string) {
	t.Helper()
	const end = "end of a command"
	words := filepath.Join(work, ".words")
	x.execute(t, work, `: > .words; filewise() { printf '%s\n' "$@" "`+end+`" >> .words; }
`+redirection.ReplaceAllString(x.commands(), ""))
	text, err := os.ReadFile(words)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(text), end+"\n"), end+"\n") {
		args := strings.Split(strings.TrimSuffix(line, "\n"), "\n")
		if line == "" {
			continue
		}
		cmd, rest, err := new(app).command().Find(args)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if err != nil {
			t.Errorf("%s: filewise %s: %v", x.place, strings.Join(args, " "), err)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)\s]*)?\)`)

// Every link between pages leads to a file that is there, and to a heading of it.
func TestLinks(t *testing.T) {
	pages := append(docPages(t), "../../results/store/EXPORT.md")
	for _, pattern := range []string{"../../*/README.md", "../../proof/*/README.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			there, err := os.ReadFile(to)
			if info, statErr := os.Stat(to); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil || m[2] != "" && !hasHeading(string(there), m[2][1:]) {
				t.Errorf("%s: %s leads nowhere", page, m[0])
			}
		}
	}
}

var notInAnchors = regexp.MustCompile(`[^a-z0-9 _-]`)

// hasHeading reports whether one of a page's headings has the anchor that GitHub makes of it.
func hasHeading(page, anchor string) bool {
	for _, line := range strings.Split(page, "\n") {
		if title := strings.TrimLeft(line, "#"); title != line {
			made := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			if strings.ReplaceAll(made, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}

var message = regexp.MustCompile("(?m)^\\| `([^`]+)`")

// Messages in docs/troubleshooting.md are ones of the code, between what differs
// from case to case, which stands there as "…".
func TestTroubleshootingQuotesTheCode(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	code := source(t, filepath.Join("..", ".."))
	quoted := message.FindAllSubmatch(text, -1)
	if len(quoted) < 20 {
		t.Fatalf("%d messages found", len(quoted))
	}
	for _, m := range quoted {
		for _, part := range bytes.Split(m[1], []byte("…")) {
			if part = bytes.TrimSpace(part); !bytes.Contains(code, part) {
				t.Errorf("nothing in the code says %q", part)
			}
		}
	}
}

// source is the code of the program, without its tests.
func source(t *testing.T, root string) []byte {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}
