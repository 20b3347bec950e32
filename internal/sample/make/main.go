// Command make writes the sample runs as HTML, Markdown, JSON and terminal text
// into a directory, to be looked at, and the stored data for the tests (testdata/gentle.data.json).
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"filewise/internal/sample"
	"filewise/report"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: make DIRECTORY")
	}
	for name, data := range map[string]func() (report.Data, error){
		"gentle": sample.Gentle().Data, "steep": sample.Steep().Data, "rich": sample.Rich,
		"bulk": func() (report.Data, error) { return sample.Bulk(5000) },
	} {
		d, err := data()
		if err != nil {
			return err
		}
		terminal := func(w io.Writer, d report.Data) error {
			return report.Terminal(w, d, report.TerminalOptions{Color: true, Width: 80})
		}
		data := func(w io.Writer, d report.Data) error { return json.NewEncoder(w).Encode(d) }
		for ext, write := range map[string]func(io.Writer, report.Data) error{
			".html": report.HTML, ".md": report.Markdown, ".json": report.JSON, ".txt": terminal, ".data.json": data,
		} {
			if err := writeFile(filepath.Join(args[0], name+ext), d, write); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeFile(path string, d report.Data, write func(io.Writer, report.Data) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f, d); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Close()
}
