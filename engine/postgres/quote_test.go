package postgres

import (
	"strings"
	"testing"

	"filewise"
)

// What is quoted stands for itself on the server, whatever it holds.
func TestQuoting(t *testing.T) {
	need(t)
	ctx := deadline(t)
	s := open(t, ctx, onScratch(t, 1))
	db := buildOn(t, ctx, s, partitions(1, 1<<20), inserts(t, nil))
	l := db.Connector.(connector).build.link
	for _, name := range []string{
		"plain", "UPPER", `a"b`, `a""b`, "it's", `back\slash`, `\'; DROP TABLE fw_rows; --`, `"; DROP TABLE fw_rows; --`, "new\nline", "Größe 数据", "$1", "$fw$", "a.b", " ", strings.Repeat("ö", 31) + "x",
	} {
		must(t, checkName("table", name))
		must(t, l.exec(ctx, "CREATE TABLE "+ident(name)+" ()", "COMMENT ON TABLE "+ident(name)+" IS "+literal(name)))
		for _, conforming := range []string{"on", "off"} {
			var found, said string
			must(t, l.exec(ctx, "SET standard_conforming_strings = "+conforming))
			must(t, l.scan(ctx, "SELECT relname::text, obj_description(oid, 'pg_class') FROM pg_class WHERE relname = "+literal(name), nil, &found, &said))
			if found != name || said != name {
				t.Errorf("%q became %q, %q", name, found, said)
			}
		}
		must(t, l.exec(ctx, "SET standard_conforming_strings = on", "DROP TABLE "+ident(name)))
	}
	for _, name := range []string{"", strings.Repeat("x", 64), strings.Repeat("ö", 32), "a\x00b", "\xff"} {
		if err := checkName("table", name); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%q: %v", name, err)
		}
	}
}
