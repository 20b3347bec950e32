// Command typecheck type-checks every package of the module for other systems,
// tests included: typecheck GOOS/GOARCH …
//
// It finds what does not build there, in seconds: packages of others are read for
// their declarations alone, and nothing is compiled. It is without cgo, as the
// builds for other systems are.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	failed := false
	for _, system := range os.Args[1:] {
		if err := check(system); err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "typecheck: %s does not build:\n%v\n", system, err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// listed holds the output of "go list" for a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string // of what it imports by another path: its own test's variants
	Module          *struct{ Main bool }
	Error           *struct{ Err string }
}

// check type-checks the module's packages for a system.
func check(system string) error {
	goos, arch, ok := strings.Cut(system, "/")
	if !ok {
		return errors.New("a system is GOOS/GOARCH")
	}
	//nolint:noctx // ends with its parent
	list := exec.Command("go", "list", "-e", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", "./...")
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return err
	}
	if err := list.Start(); err != nil {
		return err
	}
	c := checker{sizes: types.SizesFor("gc", arch), files: token.NewFileSet(), done: map[string]*types.Package{"unsafe": types.Unsafe}}
	for decoder := json.NewDecoder(out); ; { // those that are imported come first
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return errors.Join(err, list.Wait())
		}
		c.check(p)
	}
	return errors.Join(append(c.errs, list.Wait())...)
}

// checker has what was type-checked for a system, by import path.
type checker struct {
	sizes types.Sizes
	files *token.FileSet
	done  map[string]*types.Package
	errs  []error
}

func (c *checker) check(p listed) {
	if c.done[p.ImportPath] != nil || strings.HasSuffix(p.ImportPath, ".test") { // what "go test" writes itself
		return
	}
	ours := p.Module != nil && p.Module.Main
	fail := func(err error) {
		if ours {
			c.errs = append(c.errs, err)
		}
	}
	if p.Error != nil {
		fail(errors.New(p.Error.Err))
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			fail(err)
		}
		files = append(files, f)
	}
	config := types.Config{Sizes: c.sizes, IgnoreFuncBodies: !ours, FakeImportC: true, Error: fail,
		Importer: imported(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			if known := c.done[path]; known != nil {
				return known, nil
			}
			return nil, fmt.Errorf("no package %s", path)
		})}
	path, _, _ := strings.Cut(p.ImportPath, " ") // "p [p.test]" is p with its tests
	c.done[p.ImportPath], _ = config.Check(path, c.files, files, nil)
}

type imported func(path string) (*types.Package, error)

func (i imported) Import(path string) (*types.Package, error) { return i(path) }
