package main

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml (github|gitlab)\n(.*?)```")

// TestPipelines executes the steps of the examples for GitHub and GitLab as their runners do,
// and finds what they hand on: the files of artifacts, and the report in JUnit XML.
func TestPipelines(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "pipelines.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, b := range blocks {
		t.Run(b[1], func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			script, files := stepsOf(t, b[2])
			if strings.Contains(script, "baseline.tar.gz") { // what an earlier pipeline has kept
				example{place: "before"}.execute(t, work, seconds+"filewise run --files 1,8 --store b.db\n"+
					"filewise export last --store b.db --bundle baseline.tar.gz")
			}
			// What is measured in seconds may meet any condition: that is no fault of the script.
			example{place: b[1]}.execute(t, work, "GITHUB_STEP_SUMMARY=summary.md\n"+seconds+
				strings.NewReplacer(
					"gain > 10 %", "gain > 100000 %", "loss > 5 %", "loss > 99.9 %", "p99 > 25 %", "p99 > 100000 %",
				).Replace(script)+"\n")
			if len(files) < 2 {
				t.Errorf("it hands on %q", files)
			}
			for _, name := range files {
				text, err := os.ReadFile(filepath.Join(work, name))
				if err != nil || len(text) == 0 {
					t.Errorf("%s: %v", name, err)
				}
				if filepath.Ext(name) == ".xml" && xml.Unmarshal(text, new(struct {
					XMLName xml.Name `xml:"testsuites"`
				})) != nil {
					t.Errorf("%s is no JUnit XML: %s", name, text)
				}
			}
		})
	}
}

// stepsOf are the shell lines of an example's jobs, and the files that it hands on.
func stepsOf(t *testing.T, text string) (script string, files []string) {
	t.Helper()
	type job struct {
		Steps []struct {
			Run  string
			With struct{ Path string }
		}
		Script      []string
		AfterScript []string `yaml:"after_script"`
		Artifacts   struct {
			Paths   []string
			Reports struct{ JUnit string }
		}
	}
	var doc struct {
		Jobs    map[string]job
		Storage job
	}
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	all := append([]job{doc.Storage}, doc.Jobs["layout"])
	for _, j := range all {
		for _, s := range j.Steps {
			script += s.Run
			files = append(files, strings.Fields(s.With.Path)...)
		}
		for _, line := range append(j.Script, j.AfterScript...) {
			script += strings.ReplaceAll(strings.ReplaceAll(line, "> 5 %", "> 99 %"), "> 25 %", "> 100000 %") + "\n"
		}
		files = append(files, j.Artifacts.Paths...)
		if j.Artifacts.Reports.JUnit != "" {
			files = append(files, j.Artifacts.Reports.JUnit)
		}
	}
	return script, files
}
