package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"

	"filewise/engine/internal/sqlrows"
	"filewise/internal/sqlitedriver"
)

// modelNames are the tables that the model keeps.
const modelNames = `(fw_(?:dml|loaded|sums|numbers)|warehouse|district|customer|history|new_order|orders|order_line|item|stock|frag\d)\b`

// The tables of workloads that are loaded lie in SQLite, so that the checks' SQL is
// really executed. What SQLite has otherwise is listed in sqlite: an
// approximation, which proves the checks' logic and nothing of SQL Server.
var sqlite = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\bdbo\.`), ""},
	{regexp.MustCompile(`COLLATE Latin1_General_BIN2 `), ""},
	{regexp.MustCompile(`PRIMARY KEY CLUSTERED`), "PRIMARY KEY"},
	{regexp.MustCompile(` ON \[(PRIMARY|INDEXES)\]`), ""},
	{regexp.MustCompile(`ORDER BY \(SELECT NULL\) OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY`), "LIMIT 1 OFFSET 1"},
	{regexp.MustCompile(`\bCOUNT_BIG\b`), "COUNT"},
	{regexp.MustCompile(`\bDATALENGTH\b`), "LENGTH"},
	{regexp.MustCompile(`@p(\d)`), "?$1"},
}

func translated(text string) string {
	for _, d := range sqlite {
		text = d.from.ReplaceAllString(text, d.to)
	}
	return text
}

// modelTables are the tables of a database, in SQLite.
type modelTables struct {
	db      *sql.DB
	columns map[string][]Column
}

// loading holds what a session of the model's has under way.
type loading struct {
	tx    *sql.Tx
	table string
}

var (
	tableName   = regexp.MustCompile(`^(?:--.*\n)*CREATE TABLE (?:dbo\.)?\[?(\w+)\]?`)
	columnTypes = regexp.MustCompile(`(?m)\[?(\w+)\]? (int|bigint|float|varchar\(\d+\)|char\(\d+\)) `)
)

// create makes a table, and remembers its columns for bulk loads.
func (t *modelTables) create(text string) error {
	if t.db == nil {
		db, err := sql.Open(sqlitedriver.Name, ":memory:")
		if err != nil {
			return err
		}
		db.SetMaxOpenConns(1)
		t.db, t.columns = db, map[string][]Column{}
	}
	name := tableName.FindStringSubmatch(text)[1]
	for _, m := range columnTypes.FindAllStringSubmatch(text, -1) {
		c := Column{Name: m[1], Type: VarChar}
		switch m[2] {
		case "int":
			c.Type = Int
		case "bigint":
			c.Type = BigInt
		}
		t.columns[name] = append(t.columns[name], c)
	}
	_, err := t.db.Exec(translated(text))
	return err
}

func init() {
	table := func(pattern string, handle func(*asked, *Reply, *modelTables, *loading) error) {
		handlers = append([]handler{{regexp.MustCompile(`(?s)` + pattern), func(a *asked, r *Reply) error {
			l, ok := a.q.Session.Data.(*loading)
			if !ok {
				l = &loading{}
				a.q.Session.Data = l
			}
			a.mu.Lock()
			d := a.database()
			a.mu.Unlock()
			if err := handle(a, r, &d.tables, l); err != nil {
				r.Error(50099, 16, "the model: "+err.Error())
			}
			return nil
		}}}, handlers...)
	}
	table(`^(--[^\n]*\n)*(SELECT|UPDATE STATISTICS|CREATE (UNIQUE )?INDEX|INSERT INTO) .*dbo\.\[?`+modelNames, modelSQL)
	table(`^(--[^\n]*\n)*CREATE TABLE dbo\.\[?`+modelNames,
		func(a *asked, _ *Reply, t *modelTables, _ *loading) error {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.database().objects++
			return t.create(a.q.SQL)
		})
	table(`^(--[^\n]*\n)*CREATE PROCEDURE dbo\.fw_(insert|select|update|delete|new_order|payment|order_status|delivery|stock_level|cycle)\b`,
		func(*asked, *Reply, *modelTables, *loading) error { return nil })
	table(`^(--[^\n]*\n)*(EXEC )?dbo\.fw_(insert|select|update|delete|new_order|payment|order_status|delivery|stock_level|cycle)\b`,
		func(*asked, *Reply, *modelTables, *loading) error { return errNoProcedures })
	table(`CREATE TABLE dbo\.\[fw_churn_\d+\]`, func(*asked, *Reply, *modelTables, *loading) error { return nil })
	table(`^WITH d AS .*INSERT INTO dbo\.fw_(sums|numbers)`, func(*asked, *Reply, *modelTables, *loading) error { return nil })
	table(`^SET FMTONLY`, func(*asked, *Reply, *modelTables, *loading) error { return nil })
	table(`^select \* from .* SET FMTONLY OFF`, func(a *asked, r *Reply, t *modelTables, _ *loading) error {
		r.Result(t.columns[namedTable(a.q.SQL)]...)
		return nil
	})
	table(`^INSERT BULK `, func(a *asked, _ *Reply, _ *modelTables, l *loading) error {
		l.table = namedTable(a.q.SQL)
		return nil
	})
	table(`^(BEGIN|COMMIT|ROLLBACK) TRANSACTION$`, func(a *asked, _ *Reply, t *modelTables, l *loading) (err error) {
		switch {
		case a.q.SQL == "BEGIN TRANSACTION":
			l.tx, err = t.db.Begin()
		case l.tx == nil:
		case a.q.SQL == "COMMIT TRANSACTION":
			err, l.tx = l.tx.Commit(), nil
		default:
			err, l.tx = l.tx.Rollback(), nil
		}
		return err
	})
}

var errNoProcedures = fmt.Errorf("it executes no procedures")

var bracketed = regexp.MustCompile(`(?:dbo|\[dbo\])\.\[?(\w+)\]?`)

func namedTable(text string) string { return bracketed.FindStringSubmatch(text)[1] }

// modelSQL executes a statement in SQLite, in the session's transaction.
func modelSQL(a *asked, r *Reply, t *modelTables, l *loading) error {
	if strings.HasPrefix(a.q.SQL, "UPDATE STATISTICS") {
		return nil
	}
	on := interface {
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		ExecContext(context.Context, string, ...any) (sql.Result, error)
	}(t.db)
	if l.tx != nil {
		on = l.tx
	}
	text := translated(a.q.SQL)
	if !strings.Contains(text, "SELECT") || strings.HasPrefix(text, "INSERT") || strings.Contains(text, "\nINSERT") {
		result, err := on.ExecContext(context.Background(), text, a.q.Args...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		a.affected(a.q, r, int(n))
		return err
	}
	text, _, _ = strings.Cut(text, ";\nIF @@ROWCOUNT")
	var columns []Column
	return sqlrows.Each(context.Background(), on, func(names []string, values []any) {
		if columns == nil {
			for i, name := range names {
				c := Column{Name: name, Type: BigInt}
				switch values[i].(type) {
				case string, []byte, float64:
					c.Type = Text
				}
				columns = append(columns, c)
			}
			r.Result(columns...)
		}
		for i, v := range values {
			if columns[i].Type == Text && v != nil {
				values[i] = fmt.Sprint(v)
			}
		}
		r.Row(values...)
	}, text, a.q.Args...)
}

// bulkRows are the rows of a bulk load, of which a fault can lose some.
func (m *model) bulkRows(q Request, r *Reply) error {
	rows, err := BulkRows(q.Body)
	if err != nil {
		return err
	}
	m.mu.Lock()
	lose := m.bulkLoses
	m.mu.Unlock()
	l := q.Session.Data.(*loading)
	if len(rows) > 0 && lose {
		rows = rows[1:]
	}
	for _, row := range rows {
		places := strings.TrimSuffix(strings.Repeat("?,", len(row)), ",")
		if _, err := l.tx.Exec("INSERT INTO ["+l.table+"] VALUES ("+places+")", row...); err != nil {
			r.Error(2627, 14, err.Error())
			return nil
		}
	}
	m.affected(q, r, len(rows))
	return nil
}

// executing answers calls of procedures and tables that are created and dropped as if they were
// executed: what is sent is looked at, not what becomes of it.
func executing(_ context.Context, q Request, _ *Reply) (bool, error) {
	return strings.HasPrefix(q.SQL, "dbo.fw_") || strings.Contains(q.SQL, "fw_churn_"), nil
}
