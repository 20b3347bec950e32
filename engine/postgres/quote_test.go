package postgres

import (
	"strings"
	"testing"

	"filewise"
	"filewise/engine/postgres/dialect"
)

// What is quoted stands for itself on the server, whatever it holds.
func TestQuoting(t *testing.T) {
	t.Parallel()
	need(t)
	ctx := deadline(t)
	s := open(t, ctx, onScratch(t, 1))
	db := buildOn(t, ctx, s, partitions(1, 1<<20), inserts(t, nil))
	l := db.Build.(*build).link
	for _, name := range []string{
		"plain", "UPPER", `a"b`, `a""b`, "it's", `back\slash`, `\'; DROP TABLE fw_rows; --`, `"; DROP TABLE fw_rows; --`, "new\nline",
		"Größe 数据", "$1", "$fw$", "a.b", " ", strings.Repeat("ö", 31) + "x",
	} {
		must(t, dialect.CheckName("table", name))
		must(t, l.Exec(ctx, "CREATE TABLE "+dialect.Ident(name)+" ()", "COMMENT ON TABLE "+dialect.Ident(name)+" IS "+dialect.Literal(name)))
		for _, conforming := range []string{"on", "off"} {
			var found, text string
			must(t, l.Exec(ctx, "SET standard_conforming_strings = "+conforming))
			must(t, l.Scan(ctx, "SELECT relname::text, obj_description(oid, 'pg_class') FROM pg_class WHERE relname = "+dialect.Literal(name), nil,
				&found,
				&text))
			if found != name || text != name {
				t.Errorf("%q became %q, %q", name, found, text)
			}
		}
		must(t, l.Exec(ctx, "SET standard_conforming_strings = on", "DROP TABLE "+dialect.Ident(name)))
	}
	must(t, l.Exec(ctx, "DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET standard_conforming_strings = off'', current_database()); END'"))
	l.Forget()
	var conforming string
	if must(t, l.Scan(ctx, "SHOW standard_conforming_strings", nil, &conforming)); conforming != "on" {
		t.Error("a database decides how texts are read")
	}
	for _, name := range []string{"", strings.Repeat("x", 64), strings.Repeat("ö", 32), "a\x00b", "\xff"} {
		if err := dialect.CheckName("table", name); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%q: %v", name, err)
		}
	}
}
