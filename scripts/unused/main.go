// Command unused has Go's linker leave out of a release what Filewise never calls: unused DIR TEMPORAL GO-ORA
// PARQUET.
//
// In DIR it writes an overlay of text/template that has the names in the templates of the source tree that it is run
// in; in the others, copies of libraries, it takes out what is referred to and never used.
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
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "unused: name a directory for the overlay, and copies of Temporal's client, go-ora and parquet-go")
		os.Exit(2)
	}
	if err := errors.Join(overlay(os.Args[1]), temporal(os.Args[2]), oracle(os.Args[3]), parquet(os.Args[4])); err != nil {
		fmt.Fprintln(os.Stderr, "unused:", err)
		os.Exit(1)
	}
}

// overlay: the linker keeps every exported method as soon as one is looked up by a name that is not constant, as
// text/template does.
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

// inTemplates are the names that a template of the tree may look up: too many do no harm, one too few is an error
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

// temporal registers no struct, for it looks up methods by any name, and carries JSON alone, without two libraries of Protocol Buffers.
func temporal(sdk string) error {
	converters := filepath.Join(sdk, "converter")
	return errors.Join(
		edit(filepath.Join(sdk, "internal", "internal_worker.go"), 1,
			`(?s)(\nfunc \(r \*registry\) registerActivityStructWithOptions\(aStruct interface\{\}, [^\n]*\{\n).*?(\n\}\n)`,
			"${1}\treturn fmt.Errorf(\"this build of Filewise registers functions, not the struct %T\", aStruct)$2"),
		edit(filepath.Join(converters, "default_data_converter.go"), 2, `\t\tNewProto(JSON)?PayloadConverter\(\),\n`, ""),
		os.Remove(filepath.Join(converters, "proto_json_payload_converter.go")),
		os.Remove(filepath.Join(converters, "proto_payload_converter.go")))
}

// oracle removes the driver's comparison of values with types.Nil, a type of go/types that no value has, and with it the
// compiler's type checker.
func oracle(driver string) error {
	name := filepath.Join(driver, "lob.go")
	return errors.Join(edit(name, 3, `\tcase types\.Nil:\n(\t\t.*\n)+`, ""), edit(name, 1, `\t"go/types"\n`, ""))
}

// parquet packs by Snappy; Brotli has a dictionary of half a megabyte.
func parquet(library string) error {
	name := filepath.Join(library, "compress", "brotli", "brotli.go")
	return errors.Join(edit(name, 2, `(?s)\treturn c\.[rw]\.(En|De)code\(.*?\n\t\}\)\n`, "\treturn dst[:0], errors.ErrUnsupported\n"),
		edit(name, 1, `(?s)\ntype reader struct.*`, ""), edit(name, 1, `\t"github.com/andybalholm/brotli"\n`, ""),
		edit(name, 1, `\t"io"\n`, "\t\"errors\"\n"))
}

// edit replaces what a file is to have so many times: another version of a library is looked at before it is built.
func edit(name string, times int, pattern, replacement string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	found := regexp.MustCompile(pattern)
	if n := len(found.FindAllIndex(text, -1)); n != times {
		return fmt.Errorf("%s has %q %d times, not %d: see what that version of the library does", name, pattern, n, times)
	}
	return os.WriteFile(name, found.ReplaceAll(text, []byte(replacement)), 0o644)
}
