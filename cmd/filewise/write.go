package main

import (
	"fmt"
	"io"

	"filewise"
	"filewise/internal/filesystem"
)

// write renders to --output: a file, or standard output.
func (a *app) write(output string, render func(io.Writer) error) error {
	if output == "" || output == "-" {
		return render(a.stdout)
	}
	if err := filesystem.WriteFile(output, render); err != nil {
		return filewise.Errorf(filewise.CodeUsage, "name a file in a writable directory with --output", "write %s: %w", output, err)
	}
	_, err := fmt.Fprintf(a.stderr, "wrote %s\n", output)
	return err
}
