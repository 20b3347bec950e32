package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"filewise"
)

// released is the moment that man pages carry: that of the commit, so that two
// builds of it are the same. It is set by scripts/release.
var released = ""

// manCommand writes the manual pages. It is hidden: packagers need it, users have
// "filewise help".
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages into a directory",
		Example: "  filewise man /usr/local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return filewise.Errorf(filewise.CodeUsage, "name a directory that you may write to", "manual pages: %w", err)
			}
			header := &doc.GenManHeader{Title: "FILEWISE", Section: "1", Source: "Filewise " + versionString(), Manual: "Filewise"}
			if at, err := time.Parse(time.RFC3339, released); err == nil {
				header.Date = &at
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			if err := doc.GenManTree(root, header, dir); err != nil {
				return filewise.Errorf(filewise.CodeUsage, "name a directory that you may write to", "manual pages: %w", err)
			}
			pages, err := filepath.Glob(filepath.Join(dir, "filewise*.1"))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%d manual pages in %s\n", len(pages), dir)
			return err
		},
	}
}
