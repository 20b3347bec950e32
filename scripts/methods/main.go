// Command methods writes what lets Go's linker drop the methods that nobody calls from a release: methods DIR TEMPORAL.
//
// The linker keeps every exported method as soon as one method is looked up by a name that it
// cannot know. Two places do: text/template, and Temporal's client where it registers a struct.
// In DIR it writes an overlay of text/template that knows the names in the templates of the source tree that it is run in; in TEMPORAL, a
// copy of the client, registering a struct is refused.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "methods: name a directory for the overlay, and a copy of Temporal's client")
		os.Exit(2)
	}
	if err := errors.Join(overlay(os.Args[1]), refuseStructs(os.Args[2])); err != nil {
		fmt.Fprintln(os.Stderr, "methods:", err)
		os.Exit(1)
	}
}

func overlay(dir string) error {
	names, err := inTemplates(".")
	if err != nil {
		return err
	}
	library, err := exec.CommandContext(context.Background(), "go", "list", "-f", "{{.Dir}}", "text/template").Output()
	if err != nil {
		return fmt.Errorf("go list text/template: %w", err)
	}
	looked := filepath.Join(strings.TrimSpace(string(library)), "exec.go")
	text, err := os.ReadFile(looked)
	if err != nil {
		return err
	}
	const lookup = "ptr.MethodByName(fieldName)"
	if n := strings.Count(string(text), lookup); n != 1 {
		return fmt.Errorf("%s has %q %d times, not once: text/template looks methods up differently now", looked, lookup, n)
	}
	patched := strings.Replace(string(text), lookup, "known(ptr, fieldName)", 1) +
		"\nfunc known(of reflect.Value, name string) reflect.Value {\n\tswitch name {\n"
	for _, name := range names {
		patched += fmt.Sprintf("\tcase %q:\n\t\treturn of.MethodByName(%[1]q)\n", name)
	}
	patched += "\t}\n\treturn reflect.Value{}\n}\n"
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	replaced := map[string]map[string]string{"Replace": {looked: filepath.Join(dir, "exec.go")}}
	listed, err := json.Marshal(replaced)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, "exec.go"), []byte(patched), 0o644),
		os.WriteFile(filepath.Join(dir, "overlay.json"), listed, 0o644))
}

var (
	action = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	field  = regexp.MustCompile(`\.([A-Z]\w*)`)
)

// inTemplates are the names that a template of the tree may look up: too many do no harm, one too few is said
// when the template runs, as of a field that is not there.
func inTemplates(root string) ([]string, error) {
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, a := range action.FindAll(text, -1) {
			for _, f := range field.FindAllSubmatch(a, -1) {
				names[string(f[1])] = true
			}
		}
		return err
	})
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted, err
}

func refuseStructs(sdk string) error {
	name := filepath.Join(sdk, "internal", "internal_worker.go")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	const declared = "\nfunc (r *registry) registerActivityStructWithOptions(aStruct interface{}, options RegisterActivityOptions) error {\n"
	before, body, found := strings.Cut(string(text), declared)
	_, after, ended := strings.Cut(body, "\n}\n")
	if !found || !ended {
		return fmt.Errorf("%s does not declare registerActivityStructWithOptions as it did: see how it registers a struct now", name)
	}
	return os.WriteFile(name, []byte(before+declared+
		"\treturn fmt.Errorf(\"this build of Filewise registers functions, not the struct %T\", aStruct)\n}\n"+after), 0o644)
}
