package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"filewise/results/store"
)

// exitSchema is the exit code of a program under test whose JSON violates its schema.
const exitSchema = 99

// checkedMain is the program of the scripts: whatever it prints with --json it holds against
// the schema that "filewise schema" prints for the command.
func checkedMain() {
	if !slices.Contains(os.Args, "--json") {
		main()
	}
	var out, said bytes.Buffer
	ctx, stop := interruptible(os.Exit)
	err := execute(ctx, os.Args[1:], os.Stdin, io.MultiWriter(os.Stdout, &out), io.MultiWriter(os.Stderr, &said))
	stop()
	if wrong := asSchemasSay(os.Args[1:], out.Bytes(), said.String()); wrong != nil {
		fmt.Fprintln(os.Stderr, "schema:", wrong)
		os.Exit(exitSchema)
	}
	os.Exit(exitCode(err))
}

// asSchemasSay checks a command line's output against its schemas.
func asSchemasSay(args []string, out []byte, text string) error {
	cmd, _, err := new(app).command().Find(args)
	if err == nil && len(out) > 0 {
		_, path, _ := strings.Cut(cmd.CommandPath(), " ")
		name, _, _ := strings.Cut(path, " ")
		if err := valid(name, out); err != nil {
			return err
		}
	}
	for line := range strings.Lines(text) {
		for _, name := range []string{"error", "warning"} {
			if strings.HasPrefix(line, `{"`+name+`"`) {
				if err := valid(name, []byte(line)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// valid holds a document against the schema of an output.
func valid(name string, text []byte) error {
	s, err := schemaFor(name)
	if err != nil {
		return err
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := r.Validate(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// schemaFor is the schema that is printed for a command's output.
func schemaFor(name string) (*jsonschema.Schema, error) {
	if name != ofExport {
		if outputs()[name] == nil {
			return nil, fmt.Errorf("%s has no schema", name)
		}
		return schemaOf(name)
	}
	var text bytes.Buffer
	if err := store.ExportJSONSchema(&text); err != nil {
		return nil, err
	}
	s := new(jsonschema.Schema)
	return s, json.Unmarshal(text.Bytes(), s)
}

// TestEveryCommandHasASchema: what a command prints with --json is described, or it prints none.
func TestEveryCommandHasASchema(t *testing.T) {
	none := []string{"completion", "help", "init", "man", "schema", "worker"}
	for _, cmd := range new(app).command().Commands() {
		if slices.Contains(none, cmd.Name()) || cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		s, err := schemaFor(cmd.Name())
		if err == nil {
			_, err = s.Resolve(nil)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if valid("stop", []byte(`{"run": 1, "process": 2, "stopped": true, "more": 3}`)) == nil || valid("stop", []byte(`{"run": 1}`)) == nil {
		t.Error("a field too many, or one that is missing, is taken")
	}
}
