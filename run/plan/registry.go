package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/host/target"
	"filewise/internal/nearest"
)

// Engines lists the engines that experiments can be planned on, the default first.
type Engines []filewise.Engine

// Lookup finds an engine by name. Its error has CodeUsage and names the nearest known engine.
func (all Engines) Lookup(name string) (filewise.Engine, error) {
	known := all.Names()
	if i := slices.Index(known, name); i >= 0 {
		return all[i], nil
	}
	return nil, filewise.Errorf(filewise.CodeUsage, nearest.Remedy(name, known), "engine %q is unknown", name)
}

// Names returns the engines' names.
func (all Engines) Names() []string { return filewise.Each(all, filewise.Engine.Name) }

// Schemes returns the schemes of all URLs that stand for an external server.
func (all Engines) Schemes() []string {
	var out []string
	for _, e := range all {
		for _, s := range schemes(e) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// schemer is an engine that lists its URL schemes without checking what is installed.
type schemer interface{ Schemes() []string }

// schemes returns one engine's URL schemes.
func schemes(e filewise.Engine) []string {
	if s, ok := e.(schemer); ok {
		return s.Schemes()
	}
	return e.Describe().Schemes
}

// optionChecker checks the options of a server's URL by their names alone, and refuses those that nothing would read. It
// does not connect, or look at files.
type optionChecker interface{ CheckOptions(filewise.Address) error }

// passworder is an engine at which some accounts sign in without a password.
type passworder interface{ NeedsPassword(filewise.Address) bool }

// NeedsPassword reports whether a password can be needed to sign in at an address of an engine.
func (all Engines) NeedsPassword(engine string, a filewise.Address) bool {
	e, err := all.Lookup(engine)
	p, ok := e.(passworder)
	return err != nil || !ok || p.NeedsPassword(a)
}

// ParseTarget finds the engine of a target. A target is NAME:DIR for an embedded engine, of which it returns the
// directory, or a server's URL. If engines share a scheme, the preferred name decides.
func (all Engines) ParseTarget(text, preferred string) (filewise.Engine, *filewise.Address, string, error) {
	for _, e := range all {
		if dir, ok := strings.CutPrefix(text, e.Name()+":"); ok && e.Describe().Mode == filewise.Embedded {
			dir = strings.TrimPrefix(dir, "//")
			if drive, slash := strings.CutPrefix(dir, "/"); slash && filepath.VolumeName(drive) != "" { // Windows: /D:/dir
				dir = drive
			}
			if dir == "" {
				return nil, nil, "", filewise.Errorf(filewise.CodeUsage, "give it as "+e.Name()+":DIR, such as "+e.Name()+":"+dirExample,
					"--target %s names no directory", text)
			}
			return e, nil, dir, nil
		}
	}
	a, err := target.Parse(text, all.Schemes())
	if err != nil {
		return nil, nil, "", err
	}
	var found filewise.Engine
	for _, e := range all {
		if slices.Contains(schemes(e), a.Scheme) && (found == nil || e.Name() == preferred) {
			found = e
		}
	}
	if c, ok := found.(optionChecker); ok {
		if err := c.CheckOptions(a); err != nil {
			return nil, nil, "", err
		}
	}
	return found, &a, "", nil
}
