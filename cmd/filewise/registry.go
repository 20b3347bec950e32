package main

import (
	"slices"
	"strings"

	"filewise"
	"filewise/engine/all"
	"filewise/internal/nearest"
	"filewise/target"
)

// engines are those of the registry, the default first. Tests add one.
var engines = all.Engines

// lookupEngine finds an engine by name; the error has CodeUsage and names the
// nearest known one.
func lookupEngine(name string) (filewise.Engine, error) {
	known := engineNames()
	if i := slices.Index(known, name); i >= 0 {
		return engines()[i], nil
	}
	return nil, filewise.Errorf(filewise.CodeUsage, nearest.Remedy(name, known), "engine %q is unknown", name)
}

func engineNames() []string {
	var names []string
	for _, e := range engines() {
		names = append(names, e.Name())
	}
	return names
}

func describe(e filewise.Engine) filewise.Description {
	if d, ok := e.(filewise.Describer); ok {
		return d.Describe()
	}
	return filewise.Description{Kinds: []filewise.Kind{""}}
}

// schemes are those of all URLs that name an external server.
func schemes() []string {
	var out []string
	for _, e := range engines() {
		for _, s := range describe(e).Schemes {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// parseTarget finds the engine of --target: NAME:DIR for an embedded engine, the
// URL of a server for the others. Where engines share a scheme, the preferred
// name decides.
func parseTarget(text, preferred string) (filewise.Engine, *filewise.Address, string, error) {
	for _, e := range engines() {
		if dir, ok := strings.CutPrefix(text, e.Name()+":"); ok && describe(e).Mode == filewise.Embedded {
			dir = strings.TrimPrefix(dir, "//")
			if dir == "" {
				return nil, nil, "", filewise.Errorf(filewise.CodeUsage, "give it as "+e.Name()+":DIR, such as "+e.Name()+":/mnt/data", "--target %s names no directory", text)
			}
			return e, nil, dir, nil
		}
	}
	a, err := target.Parse(text, schemes())
	if err != nil {
		return nil, nil, "", err
	}
	var found filewise.Engine
	for _, e := range engines() {
		if slices.Contains(describe(e).Schemes, a.Scheme) && (found == nil || e.Name() == preferred) {
			found = e
		}
	}
	return found, &a, "", nil
}
