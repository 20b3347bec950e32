package main

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/machine"
)

// printEngines prints the table of engines, and below it what holds for each.
func (a *app) printEngines(infos []engineInfo) error {
	rows := [][]string{{"ENGINE", "SERVER", "N FILES ARE", "KINDS OF LAYOUT", "HERE"}}
	for _, e := range infos {
		rows = append(rows, []string{e.Name, modes(e.Description), e.Files, kindsText(e.Description), here(e.Description)})
	}
	width, _ := terminal(a.stdout)
	w := &lineWriter{w: a.stdout}
	printTable(w, rows, []int{10, 9, max(24, (width-10-9-10-8)*2/3), max(11, (width-10-9-10-8)/3), 9})
	w.printf("\n")
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
	return w.err
}

// here says whether the engine can be used on this machine at once.
func here(d filewise.Description) string {
	switch {
	case d.Mode == filewise.External || d.Mode == filewise.Managed && machine.PrivateServers() != nil:
		return "by URL"
	case d.Missing != "":
		return "missing"
	case d.Mode == filewise.Embedded:
		return "built in"
	}
	return "installed"
}

func kindsText(d filewise.Description) string {
	var out []string
	for _, list := range [][]filewise.Kind{d.Kinds, d.ExternalKinds} {
		for _, k := range list {
			if s := string(k); s != "" && !strings.Contains(" "+strings.Join(out, " ")+" ", " "+s+" ") {
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, " ")
}

// printTable prints cells in columns of these widths, wrapped.
func printTable(w *lineWriter, rows [][]string, widths []int) {
	for _, row := range rows {
		cells := make([][]string, len(row))
		lines := 0
		for i, text := range row {
			cells[i] = strings.Split(ansi.Wordwrap(text, widths[i], " ,"), "\n")
			lines = max(lines, len(cells[i]))
		}
		for n := range lines {
			line := ""
			for i := range cells {
				text := ""
				if n < len(cells[i]) {
					text = strings.TrimSpace(cells[i][n])
				}
				line += text + strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(text))+1)
			}
			w.printf("%s\n", strings.TrimRight(line, " "))
		}
	}
}
