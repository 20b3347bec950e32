package oracle

import (
	"context"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/own/apply"
)

// migratedServer has tablespace SALES with a table of two indexes, one of them elsewhere, and
// tables that cannot move.
func migratedServer() *fakeServer {
	f := newFake()
	f.answers = map[string][][]any{
		"identity":       {{"ADA", "ADA", "PDB'1", "CDB", "PDB'1", "h", "svc", int64(1), "i1"}},
		"migrate-space":  {{int64(8192), "NO", "PERMANENT", "NO"}},
		"files":          {{"/u01/sales1.dbf", int64(7), int64(1 << 17), "YES", int64(1), int64(0), int64(0)}},
		"migrate-tables": {{"SHOP", "Orders é", nil, "NO"}, {"SHOP", "NOTES", nil, "NO"}, {"SHOP", "CLUSTERED", "C1", "NO"}},
		"migrate-indexes": {
			{"SHOP", "Orders é", "SHOP", "ORDERS_PK", "NORMAL", "SALES", "NO"}, {"SHOP", "Orders é", "SHOP", "ORDERS_X", "BITMAP", "OTHER", "NO"},
			{"SHOP", "NOTES", "SHOP", "NOTES_TEXT", "DOMAIN", "SALES", "NO"},
		},
		"migrate-segments": {{"SHOP", "Orders é", "TABLE", int64(1 << 17)}, {"SHOP", "ORDERS_PK", "INDEX", int64(1 << 15)},
			{"SHOP", "NOTES", "TABLE", int64(8)}, {"SHOP", "SYS_LOB1$$", "LOBSEGMENT", int64(80)}},
		"migrate-lobs":  {{"SHOP", "Orders é", "SCAN", "LOBS"}},
		"migrate-longs": {{"SHOP", "NOTES", "BODY"}},
	}
	return f
}

var migratedAbout = about{version: "19.3", product: "Oracle Database 19c Enterprise Edition", account: "ADA", block: usualBlock}

func migrated(t *testing.T, f *fakeServer, a about, tables ...string) (filewise.Migration, error) {
	t.Helper()
	target := serverTarget(filewise.Volume{Name: "a"}, filewise.Volume{Name: "b", Dir: "+FAST"})
	return migrateWith(t.Context(), f, a, target, filewise.Wish{Layout: smallfile(4), Database: "SALES", Run: 7, Tables: tables})
}

// applySQL holds the questions of package apply.
var applySQL = ownSections(apply.SQL("oracle"))

func migrateWith(ctx context.Context, c client, a about, t filewise.Target, w filewise.Wish) (filewise.Migration, error) {
	return apply.Ask(ctx, "oracle", &questions{client: c, about: a, file: applySQL}, t, w)
}

// A table moves with the index next to it into files of one size on the volumes in turn; the
// way back ends where it began. All of it is Oracle's by the grammar.
func TestMigrate(t *testing.T) {
	m, err := migrated(t, migratedServer(), migratedAbout)
	if err != nil {
		t.Fatal(err)
	}
	s := apply.Scripts{Migration: m, Run: 7, Layout: smallfile(4)}
	there, back := s.Text("test", false, "a.sql", "b.sql"), s.Text("test", true, "b.sql", "a.sql")
	for text, in := range map[string]string{
		`CREATE SMALLFILE TABLESPACE "RUN7_DATA" DATAFILE '/u01/run7_data_0001.dbf' SIZE 410624K AUTOEXTEND ON NEXT 65536K`: there,
		`ALTER TABLESPACE "RUN7_DATA" ADD DATAFILE '+FAST' SIZE 410624K`:                                                    there,
		`EXECUTE IMMEDIATE 'ALTER USER "' || SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') || '" QUOTA UNLIMITED ON`:             there,
		`"@a.sql" SHOP`: there,
		`ALTER SESSION SET CURRENT_SCHEMA = "&1"; SET DEFINE OFF`:                      back,
		`ALTER TABLE "Orders é" MOVE ONLINE TABLESPACE "RUN7_DATA";`:                   there,
		`ALTER INDEX "ORDERS_PK" REBUILD ONLINE TABLESPACE "RUN7_DATA";`:               there,
		`MOVE LOB ("SCAN") STORE AS (TABLESPACE "RUN7_DATA")`:                          there,
		"of kind LOBSEGMENT in tablespace SALES (1)":                                   there,
		`ALTER TABLE "Orders é" MOVE ONLINE TABLESPACE "SALES";`:                       back,
		`ALTER INDEX "ORDERS_PK" REBUILD ONLINE TABLESPACE "SALES";`:                   back,
		`SELECT TO_NUMBER(DECODE(COUNT(*), 3, '1', 'not as it was'))`:                  there,
		`owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') AND index_name = 'ORDERS_X'`: back,
		`DROP TABLESPACE "RUN7_DATA";`:                                                 back,
	} {
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(in, "\n--", "")), " "), text) {
			t.Errorf("there is no %s in\n%s", text, in)
		}
	}
	if !strings.Contains(back, "\n-- DROP TABLESPACE") || strings.Contains(there+back, `INDEX "ORDERS_X"`) ||
		m.Space["a"] != m.Space["b"] || m.Space["a"] != 2*410624*kib || len(m.Steps) != 2 {
		t.Errorf("space %v, %d steps:\n%s", m.Space, len(m.Steps), there)
	}
	p := newParser(t)
	for line := range strings.Lines(there + back) {
		if !strings.HasPrefix(line, "--") && (strings.Contains(line, "PDB") || strings.Contains(line, "SHOP")) {
			t.Errorf("the script names database or schema, so that no copy takes it: %s", line)
		}
	}
	for sql := range strings.SplitSeq(m.Opening, ";\n") {
		if _, select1, ok := strings.Cut(sql, "(ORA-01722).\n"); ok {
			if a := p.check(t, select1); len(a.Errors) > 0 {
				t.Errorf("%v: %s", a.Errors, sql)
			}
		}
	}
	for _, step := range slices.Concat(m.Steps, m.Back) {
		for _, sql := range step.SQL {
			if a := p.check(t, strings.TrimSuffix(sql, "\n/")); len(a.Errors) > 0 {
				t.Errorf("%v: %s", a.Errors, sql)
			}
		}
	}
}

// Standard Edition has no ONLINE: all indexes are unusable then, and are built again in their place.
func TestMigrateStandardEdition(t *testing.T) {
	a := migratedAbout
	a.product = "Oracle Database 19c Standard Edition 2"
	m, err := migrated(t, migratedServer(), a)
	if err != nil {
		t.Fatal(err)
	}
	if sql := strings.Join(m.Steps[1].SQL, "; "); sql != `ALTER TABLE "Orders é" MOVE TABLESPACE "RUN7_DATA"; `+
		`ALTER INDEX "ORDERS_PK" REBUILD TABLESPACE "RUN7_DATA"; ALTER INDEX "ORDERS_X" REBUILD` {
		t.Error(sql)
	}
}

// What cannot move, and if there is nothing to move, is refused by name.
func TestMigrateRefuses(t *testing.T) {
	for says, change := range map[string]func(f *fakeServer) []string{
		"NOTES cannot be spread: index NOTES_TEXT is a domain index; column BODY is LONG": func(*fakeServer) []string {
			return []string{"NOTES"}
		},
		"tables of several schemas lie in tablespace SALES: SHOP and ADA": func(f *fakeServer) []string {
			f.answers["migrate-tables"] = append(f.answers["migrate-tables"], []any{"ADA", "OTHERS", nil, "NO"})
			return []string{"SHOP.Orders é", "ADA.OTHERS"}
		},
		"index ORDERS_X belongs to another schema, ADA": func(f *fakeServer) []string {
			f.answers["migrate-indexes"][1][2] = "ADA"
			return nil
		},
		"CLUSTERED cannot be spread: it lies in cluster C1": func(*fakeServer) []string {
			return []string{"CLUSTERED"}
		},
		"there is no table NONE": func(*fakeServer) []string { return []string{"NONE"} },
		"there is no tablespace SALES": func(f *fakeServer) []string {
			f.answers["migrate-space"] = nil
			return nil
		},
		"it is encrypted": func(f *fakeServer) []string { f.answers["migrate-space"][0][3] = "YES"; return nil },
		"the server's own": func(f *fakeServer) []string {
			f.answers["migrate-space"][0][2] = "UNDO"
			return nil
		},
		"its blocks have 16384 bytes": func(f *fakeServer) []string { f.answers["migrate-space"][0][0] = int64(16384); return nil },
		"there is a tablespace RUN7_DATA": func(f *fakeServer) []string {
			f.tablespaces["RUN7_DATA"] = &fakeSpace{}
			return nil
		},
		"has 4 files of one size already": func(f *fakeServer) []string {
			f.answers["files"] = slices.Repeat(f.answers["files"], 4)
			return nil
		},
		"reading tablespace SALES": func(f *fakeServer) []string { f.fails["migrate-lobs"] = oracleError(942); return nil },
		"cannot be quoted": func(f *fakeServer) []string {
			f.answers["migrate-tables"][0][1] = "a\"; DROP"
			return []string{"a\"; DROP"}
		},
	} {
		f := migratedServer()
		tables := change(f)
		if _, err := migrated(t, f, migratedAbout, tables...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
		if len(f.log) > 0 {
			t.Errorf("%s: executed %v", says, f.log)
		}
	}
}
