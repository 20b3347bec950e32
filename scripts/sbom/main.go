// Command sbom writes what a Go program was made of, as CycloneDX: the modules that the
// linker has recorded in it. go run ./scripts/sbom PROGRAM VERSION.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
)

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	URL     string `json:"purl"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "sbom: say which program, and its version")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(program, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	whole := component{Type: "application", Name: "filewise", Version: version, URL: "pkg:generic/filewise@" + version}
	doc := map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": map[string]any{"component": whole},
	}
	all := []component{{Type: "library", Name: "std", Version: info.GoVersion, URL: "pkg:golang/std@" + info.GoVersion}}
	for _, m := range info.Deps { // by the name of the original if a release has packed something: scanners have that one
		all = append(all, component{Type: "library", Name: m.Path, Version: m.Version, URL: "pkg:golang/" + m.Path + "@" + m.Version})
	}
	doc["components"] = all
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	return out.Encode(doc)
}
