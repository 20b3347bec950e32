package main

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise/doctor"
	"filewise/report/document"
)

// printEngines prints the table of engines, and below it what holds for each.
func printEngines(w *lineWriter, infos []engineInfo, width int) {
	w.printf("%s\n", document.Print(document.TerminalOptions{Width: width}, document.Everywhere(document.Tabulate(document.Table{}, infos,
		document.Words("ENGINE", func(e engineInfo) string { return e.Name }),
		document.Words("SERVER", func(e engineInfo) string { return doctor.Modes(e.Description) }).Wrapped(),
		document.Words("N FILES ARE", func(e engineInfo) string { return e.Files }).Wrapped(),
		document.Words("KINDS OF LAYOUT", func(e engineInfo) string { return doctor.Kinds(e.Description) }).Wrapped(),
		document.Words("HERE", func(e engineInfo) string { return doctor.Here(e.Description) }).Wrapped()))))
	for _, e := range infos {
		if e.Missing == "" && e.Unproven == "" && e.Licence == "" && e.Note == "" && e.Bytes == 0 {
			continue
		}
		w.printf("%s\n", e.Name)
		if e.Bytes > 0 {
			rows := ""
			if e.RowBytes > 0 {
				rows = fmt.Sprintf(", rows of %d bytes", e.RowBytes)
			}
			w.printf("  usual experiment: %s of data files%s, %v of trials\n", humanize.IBytes(uint64(e.Bytes)), rows, e.Budget)
		}
		printLabels(w, e)
		if len(e.Schemes) > 0 {
			w.printf("  by URL: --target %s://USER@HOST/…\n", strings.Join(e.Schemes, ":// or "))
		}
	}
	w.printf("\nWhat one can do, and why not: filewise engines --engine NAME, or --target URL.\n")
}
