package external

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/innodb/dialect"
)

// UserSQL returns the rules for reading users' SQL.
func (Engine) UserSQL() customsql.Rules { return dialect.CustomRules }

// Watch opens a user's database, for reading only.
func (d Engine) Watch(ctx context.Context, t filewise.Target, database string) (filewise.Watcher, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*filewise.AskPatience)
	defer cancel()
	s, err := d.open(ctx, withoutPath(t), d.reading)
	if err != nil {
		return nil, err
	}
	w := &watcher{server: s, database: database, in: s.pool(database, 1)}
	if err := w.in.PingContext(ctx); err != nil {
		return nil, w.closed(s.unreachable(err))
	}
	return w, nil
}

type watcher struct {
	*server
	database string
	in       *sql.DB           // in the database; db is in none, so that its queries are not counted there
	foreign  map[string]string // a foreign key of each table that has one or is referred to; nil if not read
	unread   error             // why they could not be read
	listed   []string          // names of the tables; nil if not read
}

func (w *watcher) Server() string { return w.product.Title + " " + w.version }

func (w *watcher) closed(err error) error {
	if shut := w.Close(); err == nil {
		return shut
	}
	return err
}

// Close ends the connections.
func (w *watcher) Close() error {
	w.in.Close() // nothing is lost with it
	return w.db.Close()
}

const byLog = "; or log the statements (general_log, or slow_query_log with long_query_time = 0) and give the file by --log"

const readDigests = `
SELECT COALESCE(DIGEST, ''), COALESCE(DIGEST_TEXT, ''), COUNT_STAR, SUM_TIMER_WAIT, SUM_ROWS_SENT
  FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = ? OR DIGEST IS NULL`

// Counted reads the digests in performance_schema.
func (w *watcher) Counted(ctx context.Context) ([]filewise.CountedStatement, error) {
	if !w.on("performance_schema") {
		return nil, filewise.Errorf(filewise.CodeUsage, "set performance_schema = ON and restart the server"+byLog,
			"performance_schema is off, so that the server counts no statements")
	}
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	var all []filewise.CountedStatement
	err := dialect.Each(ctx, w.db, func(scan dialect.Scan) error {
		var s filewise.CountedStatement
		err := scan(&s.ID, &s.Text, &s.Calls, &s.Seconds, &s.Rows)
		s.Text = unit.ReplaceAllString(s.Text, "$1")
		s.Seconds, s.Key = s.Seconds*dialect.Picosecond, s.Text
		switch {
		case s.ID == "":
			s.Hidden = "of any database, and forgotten: performance_schema_digests_size is too small"
		case strings.Contains(s.Text, "(unknown)"):
			s.Hidden = "the server's digest of it contains \"(unknown)\" for a value"
		case strings.HasSuffix(s.Text, "...") && !strings.HasSuffix(s.Text, ", ..."):
			s.Hidden = "its text is cut: performance_schema_max_digest_length, max_digest_length"
		}
		all = append(all, s)
		return err
	}, readDigests, w.database)
	if n, _ := dialect.Number(err); n == 1142 { // ER_TABLEACCESS_DENIED
		return nil, filewise.Errorf(filewise.CodeUsage, w.grant([]string{"SELECT"}, "performance_schema.*"),
			"the account may not read performance_schema: %w", w.explain(err))
	}
	if err != nil {
		return nil, w.explain(err)
	}
	if len(all) > 0 {
		w.sampled(ctx, all)
		_ = w.named(ctx, all) // if it fails, a statement whose names stay wrong is left out later
		return w.outer(ctx, all), nil
	}
	var enabled string
	err = w.db.QueryRowContext(ctx, "SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'statements_digest'").Scan(&enabled)
	if err == nil && enabled != "YES" {
		return nil, filewise.Errorf(filewise.CodeUsage, "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = "+
			"'statements_digest'"+byLog, "the server counts no statements: the consumer statements_digest is off")
	}
	return nil, w.explain(err)
}

// Sessions counts the sessions of the database.
func (w *watcher) Sessions(ctx context.Context) (active, connected int, err error) {
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	err = w.db.QueryRowContext(ctx, "SELECT COALESCE(SUM(COMMAND NOT IN ('Sleep', 'Daemon')), 0), COUNT(*) FROM "+
		"information_schema.PROCESSLIST WHERE DB = ? AND ID <> CONNECTION_ID()", w.database).Scan(&active, &connected)
	return active, max(connected-w.in.Stats().OpenConnections, 0), w.explain(err)
}

// Shape has the server prepare a statement whose values are taken out.
func (w *watcher) Shape(ctx context.Context, statement string, constants []string) (filewise.Shape, error) {
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	s, err := dialect.CustomRules.Shape(statement, w.database, func(table string) ([]string, error) {
		return dialect.Column(ctx, w.db, "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+dialect.Literal(w.database)+
			" AND TABLE_NAME = "+dialect.Literal(table)+" AND EXTRA NOT LIKE '%INVISIBLE%' ORDER BY ORDINAL_POSITION")
	})
	if err != nil {
		return s, w.explain(err)
	}
	s.Keep(constants)
	for i, v := range s.Values {
		if v.Constant == "" && v.Literal == "" && geometry.MatchString(s.Pieces[i]) {
			s.Values[i].Said = "geometry"
		}
	}
	if err := w.fold(ctx, &s); err != nil {
		return s, w.explain(err)
	}
	st, err := w.in.PrepareContext(ctx, parameters(s))
	if n, _ := dialect.Number(err); writing(n) { // the server reports it before it looks for named objects
		return s, w.explain(w.exists(ctx, s))
	}
	if err != nil {
		return s, w.explain(err)
	}
	defer st.Close()
	return s, nil
}

// parameters returns a statement with ? in place of its values. Literals stay, because only they are allowed in some
// places, such as a path behind ->>.
func parameters(s filewise.Shape) string {
	var b strings.Builder
	for i, v := range s.Values {
		b.WriteString(s.Pieces[i] + cmp.Or(v.Literal, "?"))
	}
	return b.String() + s.Pieces[len(s.Values)]
}

var geometry = regexp.MustCompile(`(?i)From(?:Text|WKB|GeoJSON) *\( *$`)

// writing reports whether an error number means that a statement was refused because it writes. Either the transaction is
// read-only (ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION), or the account lacks the right (ER_TABLEACCESS_DENIED,
// ER_COLUMNACCESS_DENIED).
func writing(n uint16) bool { return n == 1792 || n == 1142 || n == 1143 }

// Table returns facts about a table and its columns. It reads the catalogue, the ends of indexes, and a few rows from
// both ends of the table.
func (w *watcher) Table(ctx context.Context, name string, withhold func(string) bool) (filewise.TableFacts, error) {
	t, err := w.table(ctx, name)
	if err != nil {
		return t, w.explain(fmt.Errorf("table %s: %w", name, err))
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		limited, cancel := context.WithTimeout(ctx, time.Second)
		if err := w.sample(limited, t, c, withhold(c.Name)); err != nil {
			c.Low, c.High, c.Common, c.Shares, c.Distinct, c.Width = "", "", nil, nil, 0, 0 // no right, or no time
		}
		if c.Closed && len(c.Common) == 0 {
			c.Common = labels(c.Said)
		}
		cancel()
	}
	return t, nil
}

const (
	readTable = "SELECT COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0), COALESCE(TABLE_ROWS, 0), TABLE_TYPE, " +
		"COALESCE(CREATE_OPTIONS, '') FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?"
	readColumns = "SELECT COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, COALESCE(CHARACTER_MAXIMUM_LENGTH, 0) FROM information_schema.COLUMNS WHERE " +
		"TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION"
	readKeys = "SELECT INDEX_NAME, NON_UNIQUE, COLUMN_NAME, INDEX_TYPE FROM information_schema.STATISTICS WHERE " +
		"TABLE_SCHEMA = ? AND TABLE_NAME = ? AND COLUMN_NAME IS NOT NULL ORDER BY INDEX_NAME, SEQ_IN_INDEX"
	readParents = "SELECT CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM " +
		"information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND REFERENCED_TABLE_SCHEMA = " +
		"TABLE_SCHEMA AND REFERENCED_TABLE_NAME <> TABLE_NAME ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION"
)

func (w *watcher) table(ctx context.Context, name string) (filewise.TableFacts, error) {
	t := filewise.TableFacts{}
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	var kind, options string
	err := dialect.Each(ctx, w.db, func(scan dialect.Scan) error {
		t.Name, t.Table = name, name
		return scan(&t.Bytes, &t.Rows, &kind, &options)
	}, readTable, w.database, name)
	if err != nil || t.Name == "" {
		return t, err
	}
	err = dialect.Each(ctx, w.db, func(scan dialect.Scan) error {
		var c filewise.ColumnFacts
		var data string
		var most int64
		err := scan(&c.Name, &c.Said, &data, &most)
		c.Type, c.Most = kindOf(data, c.Said), int(min(most, 1<<20))
		switch {
		case c.Said == "binary(16)":
			c.Fresh = "UNHEX(REPLACE(UUID(), '-', ''))"
		case c.Type == filewise.TypeUUID:
			c.Fresh = "UUID()"
		}
		c.Closed = data == "enum" || data == "set"
		if slices.Contains(spatial, data) {
			t.Whole = "its column " + c.Name + " is spatial, which partitioned tables do not have"
		}
		t.Columns = append(t.Columns, c)
		return err
	}, readColumns, w.database, name)
	if err != nil {
		return t, err
	}
	if kind != "BASE TABLE" || strings.Contains(options, "partitioned") {
		t.Whole = "it is a view, or divided already"
	} else {
		t.Alone = filewise.KindPerTable
	}
	if err := w.checks(ctx, &t, kind); err != nil {
		return t, err
	}
	if err := errors.Join(w.keys(ctx, &t), w.parents(ctx, &t)); err != nil {
		return t, err
	}
	switch constraint, err := w.foreignKey(ctx, name); {
	case err != nil: // the other facts about the table are still useful
		t.Whole = "its foreign keys could not be read: " + w.explain(err).Error()
	case constraint != "":
		t.Whole = "it has part in the foreign key " + constraint + ", and InnoDB has none on partitions"
	}
	return t, nil
}

// foreignKey returns a foreign key of the database in which a table takes part, or "". It reads all of them once.
func (w *watcher) foreignKey(ctx context.Context, table string) (string, error) {
	if w.foreign == nil && w.unread == nil {
		all := map[string]string{}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), filewise.AskPatience)
		defer cancel()
		var keys []foreignKey
		keys, w.unread = w.foreignKeys(ctx, w.database)
		for _, k := range keys {
			for _, end := range [][2]string{k.from, k.to} {
				if end[0] == w.database {
					all[end[1]] = k.name
				}
			}
		}
		if w.unread == nil {
			w.foreign = all
		}
	}
	return w.foreign[table], w.unread
}

// checks records which columns a CHECK names. MariaDB's JSON is a text with a CHECK that it is valid.
func (w *watcher) checks(ctx context.Context, t *filewise.TableFacts, kind string) error {
	if kind != "BASE TABLE" {
		return nil
	}
	var name, create string
	err := w.db.QueryRowContext(ctx, "SHOW CREATE TABLE "+dialect.Ident(w.database)+"."+dialect.Ident(t.Table)).Scan(&name, &create)
	for line := range strings.SplitSeq(create, "\n") {
		_, check, _ := strings.Cut(line, " CHECK (")
		for i := range t.Columns {
			switch c := &t.Columns[i]; {
			case strings.HasPrefix(check, "json_valid("+dialect.Ident(c.Name)+"))"):
				c.Type = filewise.TypeJSON
			case strings.Contains(check, dialect.Ident(c.Name)):
				c.Checked = true
			}
		}
	}
	return err
}

// labels returns the labels of an ENUM or a SET, given its type.
func labels(said string) (all []string) {
	for _, m := range label.FindAllStringSubmatch(said, -1) {
		all = append(all, strings.ReplaceAll(m[1], "''", "'"))
	}
	return all
}

var label = regexp.MustCompile(`'((?:[^']|'')*)'`)

// parents records the tables that hold the values of columns with foreign keys.
func (w *watcher) parents(ctx context.Context, t *filewise.TableFacts) error {
	type single struct{ table, column string }
	of := map[string]single{}
	last := ""
	var all []filewise.ForeignKey
	err := dialect.Each(ctx, w.db, func(scan dialect.Scan) error {
		var constraint, column, parent, key string
		err := scan(&constraint, &column, &parent, &key)
		if constraint != last {
			last, all = constraint, append(all, filewise.ForeignKey{Parent: dialect.Ident(parent)})
			of[column] = single{parent, key}
		}
		f := &all[len(all)-1]
		f.Columns, f.Keys = append(f.Columns, column), append(f.Keys, dialect.Ident(key))
		return err
	}, readParents, w.database, t.Name)
	for _, f := range all {
		if len(f.Columns) > 1 {
			t.Foreign = append(t.Foreign, f)
			continue
		}
		i := slices.IndexFunc(t.Columns, func(c filewise.ColumnFacts) bool { return c.Name == f.Columns[0] })
		if i < 0 {
			continue
		}
		c := &t.Columns[i]
		c.Parent, c.ParentKey = f.Parent, f.Keys[0]
		c.ParentTable, c.ParentColumn = of[c.Name].table, of[c.Name].column
	}
	return err
}

// keys records the primary key, and what unique keys mean for new rows and for partitions.
func (w *watcher) keys(ctx context.Context, t *filewise.TableFacts) error {
	unique := map[string][]string{}
	err := dialect.Each(ctx, w.db, func(scan dialect.Scan) error {
		var index, column, kind string
		var many int
		err := scan(&index, &many, &column, &kind)
		if kind == "FULLTEXT" || kind == "SPATIAL" {
			t.Whole = "its index " + index + " is " + kind + ", which partitioned tables do not have"
		}
		if many == 0 {
			unique[index] = append(unique[index], column)
		}
		return err
	}, readKeys, w.database, t.Name)
	if primary := unique["PRIMARY"]; len(primary) > 0 {
		t.Key = primary[0]
	}
	for index, columns := range unique {
		if t.Key != "" && !slices.Contains(columns, t.Key) {
			t.Whole = "its unique key " + index + " does not contain " + t.Key
		}
		last := columns[len(columns)-1]
		for i := range t.Columns {
			if c := &t.Columns[i]; c.Name == last {
				c.Composite = len(columns) > 1 && (c.Composite || !c.Unique)
				c.Unique = true
			}
		}
	}
	return err
}

var spatial = strings.Fields("geometry point linestring polygon multipoint multilinestring multipolygon geometrycollection geomcollection")

func kindOf(data, whole string) filewise.ColumnType {
	switch {
	case whole == "char(36)":
		return filewise.TypeUUID
	case data == "bit", wholeDecimal.MatchString(whole):
		return filewise.TypeWhole
	}
	return kinds.Of(data)
}

// wholeDecimal matches the type of a decimal without fractions, as keys of commercial applications have it.
var wholeDecimal = regexp.MustCompile(`^decimal\(\d+,0\)`)

var kinds = customsql.Kinds{filewise.TypeWhole: "tinyint smallint mediumint int bigint year", filewise.TypeNumber: "decimal float double",
	filewise.TypeText: "char varchar tinytext text mediumtext longtext enum set binary varbinary tinyblob blob mediumblob longblob",
	filewise.TypeUUID: "uuid", filewise.TypeTime: "date datetime timestamp", filewise.TypeJSON: "json"}

// rawBytes matches types whose values are never read. Such values cannot be written in a study, and can be tokens.
var rawBytes = regexp.MustCompile(`binary|blob`)

// sampled is the number of rows that are read at each end of a table, and common how many of their values are reported.
const sampled, common = 5000, 50

// sample reads a column's range, lengths and frequencies. If withheld, it reads only lengths.
func (w *watcher) sample(ctx context.Context, t filewise.TableFacts, c *filewise.ColumnFacts, withheld bool) error {
	column, table := dialect.Ident(c.Name), dialect.Ident(w.database)+"."+dialect.Ident(t.Name)
	if strings.HasPrefix(c.Said, "bit(") { // as a number
		column += " + 0"
	}
	rows := fmt.Sprintf("(SELECT %s AS filewise_v FROM %s LIMIT %d) s", column, table, 2*sampled)
	if t.Key != "" {
		end := func(way string) string {
			return fmt.Sprintf("(SELECT %s AS filewise_v FROM %s ORDER BY %s %s LIMIT %d)", column, table, dialect.Ident(t.Key), way, sampled)
		}
		rows = "(" + end("ASC") + " UNION ALL " + end("DESC") + ") s"
	}
	var width sql.NullFloat64
	if c.Type == filewise.TypeText {
		if err := w.db.QueryRowContext(ctx, "SELECT AVG(CHAR_LENGTH(filewise_v)) FROM "+rows).Scan(&width); err != nil {
			return err
		}
		c.Width = width.Float64
	}
	if withheld || rawBytes.MatchString(c.Said) || c.Type == filewise.TypeJSON || c.Type == filewise.TypeUnknown || c.Width > 200 {
		return nil
	}
	var low, high sql.NullString
	if err := w.db.QueryRowContext(ctx, "SELECT MIN(filewise_v), MAX(filewise_v) FROM "+rows).Scan(&low, &high); err != nil {
		return err
	}
	c.Low, c.High = low.String, high.String
	var sum, n float64
	err := dialect.Each(ctx, w.db, func(scan dialect.Scan) error {
		var v sql.NullString
		err := scan(&v, &n, &sum)
		if v.Valid {
			c.Common, c.Shares = append(c.Common, v.String), append(c.Shares, n/max(sum, 1))
		}
		return err
	}, fmt.Sprintf("SELECT filewise_v, COUNT(*), (SELECT COUNT(*) FROM %s) FROM %s GROUP BY 1 ORDER BY 2 DESC LIMIT %d", rows, rows, common+1))
	switch {
	case len(c.Common) <= common:
		c.Distinct = float64(len(c.Common))
	case n*20 >= sum/common: // all values are about equally frequent
		c.Common, c.Shares = c.Common[:common], c.Shares[:common]
	}
	return err
}
