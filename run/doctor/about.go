package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/workload"
	"filewise/run/preview"
)

// Below returns the details about an engine for the text below the table of engines. It is empty if there are none.
func Below(name string, d filewise.Description, proven string) string {
	if d.Missing == "" && d.Unproven == "" && d.Licence == "" && d.Note == "" && d.Bytes == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(name + "\n")
	if d.Bytes > 0 {
		usual := d.Usual[workload.OperationInserts]
		rows := ""
		if n := cmp.Or(usual.Row, d.RowBytes); n > 0 {
			rows = fmt.Sprintf(", rows of %d bytes", n)
		}
		fmt.Fprintf(&b, "  inserts by default: %s of data files%s, %s of trials\n", humanize.IBytes(uint64(cmp.Or(usual.Bytes, d.Bytes))), rows,
			say.Human(d.Budget))
	}
	b.WriteString(Labels(d, proven))
	if len(d.Schemes) > 0 {
		fmt.Fprintf(&b, "  by URL: --target %s://USER@HOST/…\n", strings.Join(d.Schemes, ":// or "))
	}
	return b.String()
}

// Labels returns the labels of every result of an engine. proven lists the product versions on which an unproven engine
// was tried.
func Labels(d filewise.Description, proven string) string {
	var b strings.Builder
	for _, label := range []struct{ name, text string }{{"missing", d.Missing}, {"unproven", d.Unproven}, {"proven", proven},
		{"licence", d.Licence}, {"note", d.Note}} {
		if label.text != "" {
			fmt.Fprintf(&b, "  %s: %s\n", label.name, label.text)
		}
	}
	return b.String()
}

// Offered lists what an opened engine can and cannot do. If offers is nil, no engine was opened, and it explains why.
func Offered(d filewise.Description, offers map[filewise.Capability]string) string {
	if offers == nil {
		why := "it is not installed here"
		if d.Mode == filewise.External {
			why = "Filewise cannot start a managed server of it"
		}
		return "\nIts capabilities were not checked: " + why + ".\n"
	}
	var can, cannot strings.Builder
	for _, c := range filewise.Capabilities {
		switch why, known := offers[c]; {
		case !known:
			fmt.Fprintf(&cannot, "  no   %s: not stated\n", c)
		case why == "yes":
			fmt.Fprintf(&can, "  yes  %s\n", c)
		default:
			fmt.Fprintf(&cannot, "  no   %s: %s\n", c, preview.Indent(why, 7))
		}
	}
	return "\nIt can\n" + can.String() + "\nIt cannot\n" + cannot.String()
}

// Account returns the rights that the account on an existing server needs. Unless a server is named, it also returns
// the form of the URL.
func Account(d filewise.Description, named bool) string {
	if len(d.Schemes) == 0 {
		return ""
	}
	var b strings.Builder
	if !named {
		b.WriteString("\nAn existing server, by URL\n")
		for _, scheme := range d.Schemes {
			fmt.Fprintf(&b, "  --target %s\n", URLForm(d, scheme))
		}
		kinds := filewise.Each(d.ExternalKinds, func(k filewise.Kind) string { return string(k) })
		fmt.Fprintf(&b, "  kinds of layout there: %s\n", strings.Join(kinds, " "))
	}
	b.WriteString("\nRights of the account that Filewise needs on an existing server\n")
	for _, right := range d.Rights {
		fmt.Fprintf(&b, "  %s\n", preview.Indent(right, 2))
	}
	return b.String()
}
