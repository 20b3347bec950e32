package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"filewise/internal/sqlitedriver"
)

// version is set by a release build: -ldflags "-X main.version=v1.2.3".
var version = ""

// versionString returns the release, or the commit that was built.
func versionString() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if commit == "" {
		return "development"
	}
	return "development-" + commit + dirty
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  filewise version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{
				"version": versionString(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "sqlite": sqlitedriver.Driver(),
			}
			return a.print(v, func(w *lineWriter) {
				w.printf("filewise %s (%s, %s/%s, SQLite by %s)\n", v["version"], v["go"], v["os"], v["arch"], v["sqlite"])
			})
		},
	}
}
