package apply

import (
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/postgres/dialect"
)

// leaf is a table that holds rows: a partition, or a whole table without partitions.
type leaf struct {
	name, space, index string // space holds the rows, index the indexes
	keep               bool   // each index keeps its tablespace
}

// shape lists a table's leaves. A table in one piece has a single leaf of its own name.
type shape []leaf

func (s shape) partitioned(t table) bool { return s[0].name != t.Name }

// whole returns the shape of a table without partitions.
func whole(t table) shape { return shape{{name: t.Name, space: t.space, keep: true}} }

// rebuild holds the transaction that takes a table from one shape to another. The old table is kept in a schema of its
// own.
type rebuild struct {
	table
	from, to shape
	held     string // the schema that keeps the old table
	sql      []string
}

func (r *rebuild) add(format string, args ...any) {
	r.sql = append(r.sql, fmt.Sprintf(format, args...))
}

// do adds a section's SQL to the transaction, as an anonymous block.
func (r *rebuild) do(section string, vars map[string]any) error {
	sql, err := block(section, vars)
	r.sql = append(r.sql, sql)
	return err
}

// block returns a section's SQL as an anonymous block.
func block(section string, vars map[string]any) (string, error) {
	body, err := postgresText.Statement(section, vars)
	return "DO " + strings.TrimSpace(dialect.Literal(body)), err
}

// guard returns the block that fails unless the table is as it was read. It expects search_path = pg_catalog: names come
// in full then.
func (t table) guard() (string, error) {
	print, err := postgresText.Statement("fingerprint", map[string]any{"OID": "to_regclass(" + dialect.Literal(in(t.Schema, t.Name)) + ")"})
	if err != nil {
		return "", err
	}
	return block("unchanged", map[string]any{"Fingerprint": print, "Was": t.fingerprint, "Table": t.String()})
}

func (r *rebuild) statements() ([]string, error) {
	name, held := in(r.Schema, r.Name), in(r.held, r.Name)
	r.add("BEGIN")
	r.add("SET LOCAL lock_timeout = '10s'")
	r.add("SET LOCAL statement_timeout = 0")
	r.add("LOCK TABLE %s IN ACCESS EXCLUSIVE MODE", name)
	r.add("SET LOCAL search_path = pg_catalog")
	guard, err := r.guard()
	if err != nil {
		return nil, err
	}
	r.sql = append(r.sql, guard)
	r.add("CREATE SCHEMA %s", dialect.Ident(r.held))
	r.add("COMMENT ON SCHEMA %s IS %s", dialect.Ident(r.held), dialect.Literal(filewise.Aside+": the table as it was, until all is well"))
	r.sql = append(r.sql, r.parts["before"]...)
	r.add("ALTER TABLE %s SET SCHEMA %s", name, dialect.Ident(r.held))
	if r.from.partitioned(r.table) {
		for _, l := range r.from {
			r.add("ALTER TABLE %s SET SCHEMA %s", in(r.Schema, l.name), dialect.Ident(r.held))
		}
	}
	r.create(name, held)
	overriding := ""
	if r.identity {
		overriding = "OVERRIDING SYSTEM VALUE "
	}
	columns := strings.Join(r.columns, ", ")
	r.add("INSERT INTO %s (%s) %sSELECT %s FROM %s", name, columns, overriding, columns, held)
	r.index(name)
	for _, column := range r.parts["identity"] {
		of := func(table string) string {
			return "pg_get_serial_sequence(" + dialect.Literal(table) + ", " + dialect.Literal(column) + ")"
		}
		// LIKE makes a sequence of type bigint with the limits of the old one.
		r.add("DO %s", dialect.Literal("BEGIN EXECUTE format('ALTER SEQUENCE %s AS %s', "+of(name)+", (SELECT seqtypid::regtype FROM "+
			"pg_sequence WHERE seqrelid = "+of(held)+"::regclass)); END"))
		r.add("SELECT setval(%s, pg_sequence_last_value(%s))", of(name), of(held)) // NULL, which leaves it unused, if it was never used
	}
	for _, what := range r.parts["rights"] {
		for _, l := range r.to {
			r.sql = append(r.sql, strings.Replace(what, "%s", in(r.Schema, l.name), 1))
		}
		if r.to.partitioned(r.table) {
			r.sql = append(r.sql, strings.Replace(what, "%s", name, 1))
		}
	}
	r.sql = append(r.sql, r.parts["after"]...)
	for _, what := range r.parts["default"] {
		r.add("ALTER TABLE %s %s", held, what) // otherwise the sequences would belong to both tables
	}
	if err := r.do("moved", map[string]any{"Held": held, "Table": name}); err != nil {
		return nil, err
	}
	r.add("COMMIT")
	return r.sql, nil
}

// in sets the tablespace in which the statements that follow make tables and indexes.
func (r *rebuild) in(space string) {
	r.add("SET LOCAL default_tablespace = %s", dialect.Literal(space))
}

// create makes the table in its new shape, without indexes.
func (r *rebuild) create(name, held string) {
	like, with, owner := "(LIKE "+held+" INCLUDING ALL EXCLUDING INDEXES EXCLUDING STATISTICS)", "", dialect.Ident(r.owner)
	if r.options != "" {
		with = " WITH (" + r.options + ")"
	}
	if !r.to.partitioned(r.table) {
		r.in(r.to[0].space)
		r.add("CREATE TABLE %s %s%s", name, like, with)
		r.add("ALTER TABLE %s OWNER TO %s", name, owner)
		return
	}
	r.in("")
	r.add("CREATE TABLE %s %s PARTITION BY HASH (%s)", name, like, dialect.Ident(r.key))
	r.add("ALTER TABLE %s OWNER TO %s", name, owner)
	for i, l := range r.to {
		r.in(l.space)
		r.add("CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d)%s", in(r.Schema, l.name), name, len(r.to), i, with)
		r.add("ALTER TABLE %s OWNER TO %s", in(r.Schema, l.name), owner)
	}
}

// index makes the indexes: first each partition's in its tablespace, then the whole table's, which takes them over.
func (r *rebuild) index(name string) {
	make := func(table, as string, x index) {
		switch {
		case x.constraint != "" && as == "":
			r.add("ALTER TABLE %s ADD %s", table, x.constraint)
		case x.constraint != "":
			r.add("ALTER TABLE %s ADD CONSTRAINT %s %s", table, as, x.constraint)
		case x.unique:
			r.add("CREATE UNIQUE INDEX %s ON %s %s", as, table, x.on)
		default:
			r.add("CREATE INDEX %s ON %s %s", as, table, x.on)
		}
	}
	for _, x := range r.indexes {
		space := x.space
		if r.to.partitioned(r.table) {
			space = ""
			for _, l := range r.to {
				if l.keep {
					l.index = x.space
				}
				r.in(l.index)
				make(in(r.Schema, l.name), "", x)
			}
		}
		r.in(space)
		make(name, x.name, x)
	}
}
