package managed

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
)

// Steps of opening a target. They are variables because tests open hundreds of targets and share the results.
var (
	// newTemplates returns the templates of an opened target, or nil if the product has none. MySQL finds its files by its
	// command line. Only information_schema.FILES then shows the paths of the layout's first build.
	newTemplates = func(p *dialect.Product) *server.Templates {
		if !p.Managed.Templates {
			return nil
		}
		return &server.Templates{}
	}
	tried = func(_ *openServer, try func() ([]filewise.Fact, error)) ([]filewise.Fact, error) { return try() }
)

// create makes the data directory of a build from a template, or by the server itself, whose work is then stored as a
// template.
func (s *openServer) create(ctx context.Context, i *instance) error {
	if s.templates == nil {
		return i.explain(i.bootstrap(ctx))
	}
	key, err := i.templateKey()
	if err != nil {
		return err
	}
	i.password, i.first, err = s.templates.Make(ctx, server.New{
		Dirs: i.design.dirs, Key: key, Secret: i.password, Create: i.bootstrap,
		Skip: func(path string) bool {
			// Without auto.cnf a server gives itself a new identity.
			return path == i.design.optionPath() || path == i.design.logPath() || strings.HasSuffix(path, "/auto.cnf")
		},
	})
	return i.explain(err)
}

// templateKey returns all that a new data directory depends on.
func (i *instance) templateKey() (string, error) {
	args, err := i.design.arguments(i.install, true)
	if err != nil {
		return "", err
	}
	settings := slices.DeleteFunc(strings.Split(i.design.optionFile(), "\n"), func(line string) bool {
		// Limits of a running server depend on the connections of the work.
		return strings.HasPrefix(line, "max_connections =") || strings.HasPrefix(line, "open_files_limit =")
	})
	return fmt.Sprintf("%q %q %q", i.install.Binary, args, settings), nil
}
