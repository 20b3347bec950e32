package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/help"
)

// released is the time shown in manual pages. scripts/release sets it to the commit's, so that two builds of a commit
// are equal.
var released = ""

// manCommand returns the command that writes the manual pages. It is hidden, since packagers need it, and users have
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
			header := &doc.GenManHeader{Section: "1", Source: "Filewise " + versionString(), Manual: "Filewise"}
			if at, err := time.Parse(time.RFC3339, released); err == nil {
				header.Date = &at
			}
			root := cmd.Root()
			help.InManual(root)
			root.DisableAutoGenTag = true
			n, err := writePages(root, header, dir)
			if err != nil {
				return filewise.Errorf(filewise.CodeUsage, "name a directory that you may write to", "manual pages: %w", err)
			}
			_, err = fmt.Fprintf(a.stdout, "%d manual pages in %s\n", n, dir)
			return err
		},
	}
}

// writePages has the generator write into a new directory, since in someone else's it would follow links.
func writePages(root *cobra.Command, header *doc.GenManHeader, dir string) (n int, err error) {
	own, err := os.MkdirTemp("", "filewise-man-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	if err := doc.GenManTree(root, header, own); err != nil {
		return 0, err
	}
	pages, err := filepath.Glob(filepath.Join(own, "filewise*.1"))
	if err != nil {
		return 0, err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return 0, err
		}
		text = bytes.ReplaceAll(text, []byte("[="+help.Switch+"]"), nil)
		err = filesystem.WriteFile(filepath.Join(dir, filepath.Base(page)), func(w io.Writer) error { _, err := w.Write(text); return err })
		if err != nil {
			return 0, fmt.Errorf("write %s in %s: %w", filepath.Base(page), dir, err)
		}
	}
	return len(pages), nil
}
